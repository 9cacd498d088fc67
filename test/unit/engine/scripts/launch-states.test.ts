import { sh } from '../../../../src/engine/scripts/scripts.generated.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { bootSession } from './mac-root.ts';
import { aged, at, empty, gone, tableOf } from './node-states.ts';

const folder = 'ops/k1';
const paths = { folder: nodePath(`/${folder}`), published: nodePath('/published'), staged: nodePath('/staged') };
const values = { digest: 'd', about: 'name=x', secret: '', peer_key: 'k', peer_account: 'mesh', first_rate: 800 };
const noSsh = { ssh_key: '', ssh_hosts: '', ssh_peers: '', granted_key: '', peer_port: '', tenths: 600 };
const launch = ({ peers = false, hours = '' } = {}): string =>
  sh.launchJob({
    ...{ ...paths, verified: nodePath('/verified'), ...values, ...noSsh, hours, least_rate: 100 },
    peers: peers ? nodePath('/peers') : '',
    run: 'printf \'0\\n\' >"${0%/run}/rc"\n',
  });
const withPeers = launch({ peers: true });
const inJob = (name: string, text: string) => at(`${folder}/${name}`, text);
const noFile = (...names: readonly string[]) => gone(...names.map((name) => `${folder}/${name}`));
const job = { ...inJob('pid', '4711\n'), ...inJob('job', 'old') };
const runs = at('bin/ps', "printf '/bin/sh /x/k1/run\\n'");
const [attached, done, started] = ['job=attached unchanged', 'job=done unchanged', 'job=started changed'];
const isNew = { ...inJob('job', `name=x\nboot=${bootSession}\n`), ...inJob('rc', '0\n') };
const verified = at('verified', 'd flushed\n');
const sealOf = (files: number, age: number) => aged('published/.meshwright-seal', `digest=d\nfiles=${files}\n`, age);

const launched = tableOf('the launch of a job');
launched('starts it', launch()).in(empty('ops/')).ends(started, isNew, noFile('hours'), gone('peers/key'));
launched('leaves a job that runs, and writes its hours', launch({ hours: '22:00 06:00' }))
  .in(job, runs)
  .ends(attached, job, inJob('hours', '22:00 06:00\n'));
launched('removes the hours of a job that runs', launch())
  .in(job, inJob('hours', 'x\n'), runs)
  .ends(attached, noFile('hours'));
launched('starts a job again that has a result', launch())
  .in(job, inJob('rc', '1\n'), inJob('failure', 'x\n'), inJob('note', 'x\n'), runs)
  .ends(started, isNew, noFile('failure', 'note'));
launched('starts a job again that has died', launch()).in(job, at('bin/ps', 'exit 1')).ends(started, isNew);
launched('does not start what is verified', launch()).in(empty('staged/a'), verified).ends(done, noFile(''));
launched('starts for a tree that is not verified', launch()).in(empty('staged/a')).ends(started);
launched('starts for another digest', launch()).in(empty('staged/a'), at('verified', 'e flushed\n')).ends(started);
launched('starts for a tree that is gone', launch()).in(verified).ends(started);
launched('does not start what is published', launch()).in(empty('published/a'), sealOf(1, -60)).ends(done);
launched('starts for a published tree that has changed', launch()).in(empty('published/a'), sealOf(2, 0)).ends(started);
launched('gives the key of an exchange to its account', withPeers)
  .in(empty('ops/'))
  .ends(started, noFile('rate'), at('peers/key', 'k\n'), gone('peers/ssh-key'));

const rates = tableOf('the rate of an exchange');
const exchanging = (text: string) => inJob('exchanging', text);
const rate = (bytes: number) =>
  [`cable_rate=${bytes} ${started}`, inJob('rate', `${bytes}\n`), noFile('exchanging')] as const;
const noRate = [started, noFile('rate', 'exchanging')] as const;
rates('is lowered after a restart', withPeers)
  .in(exchanging('0 x\n'))
  .ends(...rate(800));
rates('is halved after a further restart', withPeers)
  .in(exchanging('600 x\n'))
  .ends(...rate(300));
rates('has a lowest value', withPeers)
  .in(exchanging('150 x\n'))
  .ends(...rate(100));
rates('stays in the same boot session', withPeers)
  .in(exchanging(`600 ${bootSession}\n`))
  .ends(...rate(600));
rates('is not set in the same boot session', withPeers)
  .in(exchanging(`0 ${bootSession}\n`))
  .ends(...noRate);
rates('is not set after an orderly shutdown', withPeers)
  .in(exchanging('0 stopped\n'))
  .ends(...noRate);
rates('is not set after a result', withPeers)
  .in(exchanging('0 x\n'), inJob('rc', '0\n'))
  .ends(...noRate);
rates('starts from the first one if the last one is no number', withPeers)
  .in(exchanging('6x x\n'))
  .ends(...rate(800));
rates('is not set without an exchange', launch())
  .in(exchanging('600 x\n'))
  .ends(...noRate);

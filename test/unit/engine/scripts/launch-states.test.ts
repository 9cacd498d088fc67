import { sh } from '../../../../src/engine/scripts/scripts.generated.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { bootSession } from './mac-root.ts';
import { itInEachState, type NodeState } from './node-states.ts';

const folder = 'ops/k1';
const launch = ({ peers = false, hours = '' } = {}): string =>
  sh.launchJob({
    ...{ folder: nodePath(`/${folder}`), published: nodePath('/published'), staged: nodePath('/staged') },
    ...{
      verified: nodePath('/verified'),
      digest: 'd',
      about: 'name=x',
      run: 'printf \'0\\n\' >"${0%/run}/rc"\n',
      secret: '',
    },
    ...{
      peers: peers ? nodePath('/peers') : '',
      peer_key: 'k',
      peer_account: 'mesh',
      hours,
      first_rate: 800,
      least_rate: 100,
    },
    ...{ ssh_key: '', ssh_hosts: '', ssh_peers: '', granted_key: '', peer_port: '', tenths: 600 },
  });
const job = { [`${folder}/pid`]: '4711\n', [`${folder}/job`]: 'old' };
const runs = { 'bin/ps': "printf '/bin/sh /x/k1/run\\n'" };
const [attached, done, started] = ['attached unchanged', 'done unchanged', 'started changed'].map(
  (one) => `job=${one}`,
) as [string, string, string];
const isNew = { [`${folder}/job`]: `name=x\nboot=${bootSession}\n`, [`${folder}/rc`]: '0\n' };
const staged = { 'staged/a': '', verified: 'd flushed\n' };
const exchanging = (text: string, more: NodeState['files'] = {}): NodeState => ({
  files: { [`${folder}/exchanging`]: text, ...more },
});
const withPeers = launch({ peers: true });
const rate = (bytes: number) => ({
  ends: `cable_rate=${bytes} ${started}`,
  leaves: { [`${folder}/rate`]: `${bytes}\n`, [`${folder}/exchanging`]: null },
});
const noRate = { ends: started, leaves: { [`${folder}/rate`]: null, [`${folder}/exchanging`]: null } };

itInEachState('the launch of a job', [
  [
    'starts it',
    launch(),
    { files: { 'ops/': '' } },
    { ends: started, leaves: { ...isNew, [`${folder}/hours`]: null, 'peers/key': null } },
  ],
  [
    'leaves a job that runs, and writes its hours',
    launch({ hours: '22:00 06:00' }),
    { files: job, tools: runs },
    { ends: attached, leaves: { ...job, [`${folder}/hours`]: '22:00 06:00\n' } },
  ],
  [
    'removes the hours of a job that runs',
    launch(),
    { files: { ...job, [`${folder}/hours`]: 'x\n' }, tools: runs },
    { ends: attached, leaves: { [`${folder}/hours`]: null } },
  ],
  [
    'starts a job again that has a result',
    launch(),
    {
      files: { ...job, [`${folder}/rc`]: '1\n', [`${folder}/failure`]: 'x\n', [`${folder}/note`]: 'x\n' },
      tools: runs,
    },
    { ends: started, leaves: { ...isNew, [`${folder}/failure`]: null, [`${folder}/note`]: null } },
  ],
  [
    'starts a job again that has died',
    launch(),
    { files: job, tools: { 'bin/ps': 'exit 1' } },
    { ends: started, leaves: isNew },
  ],
  ['does not start what is verified', launch(), { files: staged }, { ends: done, leaves: { [`${folder}/`]: null } }],
  ['starts for a tree that is not verified', launch(), { files: { 'staged/a': '' } }, { ends: started }],
  ['starts for another digest', launch(), { files: { ...staged, verified: 'e flushed\n' } }, { ends: started }],
  ['starts for a tree that is gone', launch(), { files: { verified: 'd flushed\n' } }, { ends: started }],
  [
    'does not start what is published',
    launch(),
    {
      files: { 'published/a': '', 'published/.meshwright-seal': 'digest=d\nfiles=1\n' },
      ages: { 'published/.meshwright-seal': -60 },
    },
    { ends: done },
  ],
  [
    'starts for a published tree that has changed',
    launch(),
    { files: { 'published/a': '', 'published/.meshwright-seal': 'digest=d\nfiles=2\n' } },
    { ends: started },
  ],
  [
    'gives the key of an exchange to its account',
    withPeers,
    { files: { 'ops/': '' } },
    { ...noRate, leaves: { 'peers/key': 'k\n', 'peers/ssh-key': null } },
  ],
  ['lowers the rate after a restart during an exchange', withPeers, exchanging('0 x\n'), rate(800)],
  ['halves the rate after a further restart', withPeers, exchanging('600 x\n'), rate(300)],
  ['does not go below the lowest rate', withPeers, exchanging('150 x\n'), rate(100)],
  ['keeps the rate in the same boot session', withPeers, exchanging(`600 ${bootSession}\n`), rate(600)],
  ['sets no rate in the same boot session', withPeers, exchanging(`0 ${bootSession}\n`), noRate],
  ['sets no rate after an orderly shutdown', withPeers, exchanging('0 stopped\n'), noRate],
  ['sets no rate after an exchange with a result', withPeers, exchanging('0 x\n', { [`${folder}/rc`]: '0\n' }), noRate],
  ['starts from the first rate if the last one is none', withPeers, exchanging('6x x\n'), rate(800)],
  ['sets no rate without an exchange', launch(), exchanging('600 x\n'), noRate],
]);

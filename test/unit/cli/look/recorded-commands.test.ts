import { beforeAll, describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { exampleText } from '../../../cli/place.ts';
import { skipSleeps } from '../../../fake-clock.ts';
import { recordedMacs } from '../recorded-macs.ts';

const file = exampleText
  .replace('  user: mesh', '  user: mesh\n  password: { env: MAC_PASSWORD }')
  .replace('host: studio-2.lan,', 'host: studio-2.lan, password: { prompt: true },')
  .replace('[studio-1, studio-2, studio-3, studio-4]', '[studio-1, studio-2]');
const lock = {
  ...emptyLock('the simulated cluster.lock'),
  nodes: ['studio-1', 'studio-2'],
  runtimes: { reference: { sha256: digestOf('archive'), sizeBytes: 7 } },
  models: { tiny: { source: './models/tiny', files: [{ path: 'config.json', sha256: digestOf('{}'), sizeBytes: 9 }] } },
};

/** Lines of a record, given with `;` between them. */
const lines = (text: string): string => `${text.replaceAll(/;\s*/g, '\n')}\n`;
const rank = (at: number, more = 'end'): string =>
  lines(`listening 0;|8080;|29512;placement chat;|placement=chat;|digest=${'ab'.repeat(32)};|generation=12;|rank=${at};
    |size=2;|port=29512;|endpointPort=8080;|tokenPath=/v1/chat/completions;|tokenDeadlineMs=4000;|starts=2;
    |tokenPointer=/choices/0/message/content;${more}`);
const tree = (name: string, hex: string, more = ''): string =>
  `tree ${name}/${hex.repeat(8)};${more}|digest=${hex.repeat(32)};|files=2;`;
/** Two versions of the runtime; the version in use has changed. */
const versions = tree('runtimes/reference', 'ab', '|current=yes;') + tree('runtimes/reference', 'cd');
const counts = 'counts 0;|runtimes/reference/abababababababab 3 0;|runtimes/reference/cdcdcdcdcdcdcdcd 2 0;';
const answer = Buffer.from('{"choices":[{"message":{"content":"Hi"}}]}').toString('base64');
const log = lines('loading;OSError: [Errno 48] Address already in use');
const piece = (text: string, more = '') => `data: {"choices":[{"delta":{"content":"${text}"}}]${more}}\n\n`;
const stream = `${piece('a')}${piece('b', ',"usage":{"completion_tokens":7,"prompt_tokens":40}')}data: [DONE]\n\n200 0.5`;
const service = lines('service dev.meshwright.rank.chat 0;|x = {;|\tstate = running;|\tpid = 9;|};end');

const usual = `macos-version/macos-27 hardware/m3ultra-512 disk-space/m3ultra-8tb sudo/allowed rdma-state/m3ultra-enabled
  rdma-switch/m3ultra-on bridge-preferences/m3ultra-bridge-deleted hardware-ports/m3ultra-no-bridge
  interfaces/m3ultra-en7-own-address routes/m3ultra-default-via-peer power/studio foreign-daemons/none
  accounts/person-and-ours automatic-updates/off names/fresh-mac firewall/off screen-sharing/off search-path/of-macos
  time-machine/off remote-login/on login/an-administrator panic-reports/none spotlight/off photos-analysis/off
  automatic-login/no-user software-updates/none-available rdma-objects/nothing-held thunderbolt/m3ultra-pair-a`;
const cases = usual.split(/\s+/);

const macs = recordedMacs(file, lock, {
  'studio-1': {
    cases: [...cases, 'filevault/macbook-on', 'identity/macbook-air-m2'],
    printed: {
      'kept-records': lines(`lease;|run=20261120T080000Z-1a2b3c;|token=12;|owner=ana@desk.lan;|verb=apply;|heartbeat=41;
        |phase=studio-2/power/set;|since=2026-11-20T08:00:00.123Z;end`),
      'kept-files': lines(`${versions}${tree('models/tiny', 'ab')}${counts}|models/tiny/abababababababab 2 0;end`),
      'placement-members': rank(0, `token chat 0 200;|${answer};end`),
      'launchd-services': service,
    },
    answers: {
      'tail" -n 1000':
        lines(`at=1790000000 run=20260921T140000-abc token=3 step=a verb=apply by=ana config=x result=changed;
        at=1790003600 run=20260921T150000-def token=4 step=b verb=stop by=ben%40desk config=x result=failed`),
      '@taken': '@taken 3 B0\n',
      '@released': '@released\n',
      '@renewed': '@renewed\n',
      'exit 66': log,
      '@log %s none': '@log chat none\n',
      'print system/dev.meshwright.rank.chat': `@last exit code = 1\n@log\n${log}`,
      time_total: stream,
      'data-binary': `${JSON.stringify({ choices: [{ message: { content: 'Hello, Ana' } }] })}\n200`,
      powermetrics: 'Combined Power (CPU + GPU + ANE): 18378 mW\n',
      uptime: { stdout: 'up 3 days\n', stderr: 'odd\n', code: 2 },
      'v=changed': '@changed\n',
      '-s </dev/null': '',
    },
  },
  'studio-2': {
    cases: [...cases, 'filevault/off'],
    printed: {
      'kept-records': 'end\n',
      'kept-files': lines(`${versions}${counts}end`),
      'placement-members': rank(1),
      'launchd-services': service,
    },
    answers: {
      powermetrics: { stderr: 'sudo: a password is required\n', code: 1 },
      '@taken': '@taken 3 B0\n',
      '@released': '@released\n',
      '@renewed': '@renewed\n',
      'tail" -n 1000': '',
      'print system/dev.meshwright.rank.chat': '@log\n',
      'exit 66': { code: 66 },
      '@log %s none': { code: 1 },
      uptime: 'up 4 days\n',
      // A script that ends without its result.
      'v=changed': '',
      '-s </dev/null': { stderr: 'sudo: a password is required\n', code: 1 },
    },
  },
  'studio-3': 'off',
  'studio-4': 'locked',
});

const other = `
  key: { model: tiny, runtime: reference, nodes: [studio-4, studio-3], sharding: tensor, transport: tcp, context: 8k,
    endpoint: { port: 8090, listen: lan, servedName: big, apiKey: { file: ~/key } } }
  open: { model: tiny, runtime: reference, nodes: [studio-3], transport: tcp, context: 32k,
    fallback: { nodes: [studio-2], context: 4k },
    endpoint: { port: 8091, listen: lan, access: anybody } }
`;

const playbook = `playbook: 1
about: Two steps.
plays:
  - nodes: targets
    tasks:
      - run: { command: [uptime], effect: none }
      - verify: {}
`;

describe('the output about recorded Macs', () => {
  beforeAll(() => void macs.place.write('own.yaml', playbook));
  it.each([
    ['status', 'status --json; status studio-2 --json; doctor --json; cables --json; drift --json'],
    [
      'leases',
      `lease status; lease status --json; lease release studio-1 studio-2 studio-3 --run other;
      lease release studio-1 studio-2 studio-3 --run other --yes; lease release --run x --yes; lease release studio-2;
      lease release studio-1 --run 20261120T080000Z-1a2b3c --yes --json; lease release studio-1 --yes`,
    ],
    [
      'history',
      `history --json; history --last 1 --json; history 20260921T140000-abc; history studio-2;
      history 20260101T000000-abcde`,
    ],
    [
      'models',
      `models verify --full --json; models verify --full; models list nope; rollback; rollback refrence;
      rollback reference --to xyz; rollback reference --to cd --undo; rollback reference --to abab --json;
      rollback reference --json; models prune; models prune tiny gone; models prune --all tiny; models verify tiny;
      models pull; models pull tny; models pull tiny --all; models pull tiny --nodes studio-3; models pull --all -l a=b;
      models pull --all --nodes studio-3; models pull tiny --detach; models pull tiny; models lock tny; models lock`,
    ],
    [
      'ranks',
      `bench --runs 2 --requests 1 --json; bench chat --requests 0,1;
      bench chat --seconds 1; bench chat --cables; bench chat other; bench chut; logs --lines 3; logs studio-1 --json;
      logs studio-3; ask chat hi; ask chat hi --json; hold studio-1 --reason service --yes --json;
      unlock studio-4 --json; exec studio-1 --sim -- uptime`,
    ],
    [
      'plans',
      `plan; plan --json; models list --json; models list; models prune --all; models lock; graph --format dot;
      forget studio-9; launch chat; drain chat; validate --json; facts studio-2; status --sim -- x`,
    ],
    ['stop', 'stop chat; stop chat --yes --json; shutdown studio-1 --yes --json'],
    ['restart', 'restart chat --yes --json; reboot studio-1 --yes --json'],
    ['removal', 'uninstall studio-1 --yes --json; models prune --all --yes --json'],
    ['apply', 'start chat --yes; apply --yes --json'],
    [
      'access',
      `enroll studio-1 studio-2 studio-3 studio-4; enroll studio-1 --json; enroll studio-1 --user x;
      enroll --all --expect x; enroll studio-2 --expect SHA256:x; enroll no/host; enroll 127.0.0.1:1; replace;
      replace studio-1; unlock --all; unlock studio-1 studio-4 --expect x; forget; forget studio-2 studio-1;
      graph --declared --json; graph --json --format svg; graph --out rack.txt; graph --format png;
      graph --declared --out rack.gv; sim hands nope; sim hands plug; sim fault; sim fault power-cut;
      sim fault --list x; sim example x --runtime vllm; sim example x --runtime mlx`,
    ],
    [
      'usage',
      `stop; stop --all chat; stop studio-3; stop chut; start chat --fallback; start --all --fallback; drain --all;
      hold studio-1 --until 2020-01-01; hold studio-1 --until 2026-06-31; hold studio-1 --reason ${'x'.repeat(201)};
      reboot; reboot --all studio-1; exec; exec studio-1 uptime; launch --nodes studio-1,studio-2;
      launch chat -l a=b -- x; launch --sim -- x; run; run stop; launch chat --as WHEEL -- x; launch chat --as a/b -- x;
      launch --nodes studio-9 -- x; run gone.yaml; ask; ask chat; ask studio-1 hi; cables --watch --measure;
      cables --seconds 2; cables --measure --seconds 61; cables --measure --seconds 0.09; cables --identify --json;
      logs --lines 0; history a b; history --last 0; bench chat --runs 0; lease release; apply --allow reboot;
      apply gone.json; plan --verify some; status studio-9; shutdown -l a; plan --json sutdio-1;
      enroll --card --expect SHA256:x; enroll --card studio-9`,
    ],
    [
      'runs',
      `run own.yaml studio-1 --yes --json; run own.yaml studio-2 --json; run own.yaml -l role=worker --json;
      run own.yaml; models pull tiny --yes --json; stop --all --json; release studio-1 --yes --json;
      unlock --all --json; logs chat studio-2 --json; rollback reference --undo --yes --json`,
    ],
  ])('is as recorded: %s', (name, commands) =>
    macs.expectPage(
      name,
      commands.split(/;\s+/).map((words) => (words.includes(' -- ') ? words : `${words} --sim`)),
      { MESHWRIGHT_SIM_SCALE: '0.001' },
    ),
  );

  it('includes the password sources', async () => {
    const named = { MESHWRIGHT_TRUST: 'env=MAC_PASSWORD' };
    await macs.expectPage('secrets', ['secrets --sim --json'], named);
    await macs.expectPage('secrets-found', ['secrets --sim --json', 'secrets --sim studio-2'], {
      ...named,
      MAC_PASSWORD: 'x',
    });
    await macs.expectPage('secrets-simulated', ['secrets --sim --json', 'secrets --sim studio-2']);
  });

  it('includes the client settings', async () => {
    macs.place.write('other.yaml', file + other);
    await macs.expectPage('endpoints', ['endpoints -f other.yaml --json', 'endpoints -f other.yaml key']);
  });

  it.each([
    ['logs studio-1 --follow', [1_000]],
    ['logs studio-2 --follow', [3_000]],
    ['cables --identify', [50, 100, 500]],
    ['cables --watch', [50, 100, 500]],
  ])('is updated after pauses until the command is interrupted: %s', async (words, pausesMs) => {
    let left = 3;
    const sleptMs = skipSleeps((ms) => {
      if (ms !== pausesMs.at(-1)) return;
      left -= 1;
      if (left === 0) process.emit('SIGHUP');
    });
    await macs.expectPage(words.replaceAll(/ -*/g, '-'), [`${words} --sim`]);
    expect([...new Set(sleptMs)].sort((one, two) => one - two)).toEqual(pausesMs);
  });
});

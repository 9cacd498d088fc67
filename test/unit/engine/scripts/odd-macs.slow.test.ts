import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import { keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import {
  currentLink,
  gatewayLog,
  gatewayPlist,
  placementFolder,
  rankLog,
} from '../../../../src/node/paths/own-paths.ts';
import { mutatingScript } from '../../../../src/node/root-script.ts';
import { restartBody } from '../../../../src/rack/boot/restart-script.ts';
import { bootSession, ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { everyText, exampleFence, inScript } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';
import { answer, left, type OddMac, wholeMac } from './whole-mac.ts';

const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);
const newMac = removedAfter((script: string, odd: OddMac) => {
  const mac = wholeMac(shell, script, odd);
  return { ...mac.root, mac };
});

const placement = placementFolder('kimi').path;
const restart = restartBody({ intent: 'reboot-1', from: bootSession, to: 'up', delaySeconds: 0 });
const settling = (folder: string): string =>
  mutatingScript({
    rootPrefix: folder,
    fence: exampleFence,
    note: { step: 'studio-1/transaction/settle', verb: 'apply', by: 'ana@desk', config: 'cafe' },
    isSettling: true,
    body: scriptBody({ name: 'settle-transaction', args: { run: "r-0's" } }),
  });

/** The text of a script for the root of a Mac. */
function textOf(script: string, folder: string): string {
  if (script === 'restart') return inScript(restart, folder);
  if (script === 'settle-transaction') return settling(folder);
  const texts = new Map(everyText(folder));
  return texts.get(`script ${script}`) ?? texts.get(script) ?? '';
}

/** The result of a run, the number of its sleeps, and the paths that it creates, changes and removes. */
async function runOn(script: string, odd: OddMac): Promise<readonly [string, number, readonly string[]]> {
  const { mac } = newMac(script, odd);
  const was = mac.root.tree();
  const run = await mac.run(textOf(script, mac.root.folder));
  const paths = left(was, mac.root.tree()).map((line) => line.replace(/ 1?[0-7]{5}(?: .*)?$/s, ''));
  const said = answer(run).replaceAll(`${mac.root.folder}/`, '').replaceAll(ours, 'OURS');
  return [
    said,
    run.calls.filter((call) => call.startsWith('sleep ')).length,
    [...new Set(paths)]
      .map((line) => line.replace(ours, 'OURS'))
      .filter((line) => !/\/tmp\/|OURS\/(?:lease|history)/.test(line)),
  ];
}

describe('a script on a Mac in an unexpected state', () => {
  it.each<readonly [string, string, OddMac, string]>([
    [
      'load-keeper',
      'without its file',
      { without: [keeperPlist.path] },
      `no-keeper: there is no ${keeperPlist.path.slice(1)}`,
    ],
    [
      'load-gateway',
      'without its file',
      { without: [gatewayPlist(8080).path] },
      `no-gateway: there is no ${gatewayPlist(8080).path.slice(1)}`,
    ],
    [
      'order-services',
      'without services',
      { tools: { 'usr/sbin/networksetup': ':' } },
      'networksetup: networksetup lists no service',
    ],
    [
      'load-keeper',
      'when launchd reports no service state',
      { tools: { 'bin/launchctl': "printf 'system/x = {\\n}\\n'" } },
      'launchctl: launchctl shows no state of the service',
    ],
    [
      'switch-runtime',
      'with a folder in place of a link',
      { folders: [currentLink('reference').path] },
      'odd-link: current is not a link',
    ],
    [
      'take a lease',
      'with a fence that is not a number',
      { without: [`${ours}/lease`], files: { [`${ours}/fence`]: 'x\n' } },
      'odd-fence: the fence is not a number: x',
    ],
    [
      'restart',
      'with a file in place of a folder',
      { files: { [`${ours}/ops`]: '' } },
      'no-mark: the mark could not be made',
    ],
    [
      'restart',
      'with a file in place of its mark',
      { files: { [`${ours}/ops/reboot-1/once`]: '' } },
      'no-mark: the mark could not be made',
    ],
    [
      'load-gateway',
      'with a folder as log',
      { folders: [gatewayLog(8080).path] },
      'write: the log could not be created',
    ],
    [
      'bootstrap-rank',
      'with a folder as log',
      { without: [rankLog('kimi').path], folders: [rankLog('kimi').path] },
      'write: the log could not be created',
    ],
    [
      'stop-daemon',
      'with a dangling link',
      { folders: [`${ours}/foreign`], links: { [`${ours}/foreign/io.exo.networksetup`]: '/nowhere/x' } },
      'write: cannot store the previous state of the daemon',
    ],
    [
      'keep-golden',
      'without a record',
      { without: [`${placement}/record`] },
      'no-record: the rank has no record: it was not prepared',
    ],
    [
      'kick-rank',
      'without a record',
      { without: [`${placement}/record`] },
      'no-record: the rank has no record: it was not prepared',
    ],
    [
      'withdraw-node',
      'when the written keys differ',
      { tools: { 'bin/cat': 'printf x' } },
      'write: the keys of the account could not be written',
    ],
    ['restart', 'when its mark exists', { folders: [`${ours}/ops/reboot-1/once`] }, 'unchanged'],
  ])('gives the expected result for %s %s', async (script, _, odd, said) => {
    expect((await runOn(script, odd)).slice(0, 2)).toEqual([said, 0]);
  });
});

const changesFolder = `${ours}/transaction`;
const about = (run: string, step = "studio-1/it's", boot = bootSession): string =>
  `run=${run}\ntoken=7\nstep=${step}\nboot=${boot}\npid=99\nwords=run=${run}\n`;
/** The files of a network change in one of its states. */
const change = (
  state: string,
  run: string,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({
  [`${changesFolder}/${state}/about`]: about(run),
  [`${changesFolder}/${state}/restore`]: '[ ! -e "$R/../s/stuck" ]',
  ...Object.fromEntries(Object.entries(more).map(([name, text]) => [`${changesFolder}/${state}/${name}`, text])),
});
/** A process that ps shows this many times. */
const alive = (looks: number): Readonly<Record<string, string>> => ({
  'bin/ps': `n=$(/bin/cat "$s/looks" 2>/dev/null || printf 0)
[ "$n" -lt ${looks} ] || exit 1
printf '%s' "$((n + 1))" >"$s/looks"
printf 'sh -s\\n'`,
});
const moved = (from: string, to: string, names: readonly string[]): readonly string[] => [
  ...['/', ...names].map((name) => `- OURS/transaction/${from}${name === '/' ? name : `/${name}`}`),
  ...['/', ...names].map((name) => `+ OURS/transaction/${to}${name === '/' ? name : `/${name}`}`),
];
const parts = ['about', 'restore'];

describe('the confirmation of a network change', () => {
  it.each<readonly [string, OddMac, string, number, readonly string[]]>([
    ['does nothing for a confirmed change', { files: change('confirmed', 'r-1') }, 'unchanged', 0, []],
    ['fails if the node knows no such change', {}, 'no-transaction: the node knows of no such change', 0, []],
    ["fails for another run's change", { files: change('pending', 'r-2') }, 'transaction-pending', 0, []],
    [
      'fails if the change was rolled back',
      { files: change('rolled', 'r-1') },
      'rolled-back: the change was not confirmed in time, so the node restored its network',
      0,
      [],
    ],
    [
      'confirms a change whose script has finished',
      { files: change('pending', 'r-1', { verdict: '0' }) },
      'changed',
      0,
      moved('pending', 'confirmed', [...parts, 'verdict']),
    ],
    [
      'rolls back a change whose script was cut off',
      { files: change('pending', 'r-1') },
      'rolled-back: the change was not confirmed in time, so the node restored its network',
      0,
      [...moved('pending', 'rolled', parts), '+ OURS/transaction/rolled/pid'],
    ],
    [
      'waits for the script, then rolls back its unfinished change',
      { files: change('pending', 'r-1'), tools: alive(3) },
      'rolled-back: the change was not confirmed in time, so the node restored its network',
      3,
      [...moved('pending', 'rolled', parts), '+ OURS/transaction/rolled/pid'],
    ],
    [
      'fails while the rollback is still running',
      { files: change('rolling', 'r-1'), tools: alive(2) },
      'rolling-back: the node is still restoring its network',
      2,
      [],
    ],
  ])('%s', async (_, odd, said, sleeps, leaves) => {
    const [seen, waited, paths] = await runOn('confirmation of a change', odd);
    expect([seen.startsWith(said), waited, [...paths].sort()]).toEqual([true, sleeps, [...leaves].sort()]);
  });
});

describe('settling an abandoned network change', () => {
  const run = "r-0's";
  const rolled = (from: string): readonly string[] => [
    ...moved(from, 'rolled', parts),
    '+ OURS/transaction/rolled/pid',
  ];
  it.each<readonly [string, OddMac, string, number, readonly string[]]>([
    ['does nothing if there is no change', {}, 'unchanged', 0, []],
    ["does nothing about another run's change", { files: change('pending', 'r-2') }, 'unchanged', 0, []],
    [
      'rolls the change back immediately if its script is gone',
      { files: change('pending', run) },
      'changed',
      0,
      rolled('pending'),
    ],
    [
      'waits for the script of the change before rolling back',
      { files: change('pending', run), tools: alive(3) },
      'changed',
      3,
      rolled('pending'),
    ],
    [
      'rolls back immediately if the script has finished',
      { files: change('pending', run, { verdict: '0' }), tools: alive(3) },
      'changed',
      0,
      [...rolled('pending'), '- OURS/transaction/pending/verdict', '+ OURS/transaction/rolled/verdict'],
    ],
    [
      'waits for a rollback that is already running',
      { files: change('rolling', run), tools: alive(2) },
      'changed',
      6,
      rolled('rolling'),
    ],
  ])('%s', async (_, odd, said, sleeps, leaves) => {
    const [seen, waited, paths] = await runOn('settle-transaction', odd);
    expect([seen, waited, [...paths].sort()]).toEqual([said, sleeps, [...leaves].sort()]);
  });

  it('records a partial rollback in the history', async () => {
    const { mac } = newMac('settle-transaction', { files: { ...change('pending', run), '../s/stuck': '' } });
    await mac.run(textOf('settle-transaction', mac.root.folder));
    expect(mac.root.read(`${ours}/log/history`)).toMatch(/^at=1795250000 run=r-0's result=partly-rolled-back\n/);
  });
});

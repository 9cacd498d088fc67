import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDone } from '../../apply/execute.ts';
import { type PlaybookWork, stepsOf } from '../../apply/playbook-report.ts';
import { withRemote } from '../../apply/reach/session.ts';
import { runPlaybook } from '../../apply/run-playbook.ts';
import { everyNode } from '../../desired/layouts.ts';
import { packageText, sourceFile } from '../../desired/package-source.ts';
import {
  madeList,
  mostListBytes,
  mostWheelBytes,
  requirementsName,
  wheelName,
} from '../../desired/settle/python-packages.ts';
import { extraName } from '../../desired/settle/settle-trees.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Plan, StepReport } from '../../engine/plan/plan.ts';
import type { DesiredNode, UnreadArchive } from '../../model/desired.ts';
import { digest } from '../../model/digest.ts';
import { listText } from '../../model/lists.ts';
import { isSuccess, type NodePath } from '../../model/probe.ts';
import { nodeBytesCommand, nodeBytesLimit, parseNodeBytes } from '../../node/node-bytes.ts';
import { stagedList, stagedWheel } from '../../node/paths/own-paths.ts';
import { type UnlistedRuntime, unlistedRuntimes } from '../../rack/artifacts/list-packages.ts';
import type { Remote } from '../../remote/remote.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { replaceFile } from '../files/write-file.ts';
import { createConsent } from '../plan/consent.ts';
import { showPlan } from '../plan/plan-document.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { playbookOf } from './act-on.ts';
import { playbookOptions } from './change-nodes.ts';

/** The lists that could not be made, by the lock's name of the file, each with the reason. */
export type MissingLists = Readonly<Record<string, UnreadArchive>>;

interface ListWork {
  readonly cluster: SettledCluster;
  /** The nodes that may make a list. */
  readonly targets: readonly string[];
  readonly ways: SshTargets;
  readonly isAgreed: boolean;
}

/**
 * Makes the missing lists of packages, and wheels of commits, on one node, and writes them next to the cluster file. Tries the nodes one after
 * another until a list was made or failed. Asks before it changes a node.
 * @returns the lists that are still missing; undefined if none was missing
 */
export async function makeLists(run: Run, work: ListWork): Promise<MissingLists | undefined> {
  const wanted = unlistedRuntimes(work.cluster.fleet);
  if (wanted.length === 0) return undefined;
  const missing = new Map(wanted.map((one) => [one, 'No node that was reached can make the list.']));
  for (const node of makersOf(work, wanted)) {
    const { isTried, results } = await makeOn(run, work, node, wanted);
    for (const { one, problem } of results) {
      if (problem === undefined) missing.delete(one);
      else missing.set(one, `On ${node.name}: ${problem}`);
    }
    if (isTried || run.signal.aborted) break;
  }
  if (!run.options.json) run.console.out('\n');
  return Object.fromEntries(
    [...missing].flatMap(([one, why]) => namesOf(one).map((name) => [name, unmade(one.lists, why)] as const)),
  );
}

/** The list, and the wheel if it is built. */
const namesOf = ({ runtime: { name, extras } }: UnlistedRuntime): readonly string[] =>
  extras.filter(({ lists }) => lists !== undefined).map((extra) => extraName(name, extra.name));

const unmade = (lists: UnlistedRuntime['lists'], why: string): UnreadArchive => ({
  kind: 'unlisted',
  detail: `The packages of ${packageText(lists)} could not be listed. ${why}`,
});

/** The targets, with the nodes that need one of these runtimes first. */
function makersOf(
  { cluster: { fleet }, targets }: ListWork,
  wanted: readonly UnlistedRuntime[],
): readonly DesiredNode[] {
  const names = wanted.map(({ runtime }) => runtime.name);
  const users = fleet.placements.filter(({ runtime }) => names.includes(runtime)).flatMap(everyNode);
  const all = fleet.nodes.filter(({ name }) => targets.includes(name));
  return [...all.filter(({ name }) => users.includes(name)), ...all.filter(({ name }) => !users.includes(name))];
}

interface ListResult {
  readonly one: UnlistedRuntime;
  /** Absent if the list was written. */
  readonly problem?: string;
}

async function makeOn(
  run: Run,
  { cluster, ways, isAgreed }: ListWork,
  node: DesiredNode,
  wanted: readonly UnlistedRuntime[],
): Promise<{ readonly isTried: boolean; readonly results: readonly ListResult[] }> {
  const lists = { kind: 'list-packages', names: wanted.map(({ runtime }) => runtime.name) } as const;
  const packages = listText(wanted.map(({ lists }) => packageText(lists)));
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  const results: ListResult[] = [];
  const options = await playbookOptions(run, {
    verb: 'apply',
    scope: { desired: cluster.fleet, targets: [node.name] },
    ways,
    consent: createConsent(run, { named: [], allowable: ['interrupt', 'rdma-start'], isAgreed }),
    // The second plan only removes what the first one left on the node.
    show: (plan) => (isListing(plan) ? showPlan(run, plan, { lock }) : undefined),
    question: () => {
      const isBuilt = wanted.some(({ lists: { source } }) => source !== undefined);
      return `${isBuilt ? 'Build and list' : 'List'} the packages of ${packages} on ${node.name}?`;
    },
    afterTask: async (done) => {
      if (done.task.kind !== 'list-packages') return;
      for (const one of wanted) results.push(...(await resultOf(run, { one, node, ways }, done)));
    },
  });
  const { isDeclined, ...report } = await runPlaybook(
    playbookOf('apply', lists, { kind: 'converge', only: ['staging'] }),
    options,
  );
  if (isDeclined) return { isTried: true, results: wanted.map((one) => ({ one, problem: 'You declined.' })) };
  return { isTried: stepsOf(report).length > 0, results };
}

const isListing = ({ changes }: Plan): boolean => changes.some(({ about }) => about.kind === 'runtime');

interface ListPlace {
  readonly one: UnlistedRuntime;
  readonly node: DesiredNode;
  readonly ways: SshTargets;
}

/** Reads a list from its node and writes its file; empty if the node was not asked for it. */
async function resultOf(run: Run, place: ListPlace, { run: ran }: PlaybookWork): Promise<readonly ListResult[]> {
  const { one, node, ways } = place;
  const own = (ran?.steps ?? []).filter(({ step: { act } }) => act.kind === 'job' && isOf(act.args, one));
  const failed = own.find((step) => !isDone(step));
  const last = own.at(-1);
  if (last === undefined) return [];
  if (failed !== undefined) {
    return [{ one, problem: failureOf(one, failed) }];
  }
  const [way] = await ways.toAll([node]);
  if (way === undefined) return [];
  const { deadlineMs } = useLimits(run);
  const read = await withRemote(way, useLimits(run), (remote) => readMade(remote, one, deadlineMs));
  if (read.kind === 'unreached') return [{ one, problem: 'The node was lost before the list was read.' }];
  if ('problem' in read.value) return [{ one, problem: read.value.problem }];
  const { list, wheel } = read.value;
  const sha256 = wheel && digest(createHash('sha256').update(wheel).digest('hex'));
  const made = madeList(one.lists, list.toString('utf8'), node.name, sha256);
  if ('problem' in made) return [{ one, problem: made.problem }];
  // The list comes last, because it completes the two.
  if (wheel !== undefined) write(sourceOf(one, wheelName), wheel);
  write(sourceOf(one, requirementsName), made.text);
  return [{ one }];
}

function failureOf(
  { runtime, lists: { source } }: UnlistedRuntime,
  { step: { act }, diagnostics }: StepReport,
): string {
  const [why] = diagnostics;
  if (why === undefined) return 'The work was not finished.';
  const isSource = act.kind === 'job' && act.name === 'fetch-source';
  if (!isSource || source === undefined || why.code !== 'step/wrong-digest') return plainText(why.detail);
  const entry = extraName(runtime.name, sourceFile(source));
  return `The archive of this commit has other bytes than the lock records. GitHub may have packed it differently, or it was replaced. If you trust the new bytes, remove the line \`${entry}\` from the lock.`;
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, content);
}

const isOf = (args: object, { tree }: UnlistedRuntime): boolean =>
  'tree' in args && JSON.stringify(args.tree) === JSON.stringify(tree);

/** The absolute path of the list or the wheel. */
const sourceOf = ({ runtime: { extras } }: UnlistedRuntime, wanted: string): string =>
  extras.find(({ name, lists }) => name === wanted && lists !== undefined)?.source ?? '';

interface Problem {
  readonly problem: string;
}

async function readMade(
  remote: Remote,
  { tree, lists: { source } }: UnlistedRuntime,
  deadlineMs: number,
): Promise<{ readonly list: Buffer; readonly wheel?: Buffer } | Problem> {
  const read = (name: string, path: NodePath, most: number) => readFile(remote, { name, path, most }, deadlineMs);
  const list = await read('list', stagedList(tree), mostListBytes);
  if ('problem' in list) return list;
  if (source === undefined) return { list: list.bytes };
  const wheel = await read('wheel', stagedWheel(tree), mostWheelBytes);
  return 'problem' in wheel ? wheel : { list: list.bytes, wheel: wheel.bytes };
}

async function readFile(
  remote: Remote,
  { name, path, most }: { readonly name: string; readonly path: NodePath; readonly most: number },
  deadlineMs: number,
): Promise<{ readonly bytes: Buffer } | Problem> {
  const wish = { path, from: 0, to: most };
  const { exit, stdout, isTruncated } = await remote.exec(nodeBytesCommand(wish, remote.rootPrefix), {
    name: 'read-file',
    deadlineMs,
    isDeadlineIdle: true,
    maxBytes: nodeBytesLimit(wish),
  });
  const found =
    isSuccess(exit) && !isTruncated ? parseNodeBytes(Buffer.from(stdout).toString('latin1'), wish) : undefined;
  if (found?.kind !== 'read') return { problem: `The ${name} could not be read.` };
  if (found.fileBytes > most) return { problem: `The ${name} has more than ${most} bytes.` };
  return { bytes: Buffer.from(found.bytes) };
}

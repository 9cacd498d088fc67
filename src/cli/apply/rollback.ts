import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { everyNode } from '../../desired/layouts.ts';
import { keptKeys, keysOf, withKeptKeys, withKeys } from '../../desired/settle/settle-runtime.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import { keysByDriver } from '../../drivers/registry.ts';
import type { ClusterLock, TakenBack } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredRuntime } from '../../model/desired.ts';
import { type Digest, shortDigest } from '../../model/digest.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { treesFact } from '../../rack/records/trees-fact.ts';
import { changeLock } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { actOn, playbookOf } from './act-on.ts';

/** `rollback RUNTIME`: takes a runtime back to the older version that its nodes have kept, or with --undo forward again. */
export const rollback: VerbBody = async (run) => {
  const isUndo = run.own['undo'] === true;
  const to = readVersion(run, isUndo);
  const cluster = settleFromLock(run);
  const runtime = wantedRuntime(run, cluster.fleet);
  const nodes = usersOf(cluster.fleet, runtime);
  const ways = openWays(run, cluster.opened);
  const from = runtime.takenBackFrom ?? runtime.digest;
  if (from === undefined) throw new Error(`${runtime.name} is settled`);
  const users = cluster.fleet.nodes.filter(({ name }) => nodes.includes(name));
  const back = isUndo
    ? undone(runtime)
    : { from, to: olderVersion({ runtime, nodes, to }, await observeNodes(run, users, ways)) };
  const fleet = withVersion(cluster, runtime, back ?? { from, to: from });
  if (back !== undefined) refuseOtherDriver(cluster, runtime, back.to);
  const goal = { kind: 'converge', only: ['runtime', 'placement'] } as const;
  let isKept = false;
  const keep = async (): Promise<void> => {
    if (isKept) return;
    isKept = true;
    await changeLock(cluster.lockPlace, (now) => withTakenBack(now, runtime.name, back));
  };
  const code = await actOn(
    run,
    {
      verb: 'rollback',
      playbook: playbookOf('rollback', goal),
      scope: { desired: fleet, targets: nodes },
      named: ['interrupt'],
      judged: nodes,
      goal,
      // Written down before the first step: a run that is cut off is finished by the next apply. Not sooner than with
      // the leases: one that is refused has wished for nothing.
      onLeased: keep,
      closing: () => [closingText(cluster, runtime, back)],
    },
    { cluster, ways },
  );
  // Where nothing was to be done nobody was asked either: the nodes are as it is wished already.
  if (isKept || code !== 0) return code;
  await keep();
  if (runtime.takenBackFrom !== undefined && back !== undefined && back.to === runtime.digest && !run.options.json) {
    run.console.out(`${runtime.name} is at version ${shortDigest(back.to)} already, to which it was taken back.\n`);
  }
  return code;
};

function readVersion(run: Run, isUndo: boolean): string | undefined {
  const to = textOption(run, 'to');
  if (to === undefined) return undefined;
  if (isUndo) throw usageError('--to and --undo are given.', 'Leave one of the two out.');
  if (!/^[0-9a-f]{4,64}$/.test(to)) {
    throw usageError(`"${to}" is no version.`, 'Say its first digits, as facts --fact trees shows them.');
  }
  return to;
}

function wantedRuntime(run: Run, fleet: DesiredFleet): DesiredRuntime {
  const names = fleet.runtimes.map(({ name }) => name);
  const [word, ...others] = run.words;
  const list = `Runtimes: ${names.join(', ') || 'none that was applied'}`;
  if (word === undefined || others.length > 0) throw usageError('Name one runtime.', list);
  const found = fleet.runtimes.find(({ name }) => name === word);
  if (found !== undefined) return found;
  const near = didYouMean(word, names);
  throw usageError(`There is no runtime \`${word}\`.`, near === undefined ? list : `Did you mean \`${near}\`?`);
}

/** @throws FleetError `cli/usage` when no placement uses it */
function usersOf({ nodes, placements }: DesiredFleet, { name }: DesiredRuntime): readonly NodeName[] {
  const used = placements.filter(({ runtime }) => runtime === name).flatMap(everyNode);
  if (used.length === 0) throw usageError(`No placement uses ${name}.`, prose`See: ${meshwright('status')}`);
  return nodes.map((node) => node.name).filter((node) => used.includes(node));
}

function undone({ name, takenBackFrom }: DesiredRuntime): undefined {
  if (takenBackFrom !== undefined) return undefined;
  throw new FleetError([
    diagnose('rollback/not-taken-back', {
      subject: runtimeSubject(name),
      detail: prose`${named(name)} is the version of its archive already.`,
    }),
  ]);
}

/** The fleet with one version of a runtime, and the keys that belong to it: those of the file only for its own archive. */
function withVersion(
  { fleet, lock, opened }: SettledCluster,
  { name }: DesiredRuntime,
  { to, from }: TakenBack,
): DesiredFleet {
  const ofFile = opened.fleet.runtimes.find((one) => one.name === name);
  const runtimes = fleet.runtimes.map((one): DesiredRuntime => {
    if (one.name !== name || ofFile === undefined) return one;
    const keys = keysOf(ofFile, keysByDriver);
    const { takenBackFrom: _, hasFileKeys: __, ...plain } = keys === undefined ? one : withKeys(one, keys);
    return to === from ? { ...plain, digest: to } : withKeptKeys({ ...plain, digest: to, takenBackFrom: from }, lock);
  });
  return { ...fleet, runtimes };
}

/** The keys of a placement are for one driver, and are no part of a version. @throws FleetError `rollback/no-version` */
function refuseOtherDriver({ lock }: SettledCluster, { name, driver }: DesiredRuntime, to: Digest): void {
  const kept = keptKeys(lock, name, to)?.driver ?? driver;
  if (kept === driver) return;
  const detail = prose`Version ${shortDigest(to)} of ${named(name)} was started by the driver ${kept}; the file has ${driver}.`;
  const hint = `Bring the older archive and \`driver: ${kept}\` back in the file, then apply.`;
  throw new FleetError([diagnose('rollback/no-version', { subject: runtimeSubject(name), detail, hint })]);
}

function withTakenBack({ takenBack, ...lock }: ClusterLock, name: string, back: TakenBack | undefined): ClusterLock {
  const others = Object.entries(takenBack ?? {}).filter(([other]) => other !== name);
  const entries = back === undefined ? others : [...others, [name, back] as const];
  return entries.length === 0 ? lock : { ...lock, takenBack: Object.fromEntries(entries) };
}

function closingText({ lockPlace }: SettledCluster, { name }: DesiredRuntime, back: TakenBack | undefined): Prose {
  return back === undefined
    ? `${lockPlace.shown} has ${listText([name])} as its archive is.`
    : prose`${lockPlace.shown} keeps ${name} at this version until its archive is another one: commit it. Forward again: ${meshwright('rollback', name, '--undo')}`;
}

/** What is looked for. */
interface OlderWish {
  readonly runtime: DesiredRuntime;
  /** The nodes that use it. */
  readonly nodes: readonly NodeName[];
  /** The first digits of the one that is meant; absent where there is only one. */
  readonly to: string | undefined;
}

/**
 * The one version that all these nodes have whole, and that is neither the one wished for now nor the one that was
 * left. A runtime that was taken back and is not there yet, or has nowhere else to go, has the one wished for.
 * @throws FleetError `rollback/no-version` when there is none, or when several could be meant
 */
export function olderVersion({ runtime, nodes, to }: OlderWish, observation: FleetObservation): Digest {
  const kept = nodes.map((node) => ({ node, trees: treesOn(node, runtime, observation) }));
  const isEverywhere = (whole: Digest): boolean =>
    kept.every(({ trees }) => trees.some((one) => one.whole === whole && one.state === 'intact'));
  const all = new Set(kept.flatMap(({ trees }) => trees.flatMap(({ whole }) => whole ?? [])));
  const isMeant = (whole: Digest): boolean => to === undefined || whole.startsWith(to);
  const begun = runtime.takenBackFrom === undefined ? undefined : runtime.digest;
  const isThere = kept.every(({ trees }) => trees.some(({ whole, isCurrent }) => isCurrent && whole === begun));
  if (begun !== undefined && isMeant(begun) && !isThere) return begun;
  const found = [...all]
    .filter((whole) => whole !== runtime.digest && whole !== runtime.takenBackFrom && isEverywhere(whole))
    .filter(isMeant);
  const [first, ...others] = found.toSorted();
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined && begun !== undefined && isMeant(begun)) return begun;
  const there = kept.map(({ node, trees }) => `${node} has ${versionsText(trees)}`).join('; ');
  throw new FleetError([
    diagnose('rollback/no-version', {
      subject: runtimeSubject(runtime.name),
      detail:
        first === undefined
          ? `${there}. None of them${to === undefined ? '' : ` that begins with ${to}`} is older and everywhere.`
          : `${there}. Several of them are older and everywhere.`,
      ...(first === undefined ? {} : { hint: `Say which: --to ${shortDigest(first)}` }),
    }),
  ]);
}

function treesOn(node: NodeName, { name }: DesiredRuntime, { nodes }: FleetObservation): readonly KeptTree[] {
  const trees = read(nodes[node]?.facts, treesFact);
  if (trees?.kind !== 'known') return [];
  return trees.value.filter((one) => one.kind === 'runtime' && one.name === name && one.state !== 'staged');
}

const versionsText = (trees: readonly KeptTree[]): string =>
  trees.length === 0
    ? 'none that could be seen'
    : listText(
        trees.map(
          ({ digest, isCurrent, state }) =>
            `${digest}${isCurrent ? ' (in use)' : ''}${state === 'intact' ? '' : ` (${state})`}`,
        ),
      );

import { didYouMean } from '../../desired/did-you-mean.ts';
import { everyNode } from '../../desired/layouts.ts';
import { keysOf, keysOfVersion, withKeys, withVersionKeys } from '../../desired/settle/settle-runtime.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { keysByDriver } from '../../drivers/registry.ts';
import type { ClusterLock, RolledBack } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredRuntime } from '../../model/desired.ts';
import { type Digest, shortDigest } from '../../model/digest.ts';
import type { ObservedTree } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { type Known, mapKnown, seenValue, unknown } from '../../model/known.ts';
import { alike, listText } from '../../model/lists.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { treesFact } from '../../rack/records/trees-fact.ts';
import { changeLock } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { exitCode } from '../exit-codes.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { paragraphText } from '../terminal/console.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { actOn } from './act-on.ts';
import { reaching } from './final-check.ts';
import { exitOf } from './run-outcome.ts';

export const rollback: VerbBody = async (run) => {
  const isUndo = run.own['undo'] === true;
  const to = readVersion(run, isUndo);
  const cluster = settleFromLock(run);
  const runtime = wantedRuntime(run, cluster.fleet);
  const nodes = usersOf(cluster.fleet, runtime);
  const ways = openTargets(run, cluster.opened);
  const from = runtime.rolledBackFrom ?? runtime.digest;
  if (from === undefined) throw new Error(`${runtime.name} is settled`);
  const users = cluster.fleet.nodes.filter(({ name }) => nodes.includes(name));
  const back = isUndo
    ? undefined
    : { from, to: olderVersion({ runtime, nodes, to }, await observeNodes(run, users, ways)) };
  const fleet = withVersion(cluster, runtime, back ?? { from, to: from });
  if (back !== undefined) refuseOtherDriver(cluster, runtime, back.to);
  let isLockWritten: boolean | undefined;
  const keep = async (): Promise<void> => {
    isLockWritten ??= await changeLock(cluster.lockPlace, (now) => withRolledBack(now, runtime.name, back));
  };
  let hasRun = true;
  const ended = await actOn(
    run,
    {
      verb: 'rollback',
      ...reaching({ kind: 'converge', only: ['runtime', 'placement'] }, { desired: fleet, targets: nodes }),
      consent: createConsent(run, { named: ['interrupt'] }),
      // Recorded before the first step so that the next apply finishes an interrupted run. This happens under the
      // leases so that a refused run changes nothing.
      hooks: { onLeased: keep },
      ending: async (outcome) => {
        hasRun = isLockWritten !== undefined;
        // Without changes, the nodes already have the desired version, and the user was not asked.
        if (!run.signal.aborted && exitOf(outcome) === exitCode.done) await keep();
        return { lock: { written: isLockWritten === true }, closing: [closingText(cluster, runtime, back)] };
      },
    },
    cluster,
    ways,
  );
  if (hasRun || ended.exit !== exitCode.done) return ended;
  const more = unchangedTexts(cluster, runtime, back).map((line) => paragraphText(run.console, line));
  return { ...ended, text: `${ended.text}${more.join('')}` };
};

/** What a run without changes says. A repeated --undo converges like the first, which may have been interrupted. */
function unchangedTexts(
  cluster: SettledCluster,
  runtime: DesiredRuntime,
  back: RolledBack | undefined,
): readonly Prose[] {
  const { name, digest, rolledBackFrom } = runtime;
  const closing = closingText(cluster, runtime, back);
  if (rolledBackFrom === undefined)
    return back === undefined ? [`${name} already has its archive's version.`] : [closing];
  return back === undefined || back.to !== digest
    ? [closing]
    : [`${name} was already rolled back to version ${shortDigest(digest)}.`, closing];
}

function readVersion(run: Run, isUndo: boolean): string | undefined {
  const to = textOption(run, 'to');
  if (to === undefined) return undefined;
  if (isUndo) throw usageError('--to and --undo cannot be combined.', 'Leave out one of them.');
  if (!/^[0-9a-f]{4,64}$/.test(to)) {
    throw usageError(
      `"${to}" is not a valid version.`,
      prose`Enter at least the first four digits of a version. To see the versions: ${meshwright('facts', '--fact', 'trees')}`,
    );
  }
  return to;
}

export function wantedRuntime(run: Run, fleet: DesiredFleet): DesiredRuntime {
  const names = fleet.runtimes.map(({ name }) => name);
  const [word, ...others] = run.words;
  const list = `Runtimes: ${names.join(', ') || 'none applied yet'}`;
  if (word === undefined || others.length > 0) throw usageError('Name one runtime.', list);
  const found = fleet.runtimes.find(({ name }) => name === word);
  if (found !== undefined) return found;
  const near = didYouMean(word, names);
  throw usageError(`There is no runtime \`${word}\`.`, near === undefined ? list : `Did you mean \`${near}\`?`);
}

/** @throws FleetError `cli/usage` if no placement uses the runtime */
export function usersOf({ nodes, placements }: DesiredFleet, { name }: DesiredRuntime): readonly NodeName[] {
  const used = placements.filter(({ runtime }) => runtime === name).flatMap(everyNode);
  if (used.length === 0) throw usageError(`No placement uses ${name}.`, prose`See: ${meshwright('status')}`);
  return nodes.map((node) => node.name).filter((node) => used.includes(node));
}

/** The fleet with this runtime version and its keys. The keys in the file apply only to the archive in the file. */
export function withVersion(
  { fleet, lock, opened }: SettledCluster,
  { name }: DesiredRuntime,
  { to, from }: RolledBack,
): DesiredFleet {
  const ofFile = opened.fleet.runtimes.find((one) => one.name === name);
  const runtimes = fleet.runtimes.map((one): DesiredRuntime => {
    if (one.name !== name || ofFile === undefined) return one;
    const keys = keysOf(ofFile, keysByDriver);
    const { rolledBackFrom: _, hasFileKeys: __, ...plain } = keys === undefined ? one : withKeys(one, keys);
    return to === from
      ? { ...plain, digest: to }
      : withVersionKeys({ ...plain, digest: to, rolledBackFrom: from }, lock);
  });
  return { ...fleet, runtimes };
}

/** Refuses a version for another driver, because the placement's keys fit only one. @throws FleetError `rollback/no-version` */
function refuseOtherDriver({ lock }: SettledCluster, { name, driver }: DesiredRuntime, to: Digest): void {
  const recorded = keysOfVersion(lock, name, to)?.driver ?? driver;
  if (recorded === driver) return;
  const detail = prose`Version ${shortDigest(to)} of ${named(name)} needs the driver ${recorded}, but the file has ${driver}.`;
  const hint = `Restore the older archive and \`driver: ${recorded}\` in the file, then apply.`;
  throw failure('rollback/no-version', { subject: runtimeSubject(name), detail, hint });
}

export function withRolledBack(
  { rolledBack, ...lock }: ClusterLock,
  name: string,
  back: RolledBack | undefined,
): ClusterLock {
  const others = Object.entries(rolledBack ?? {}).filter(([other]) => other !== name);
  const entries = back === undefined ? others : [...others, [name, back] as const];
  return entries.length === 0 ? lock : { ...lock, rolledBack: Object.fromEntries(entries) };
}

function closingText({ lockPlace }: SettledCluster, { name }: DesiredRuntime, back: RolledBack | undefined): Prose {
  return back === undefined
    ? `${lockPlace.shown} has the version of the archive for ${listText([name])} again.`
    : prose`${lockPlace.shown} keeps ${name} at this version until the file names a different archive. Commit ${lockPlace.shown}. To undo: ${meshwright('rollback', name, '--undo')}`;
}

interface VersionRequest {
  readonly runtime: DesiredRuntime;
  /** The nodes that use the runtime. */
  readonly nodes: readonly NodeName[];
  /** The first digits of the version; undefined if any version is acceptable. */
  readonly to: string | undefined;
}

/**
 * The only version that is intact on all these nodes and is neither the desired version nor the one rolled back from.
 * If a rollback is unfinished or there is no other version, the version of that rollback.
 * @throws FleetError `rollback/no-version` unless exactly one version qualifies
 */
export function olderVersion({ runtime, nodes, to }: VersionRequest, observation: FleetObservation): Digest {
  const byNode = nodes.map((node) => ({ node, trees: treesOn(node, runtime, observation) }));
  const isOnEvery = (isIt: (tree: ObservedTree) => boolean): boolean =>
    byNode.every(({ trees }) => trees.kind === 'known' && trees.value.some(isIt));
  const all = new Set(byNode.flatMap(({ trees }) => (seenValue(trees) ?? []).flatMap(({ whole }) => whole ?? [])));
  const isWanted = (whole: Digest): boolean => to === undefined || whole.startsWith(to);
  const begun = runtime.rolledBackFrom === undefined ? undefined : runtime.digest;
  const isThere = isOnEvery(({ whole, isCurrent }) => isCurrent && whole === begun);
  if (begun !== undefined && isWanted(begun) && !isThere) return begun;
  const found = [...all]
    .filter((version) => version !== runtime.digest && version !== runtime.rolledBackFrom)
    .filter((version) => isOnEvery(({ whole, state }) => whole === version && state === 'intact'))
    .filter(isWanted);
  const [first, ...others] = found.toSorted();
  if (first !== undefined && others.length === 0) return first;
  if (first === undefined && begun !== undefined && isWanted(begun)) return begun;
  const unseen = byNode.filter(({ trees }) => trees.kind === 'unknown').map(({ node }) => node);
  const there = alike(byNode, ({ trees }) => versionsText(trees))
    .map(([{ trees }, same]) => `On ${everyNodeText(same.map(({ node }) => node))}: ${versionsText(trees)}`)
    .join('. ');
  const none = `No older version${to === undefined ? '' : ` that begins with ${to}`} is known to be on all of these nodes.`;
  throw failure('rollback/no-version', {
    subject: runtimeSubject(runtime.name),
    detail: `${there}. ${first === undefined ? none : 'More than one older version is on all of these nodes.'}`,
    ...given({ hint: hintFor(first, unseen) }),
  });
}

/** Without this hint, that of the code applies: every node was observed, and none of them has a common older version. */
function hintFor(first: Digest | undefined, unseen: readonly NodeName[]): Prose | undefined {
  if (first !== undefined) return `Choose a version, for example: --to ${shortDigest(first)}`;
  if (unseen.length === 0) return undefined;
  return prose`The versions on ${everyNodeText(unseen)} are unknown. Find out why, then run the same command again: ${meshwright('doctor')}`;
}

export function treesOn(
  node: NodeName,
  { name }: DesiredRuntime,
  { nodes }: FleetObservation,
): Known<readonly ObservedTree[]> {
  return mapKnown(read(nodes[node]?.facts, treesFact) ?? unknown('unreachable', 'the node was not observed'), (trees) =>
    trees.filter((one) => one.kind === 'runtime' && one.name === name && one.state !== 'staged'),
  );
}

function versionsText(trees: Known<readonly ObservedTree[]>): string {
  if (trees.kind === 'unknown') return `unknown (${trees.detail})`;
  const versions = trees.value.map(({ digest, isCurrent, state }) => {
    const marks = `${isCurrent ? ' (in use)' : ''}${state === 'intact' ? '' : ` (${state})`}`;
    return `${digest}${marks}`;
  });
  return versions.length === 0 ? 'no known version' : listText(versions);
}

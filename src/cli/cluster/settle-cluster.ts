import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { networkText } from '../../desired/addresses.ts';
import { settleFleet, settleShapes, withRuntimeOf } from '../../desired/settle/settle.ts';
import { withGivenNetworks } from '../../desired/settle/settle-links.ts';
import { keysOf, keysOfVersion } from '../../desired/settle/settle-runtime.ts';
import { type SourceFacts, sourcesToRead } from '../../desired/settle/settle-trees.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { keysByDriver } from '../../drivers/registry.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { planAllowances } from '../plan/consent.ts';
import { missingPrograms } from '../sources/controller-source.ts';
import { listSources } from '../sources/list-sources.ts';
import { readKeys } from '../sources/read-keys.ts';
import { readShapes } from '../sources/read-shapes.ts';
import { withSimulatedServers } from '../sources/simulated-web.ts';
import type { Run } from '../verb.ts';
import { doublesIn, withDoubles, withoutDoubled, withSimulatedLists, writeDoubles } from './doubles.ts';
import {
  type LockPlace,
  lockPlaceOf,
  type OpenedCluster,
  openCluster,
  readLock,
  refuseErrors,
} from './open-cluster.ts';
import { withThisComputer } from './this-computer.ts';
import { modelRequests, needTrust } from './trust.ts';

/**
 * Refuses values that are not in the lock yet. A rehearsal needs no consent.
 * @throws FleetError `lock/unresolved`
 */
export function refuseUnresolved(run: Run, { additions, lockPlace }: SettledCluster): void {
  if (additions.length === 0 || run.options.sim) return;
  throw failure('lock/unresolved', {
    subject: namedSubject(lockPlace.shown),
    detail: [`These lines are missing in ${lockPlace.shown}:`, ...additions.map((line) => `  ${line}`)].join('\n'),
    hint: `Run apply on a terminal or with --update-lock, then commit ${lockPlace.shown}.`,
  });
}

export interface SettledCluster {
  readonly opened: OpenedCluster;
  readonly fleet: DesiredFleet;
  /** The lock to write. */
  readonly lock: ClusterLock;
  /** The lock as read. */
  readonly before: ClusterLock;
  /** New lock values that need consent, one line each. */
  readonly additions: readonly string[];
  /** The committed lock; with `--sim`, the simulated fleet's lock. */
  readonly lockPlace: LockPlace;
}

/**
 * Opens and resolves the cluster file. Hashes archives, and model folders that are not in the lock. Writes nothing.
 * @param missing the lists of packages that this run could not make
 * @throws FleetError with all errors in the files (exit 65), including missing sources
 */
export async function settleCluster(
  run: Run,
  opened: OpenedCluster = openCluster(run),
  missing: SourceFacts['archives'] = {},
): Promise<SettledCluster> {
  const base = baseOf(run, opened);
  const folder = dirname(base.opened.path);
  const { doubles, ...rest } = base;
  await writeDoubles(doubles);
  const inFile = withDoubles(withSimulatedLists(run, base.opened.path, withoutMirror(run, base.opened.fleet)), doubles);
  const wanted = { ...inFile, models: await withSimulatedServers(run, base.opened.path, inFile.models) };
  const { archives, folders } = await listSources(run, base.opened, sourcesToRead(wanted, base.lock, folder));
  const sources = { archives: { ...archives, ...missing }, folders, keys: await readKeys(run, wanted, folder) };
  const settled = settleFleet(wanted, base.lock, sources, folder, keysByDriver);
  await needTrust(run, modelRequests(settled.fleet, folder));
  // An earlier run already checked the programs of a runtime whose keys did not change.
  const isNew = (name: string): boolean => {
    const runtime = settled.fleet.runtimes.find((one) => one.name === name);
    const file = base.opened.fleet.runtimes.find((one) => one.name === name);
    const recorded = keysOfVersion(base.lock, name, runtime?.rolledBackFrom ?? runtime?.digest);
    return file === undefined || recorded === undefined || !isDeepStrictEqual(recorded, keysOf(file, keysByDriver));
  };
  refuseErrors([...settled.diagnostics, ...(await missingPrograms(base.opened, run.signal, isNew))]);
  const seen = await readShapes(run, base.opened, settled.fleet);
  const { models, shapes } = settleShapes(settled.fleet.models, settled.lock, seen);
  const lock = { ...settled.lock, ...given({ shapes }) };
  const planned = withThisComputer(run, { ...settled.fleet, models, ...planAllowances(run) });
  return { ...rest, before: base.lock, fleet: planned, lock, additions: settled.additions };
}

const nothingRead: SourceFacts = { archives: {}, folders: {} };

/** Resolves from the lock only: applied placements, without archives, so that a new archive cannot prevent a stop. */
export function settleFromLock(run: Run, opened: OpenedCluster = openCluster(run)): SettledCluster {
  const { doubles: _, ...base } = baseOf(run, opened);
  const { fleet, lock } = settleFleet(opened.fleet, base.lock, nothingRead, dirname(opened.path), keysByDriver);
  const runtimes = fleet.runtimes.filter(({ digest }) => digest !== undefined);
  const models = fleet.models.filter(({ digest }) => digest !== undefined);
  const hasGateway = fleet.gateway?.digest !== undefined;
  const isApplied = ({ runtime, model, publication }: DesiredPlacement): boolean =>
    (publication === undefined || hasGateway) &&
    runtimes.some(({ name }) => name === runtime) &&
    models.some(({ name }) => name === model);
  const placements = fleet.placements.map((one) => (hasGateway ? one : withoutLocalGateway(one))).filter(isApplied);
  const planned = withThisComputer(run, { ...fleet, runtimes, models, placements, ...planAllowances(run) });
  return { ...base, before: base.lock, fleet: planned, lock, additions: [] };
}

/**
 * The same cluster, with this runtime as the file wants it. Reads and resolves only what belongs to the runtime.
 * @param missing as for {@link settleCluster}
 */
export async function settleOneRuntime(
  run: Run,
  cluster: SettledCluster,
  name: string,
  missing: SourceFacts['archives'] = {},
): Promise<SettledCluster> {
  const { opened, before } = cluster;
  const { gateway: _, ...fleet } = opened.fleet;
  const own = fleet.runtimes.filter((one) => one.name === name);
  const thunderbolt = { ...fleet.thunderbolt, links: [] };
  const narrow = { ...fleet, thunderbolt, runtimes: own, models: [], placements: [] };
  const settled = await settleCluster(run, { ...opened, fleet: narrow }, missing);
  const runtimes = cluster.fleet.runtimes.map(
    (one) => settled.fleet.runtimes.find((settledOne) => settledOne.name === one.name) ?? one,
  );
  return {
    ...cluster,
    fleet: { ...cluster.fleet, runtimes, ...given({ versions: settled.fleet.versions }) },
    lock: withRuntimeOf(before, settled.lock, name),
    additions: settled.additions,
  };
}

/** The placement as it was applied before it needed a gateway, such as on one Mac or by an earlier version. */
function withoutLocalGateway({ publication, ...placement }: DesiredPlacement): DesiredPlacement {
  return publication?.isLocal === true ? placement : { ...placement, ...given({ publication }) };
}

/** The file's fleet with its lock's values, for read-only commands. Includes placements that were never applied. */
export const lockedFleet = (run: Run, opened: OpenedCluster): DesiredFleet => lockedWhole(run, opened).fleet;

const lockedWhole = (run: Run, opened: OpenedCluster) => {
  const { lock } = baseOf(run, opened);
  const wanted = withoutMirror(run, opened.fleet);
  return { lock, fleet: settleFleet(wanted, lock, nothingRead, dirname(opened.path), keysByDriver).fleet };
};

/**
 * The fleet to which Macs and cables are compared: the file, with identities and link networks from the lock. A link
 * without a network remains without one, because it can still get any network.
 */
export function judgedFleet(run: Run, opened: OpenedCluster): DesiredFleet {
  const { lock, fleet } = lockedWhole(run, opened);
  const { nodes, thunderbolt } = fleet;
  return { ...opened.fleet, nodes, thunderbolt: withGivenNetworks(thunderbolt, lock) };
}

/** The lock as read, and where it is. In a rehearsal, both are the simulated fleet's. */
export const lockBefore = (run: Run, opened: OpenedCluster): Pick<SettledCluster, 'lock' | 'lockPlace'> =>
  baseOf(run, opened);

function baseOf(run: Run, opened: OpenedCluster) {
  const doubles = doublesIn(run, opened.path, opened.fleet);
  const lockPlace = lockPlaceOf(run, opened);
  const lock = run.options.sim
    ? rehearsedLock(withoutDownloads(withoutDoubled(opened.lock, doubles)), readLock(lockPlace))
    : opened.lock;
  return { opened, lock, lockPlace, doubles };
}

/** The simulated servers have small models of their own, so their lists are not the committed ones. */
const withoutDownloads = (lock: ClusterLock): ClusterLock => ({
  ...lock,
  models: Object.fromEntries(Object.entries(lock.models).filter(([, { source }]) => !/^(?:hf|https?):/.test(source))),
});

/** Simulated Macs reach their servers by the names of the real ones. */
function withoutMirror(run: Run, fleet: DesiredFleet): DesiredFleet {
  if (run.options.sim !== true || fleet.downloads === undefined) return fleet;
  const { mirror: _, ...downloads } = fleet.downloads;
  return { ...fleet, downloads };
}

const isEmpty = (section: object): boolean => Object.keys(section).length === 0;

/**
 * The initial lock of a rehearsal. Contains the committed values, so that addresses are the same, otherwise values from
 * earlier rehearsals. The list of nodes already set up is the rehearsal's own.
 */
export function rehearsedLock(committed: ClusterLock, simulated: ClusterLock): ClusterLock {
  const links = isEmpty(committed.links) ? simulated.links : committed.links;
  const taken = new Set(Object.values(links).map(networkText));
  const former = { ...simulated.formerNetworks, ...committed.formerNetworks };
  return {
    ...simulated,
    links,
    formerNetworks: Object.fromEntries(Object.entries(former).filter(([network]) => !taken.has(network))),
    runtimes: { ...simulated.runtimes, ...committed.runtimes },
    models: { ...simulated.models, ...committed.models },
    ...given({
      releases: merged(simulated.releases, committed.releases),
      runtimeFiles: merged(simulated.runtimeFiles, committed.runtimeFiles),
      rolledBack: merged(committed.rolledBack, simulated.rolledBack),
      runtimeKeys: merged(committed.runtimeKeys, simulated.runtimeKeys),
      shapes: merged(simulated.shapes, committed.shapes),
    }),
  };
}

/** Merges two objects, with precedence for the second; undefined if both are undefined. */
const merged = <T extends object>(first: T | undefined, second: T | undefined): T | undefined =>
  first === undefined && second === undefined ? undefined : ({ ...first, ...second } as T);

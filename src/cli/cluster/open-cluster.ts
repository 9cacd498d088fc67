import { join } from 'node:path';
import type { LoadedCluster } from '../../config/load-cluster-with.ts';
import { emptyLock } from '../../config/lock.ts';
import { renderLock, withPin } from '../../config/lock-text.ts';
import { judgeHolds } from '../../desired/resolve.ts';
import { selectNodes } from '../../desired/select.ts';
import { withOtherMac, withoutWithdrawal } from '../../desired/settle/settle.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { countText, type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { commandText } from '../../diagnostics/prose-text.ts';
import { loadCluster, parseLock } from '../../engine/load-cluster.ts';
import type { ClusterLock, HostKey } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { findClusterFile, lockFileFor, simFolder } from '../files/places.ts';
import { openToOthers, type ReadFile, readFile, readIfThere, shownPath, thisReader } from '../files/read-file.ts';
import { holdFile, replaceFile } from '../files/write-file.ts';
import { withDoormanProgram } from '../sources/read-keys.ts';
import { showDiagnostics } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { doublesText } from './doubles.ts';

/** A cluster file that has been read and judged, with its lock. */
export interface OpenedCluster {
  /** Absolute path. */
  readonly path: string;
  readonly lockPath: string;
  readonly fleet: DesiredFleet;
  readonly lock: ClusterLock;
  /** Where a key of the cluster file is, by its pointer. */
  readonly whereIs?: LoadedCluster['whereIs'];
  /** Warnings about both files; they have been shown unless `--json` was given. */
  readonly warnings: readonly Diagnostic[];
}

/** Both files as they were read and judged, with every problem of either. */
export interface JudgedFiles {
  /** Where a key of the cluster file stands, by its pointer; absent while it has errors. */
  readonly whereIs?: LoadedCluster['whereIs'];
  readonly path: string;
  readonly shown: string;
  readonly lockPath: string;
  readonly fleet: DesiredFleet | undefined;
  readonly lock: ClusterLock;
  readonly diagnostics: readonly Diagnostic[];
  /** Texts by shown name, for the marked lines. */
  readonly sources: Readonly<Record<string, string>>;
}

/** The path of the cluster file. @throws FleetError `cli/no-cluster-file` */
export function requireClusterFile(run: Run): string {
  const path = findClusterFile(run.options.file, run.env, run.folder);
  if (path !== undefined) return path;
  throw new FleetError([
    diagnose('cli/no-cluster-file', {
      detail: `Neither this folder nor one above it has a cluster.yaml: ${run.folder}`,
    }),
  ]);
}

/** Reads and judges the cluster file and its lock; every problem is a value. @throws FleetError `cli/cannot-read`. */
export function judgeFiles(run: Run): JudgedFiles {
  const path = requireClusterFile(run);
  const lockPath = lockFileFor(path);
  const shown = shownPath(run.folder, path);
  const shownLock = shownPath(run.folder, lockPath);
  const reader = thisReader(run.env);
  const file = readFile(path, shown);
  const loaded = loadCluster(file.bytes, shown);
  const lockFile = readIfThere(lockPath, shownLock);
  const locked = lockFile === undefined ? undefined : parseLock(lockFile.text, shownLock);
  return {
    path,
    shown,
    lockPath,
    fleet: loaded.fleet,
    whereIs: loaded.whereIs,
    lock: locked?.lock ?? emptyLock(shownLock),
    diagnostics: [
      ...loaded.diagnostics,
      ...(locked?.diagnostics ?? []),
      ...openToOthers(shown, file, reader),
      ...(lockFile === undefined ? [] : openToOthers(shownLock, lockFile, reader)),
    ],
    sources: { [shown]: file.text, ...(lockFile === undefined ? {} : { [shownLock]: lockFile.text }) },
  };
}

/**
 * Reads, judges and resolves the cluster file and its lock; warnings are counted.
 * @throws FleetError with every error of the files (exit 65), with their source lines.
 */
export function openCluster(run: Run): OpenedCluster {
  const { path, shown, lockPath, fleet, lock, diagnostics, sources, whereIs } = judgeFiles(run);
  refuseErrors(diagnostics, sources);
  if (!fleet) throw new FleetError([diagnose('yaml/syntax', { detail: `${shown} gives no cluster.` })], { sources });
  if (!run.options.json) tellWarnings(run, shown, diagnostics);
  if (!run.options.json) run.console.err(doublesText(run, path, fleet));
  const judged = withDoormanProgram(judgeHolds(fleet, Date.now()));
  return { path, lockPath, fleet: judged, lock, whereIs, warnings: diagnostics };
}

/** @throws FleetError with all of these, where there are any; `sources` are file texts by file name */
export function refuseAny(problems: readonly Diagnostic[], sources: Readonly<Record<string, string>> = {}): void {
  const [first, ...others] = problems;
  if (first) throw new FleetError([first, ...others], { sources });
}

/** @throws FleetError with the errors among these, where there are any */
export const refuseErrors: typeof refuseAny = (diagnostics, sources) =>
  refuseAny(
    diagnostics.filter((one) => one.severity === 'error'),
    sources,
  );

/** The answer comes first, so what is wrong inside the file is only counted; who else may change it is said at once. */
function tellWarnings(run: Run, shown: string, diagnostics: readonly Diagnostic[]): void {
  const isUrgent = (one: Diagnostic): boolean => one.code === 'cli/file-open-to-others';
  showDiagnostics(run.console, diagnostics.filter(isUrgent));
  const others = diagnostics.filter((one) => !isUrgent(one));
  if (others.length === 0) return;
  run.console.err(
    `${shown}: ${countText(others)}; ${commandText(meshwright('validate'), run.console)} shows ${others.length === 1 ? 'it' : 'them'}\n`,
  );
}

/** A lock file by its place. */
export interface LockPlace {
  /** Absolute. */
  readonly path: string;
  /** How it is called in text. */
  readonly shown: string;
}

/**
 * The lock file, or an empty one when there is none yet; shown when others may change it.
 * @throws FleetError when it is damaged, or open to others and `CI=true`.
 */
export function openLock(run: Run, { path, shown }: LockPlace): ClusterLock {
  const file = readIfThere(path, shown);
  if (file !== undefined) refuseOpenToOthers(run, shown, file);
  return parsedLock(file, shown);
}

/** Shows who else may change a file. @throws FleetError `cli/file-open-to-others` with `CI=true` */
export function refuseOpenToOthers(run: Run, shown: string, file: ReadFile): void {
  const problems = openToOthers(shown, file, thisReader(run.env));
  refuseErrors(problems);
  if (!run.options.json) showDiagnostics(run.console, problems);
}

/** The same without a look at who may change it, for a file that has been opened before. @throws FleetError */
export const readLock = ({ path, shown }: LockPlace): ClusterLock => parsedLock(readIfThere(path, shown), shown);

function parsedLock(file: ReadFile | undefined, shown: string): ClusterLock {
  if (file === undefined) return emptyLock(shown);
  const { lock, diagnostics } = parseLock(file.text, shown);
  refuseErrors(diagnostics, { [shown]: file.text });
  return lock ?? emptyLock(shown);
}

/** The nodes that the words, `--nodes` and `--label` select; all of them when nothing selects. */
export function targetedNodes(run: Run, fleet: DesiredFleet, words: readonly string[]): readonly DesiredNode[] {
  const names = [...words, ...(run.options.nodes ?? [])];
  const { nodes, diagnostics } = selectNodes(fleet, { names, labels: run.options.label ?? [] });
  refuseAny(diagnostics);
  return nodes;
}

/** Where pins of a simulated fleet lie: beside its run file, never in the cluster's own lock. Its path says nothing to a person. */
export const simLockPlace = (folder: string): LockPlace => ({
  path: join(folder, 'cluster.lock'),
  shown: 'the simulated cluster.lock',
});

/** The lock of a run: the committed one, or with `--sim` the one beside the run file. */
export const lockPlaceOf = (run: Run, { path, lockPath }: Pick<OpenedCluster, 'path' | 'lockPath'>): LockPlace =>
  run.options.sim ? simLockPlace(simFolder(run.env, path)) : { path: lockPath, shown: shownPath(run.folder, lockPath) };

/** The keeper of that lock. */
export function openKeeper(run: Run, opened: OpenedCluster): LockKeeper {
  const place = lockPlaceOf(run, opened);
  return createLockKeeper({ ...place, lock: run.options.sim ? readLock(place) : opened.lock });
}

/** The lock file of a run: what it pins now, and the writing of it. */
export interface LockKeeper extends LockPlace {
  /** Keys that are pinned for a name. */
  readonly pins: (name: string) => readonly HostKey[];
  /** The same for the sshd that waits at FileVault. */
  readonly prebootPins: (name: string) => readonly HostKey[];
  /**
   * Pins a key and writes the file; `isReplacing` drops every other key of that name, that before FileVault too: it may
   * be another Mac. What others have pinned for other names meanwhile is kept.
   * @throws FleetError `enroll/pins-changed` when they did so for this name, `cli/cannot-write`
   */
  readonly pin: (name: string, key: HostKey, isReplacing: boolean) => Promise<void>;
  /**
   * Pins the key that a Mac shows while it waits at FileVault, in place of another of its type; `isReplacing` drops
   * every other one. @throws FleetError `cli/cannot-write`
   */
  readonly pinPreboot: (name: string, key: HostKey, isReplacing: boolean) => Promise<void>;
  /** Drops the keys that a Mac showed while it waited at FileVault. @throws FleetError `cli/cannot-write` */
  readonly forgetPreboot: (name: string) => Promise<void>;
  /** Which Mac each node is. */
  readonly identities: () => Readonly<Record<string, Digest>>;
  /** Writes down which Mac a node is, in place of another one. @throws FleetError `cli/cannot-write` */
  readonly recordMac: (node: string, identity: Digest) => Promise<void>;
}

const pinsIn = (lock: ClusterLock, name: string): readonly HostKey[] =>
  Object.hasOwn(lock.hostKeys, name) ? (lock.hostKeys[name] ?? []) : [];

/** A keeper of one lock file. Each pin is written at once: an interrupted run keeps what it was told. */
export function createLockKeeper(at: LockPlace & { readonly lock: ClusterLock }): LockKeeper {
  const { path, shown } = at;
  let { lock } = at;
  const write = async (change: (now: ClusterLock) => ClusterLock): Promise<void> => {
    let next = lock;
    await changeLock(at, (now) => {
      next = change(now);
      return next;
    });
    lock = next;
  };
  const pinInto = (now: ClusterLock, name: string, key: HostKey, isReplacing: boolean): ClusterLock => {
    const pins = pinsIn(now, name);
    if (!isSame(pins, pinsIn(lock, name))) {
      if (pins.length === 1 && pins[0]?.base64 === key.base64) return now;
      throw pinsChanged(name, shown);
    }
    const others = Object.entries(now.hostKeys).filter(([other]) => other !== name);
    const base = isReplacing ? withoutPreboot({ ...now, hostKeys: Object.fromEntries(others) }, name) : now;
    return withPin(base, name, key);
  };
  return {
    path,
    shown,
    pins: (name) => pinsIn(lock, name),
    prebootPins: (name) => lock.prebootKeys?.[name] ?? [],
    pin: (name, key, isReplacing) => write((now) => pinInto(now, name, key, isReplacing)),
    identities: () => lock.identities ?? {},
    recordMac: (node, identity) => write((now) => withOtherMac(now, node, identity)),
    pinPreboot: (name, key, isReplacing) =>
      write((now) => withPin(isReplacing ? withoutPreboot(now, name) : now, name, key, 'prebootKeys')),
    forgetPreboot: (name) => write((now) => withoutPreboot(now, name)),
  };
}

function withoutPreboot({ prebootKeys, ...lock }: ClusterLock, name: string): ClusterLock {
  const others = Object.entries(prebootKeys ?? {}).filter(([other]) => other !== name);
  return others.length === 0 ? lock : { ...lock, prebootKeys: Object.fromEntries(others) };
}

function isSame(some: readonly HostKey[], others: readonly HostKey[]): boolean {
  const texts = (keys: readonly HostKey[]): string =>
    keys
      .map(({ type, base64 }) => `${type} ${base64}`)
      .sort()
      .join('\n');
  return texts(some) === texts(others);
}

const pinsChanged = (name: string, shown: string): FleetError =>
  new FleetError([
    diagnose('enroll/pins-changed', {
      subject: namedSubject(shown),
      detail: prose`${shown} has other keys for ${named(name)} than a moment ago; nothing was pinned.`,
    }),
  ]);

/**
 * Writes what was resolved into a lock file, when that changes its text. Pins are those that the file has at that
 * moment; nodes that others have added meanwhile stay, and so does which Mac each of them is.
 * @param reached nodes that were logged in to: none of them is being withdrawn
 * @returns whether it was written
 * @throws FleetError `cli/cannot-write`, or when the file has become unreadable
 */
export function keepLock(
  place: LockPlace,
  { withdrawing: _asRead, ...resolved }: ClusterLock,
  reached: readonly string[] = [],
): Promise<boolean> {
  return changeLock(place, (now) => ({
    ...resolved,
    hostKeys: now.hostKeys,
    ...given({ prebootKeys: now.prebootKeys, withdrawing: withoutWithdrawal(now, reached).withdrawing }),
    nodes: [...new Set([...now.nodes, ...resolved.nodes])].sort(),
    ...(now.identities === undefined && resolved.identities === undefined
      ? {}
      : { identities: { ...resolved.identities, ...now.identities } }),
  }));
}

/** Changes a lock file while no other process does; a change without effect writes nothing. */
export const changeLock = (place: LockPlace, change: (now: ClusterLock) => ClusterLock): Promise<boolean> =>
  holdFile(place.path, () => {
    const now = readLock(place);
    const text = renderLock(change(now));
    if (text === renderLock(now)) return false;
    replaceFile(place.path, text);
    return true;
  });

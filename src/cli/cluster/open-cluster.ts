import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { LoadedCluster } from '../../config/load-cluster-with.ts';
import { emptyLock } from '../../config/lock.ts';
import { renderLock, withPin } from '../../config/lock-text.ts';
import { judgeHolds } from '../../desired/resolve.ts';
import { selectNodes } from '../../desired/select.ts';
import { withOtherMac, withoutWithdrawal } from '../../desired/settle/settle.ts';
import { diagnose, failure } from '../../diagnostics/diagnose.ts';
import { countText, type Diagnostic, FleetError, hasErrors, hasTrait } from '../../diagnostics/diagnostic.ts';
import { commandText } from '../../diagnostics/prose-text.ts';
import { loadCluster, parseLock } from '../../engine/load-cluster.ts';
import type { ClusterLock, HostKey } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { findClusterFile, isInside, lockFileFor, realPath, simFolder } from '../files/places.ts';
import { openToOthers, type ReadFile, readFile, readIfThere, shownPath, thisReader } from '../files/read-file.ts';
import { replaceFile, useFileAlone } from '../files/write-file.ts';
import { annotate, showDiagnostics } from '../terminal/console.ts';
import type { Run } from '../verb.ts';
import { doublesText } from './doubles.ts';
import { withGatewayProgram } from './gateway-program.ts';

export interface JudgedFiles {
  /** Finds a key's source range by its JSON pointer; absent if the file has errors. */
  readonly whereIs?: LoadedCluster['whereIs'];
  /** Absolute path. */
  readonly path: string;
  readonly shown: string;
  readonly lockPath: string;
  readonly fleet: DesiredFleet | undefined;
  readonly lock: ClusterLock;
  readonly diagnostics: readonly Diagnostic[];
  /** File texts by displayed name, used to quote lines. */
  readonly sources: Readonly<Record<string, string>>;
}

export interface OpenedCluster extends Pick<JudgedFiles, 'path' | 'lockPath' | 'lock' | 'whereIs'> {
  readonly fleet: DesiredFleet;
  /** Warnings about both files. Without `--json`, they have already been shown. */
  readonly warnings: readonly Diagnostic[];
}

/** The path of the cluster file. @throws FleetError `cli/no-cluster-file` */
export function requireClusterFile(run: Run): string {
  const path = findClusterFile(run.options.file, run.env, run.folder);
  if (path !== undefined) return path;
  throw failure('cli/no-cluster-file', {
    detail: `There is no cluster.yaml in this folder or above it: ${run.folder}`,
  });
}

/** Reads and checks the cluster file and its lock; returns all problems. @throws FleetError `cli/cannot-read`. */
export function judgeFiles(run: Run): JudgedFiles {
  const path = requireClusterFile(run);
  const lockPath = lockFileFor(path);
  const [shown, shownLock] = [shownPath(run.folder, path), shownPath(run.folder, lockPath)];
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
      ...shownOf(path, shown, loaded.diagnostics),
      ...shownOf(lockPath, shownLock, locked?.diagnostics ?? []),
      ...openToOthers(shown, file, reader),
      ...(lockFile === undefined ? [] : openToOthers(shownLock, lockFile, reader)),
    ],
    sources: { [shown]: file.text, ...(lockFile === undefined ? {} : { [shownLock]: lockFile.text }) },
  };
}

/** The problems in a file. A link that leads out of its folder may lead to a private file, so none of them is shown. */
function shownOf(path: string, shown: string, problems: readonly Diagnostic[]): readonly Diagnostic[] {
  if (isInside(dirname(path), path) || !hasErrors(problems)) return problems;
  const detail = `${shown} is a link to ${realPath(path)}, which is not valid. Nothing of that file is shown.`;
  return [diagnose('cli/cannot-read', { detail, subject: namedSubject(shown), hint: 'Check where the link leads.' })];
}

const warned = new WeakSet<Run['console']>();

/**
 * Reads, checks and resolves the cluster file and its lock. Shows the number of warnings.
 * @throws FleetError with all errors in the files (exit 65) and their source lines
 */
export function openCluster(run: Run): OpenedCluster {
  const { path, shown, lockPath, fleet, lock, diagnostics, sources, whereIs } = judgeFiles(run);
  refuseErrors(diagnostics, sources);
  if (!fleet) throw failure('yaml/syntax', { detail: `${shown} does not describe a cluster.` }, { sources });
  // A command that opens the file several times says this once.
  if (!warned.has(run.console)) {
    warned.add(run.console);
    annotate(
      run.console,
      diagnostics.filter((one) => run.options.json === true || !hasTrait(one, 'urgent')),
    );
    if (!run.options.json) {
      showWarnings(run, shown, diagnostics);
      run.console.err(doublesText(run, path, fleet));
    }
  }
  const judged = withGatewayProgram(judgeHolds(fleet, Date.now()));
  return { path, lockPath, fleet: judged, lock, whereIs, warnings: diagnostics };
}

/** @throws FleetError with all these problems, if any; `sources` contains file texts by file name */
export function refuseAny(problems: readonly Diagnostic[], sources: Readonly<Record<string, string>> = {}): void {
  const [first, ...others] = problems;
  if (first) throw new FleetError([first, ...others], { sources });
}

/** @throws FleetError with all errors among these problems, if any */
export const refuseErrors: typeof refuseAny = (diagnostics, sources) =>
  refuseAny(
    diagnostics.filter((one) => one.severity === 'error'),
    sources,
  );

/** Only counts warnings about the file's contents, but immediately shows who else can change the file. */
function showWarnings(run: Run, shown: string, diagnostics: readonly Diagnostic[]): void {
  const isUrgent = (one: Diagnostic): boolean => hasTrait(one, 'urgent');
  showDiagnostics(run.console, diagnostics.filter(isUrgent));
  const others = diagnostics.filter((one) => !isUrgent(one));
  if (others.length === 0) return;
  run.console.err(
    `${shown}: ${countText(others)}; ${commandText(meshwright('validate'), run.console)} shows ${others.length === 1 ? 'it' : 'them'}\n`,
  );
}

export interface LockPlace {
  /** Absolute path. */
  readonly path: string;
  readonly shown: string;
}

/**
 * The lock; an empty lock if the file does not exist yet. Warns if others can change the file.
 * @throws FleetError if the file is damaged, or if others can change it and `CI=true`
 */
export function openLock(run: Run, { path, shown }: LockPlace): ClusterLock {
  const file = readIfThere(path, shown);
  if (file !== undefined) refuseOpenToOthers(run, shown, file);
  return parsedLock(file, { path, shown });
}

/** Warns if others can change a file. @throws FleetError `cli/file-open-to-others` with `CI=true` */
export function refuseOpenToOthers(run: Run, shown: string, file: ReadFile): void {
  const problems = openToOthers(shown, file, thisReader(run.env));
  refuseErrors(problems);
  if (!run.options.json) showDiagnostics(run.console, problems);
}

/** Reads the lock like {@link openLock}, but without its warning, for a file opened before. @throws FleetError */
export const readLock = (place: LockPlace): ClusterLock => parsedLock(readIfThere(place.path, place.shown), place);

function parsedLock(file: ReadFile | undefined, { path, shown }: LockPlace): ClusterLock {
  if (file === undefined) return emptyLock(shown);
  const { lock, diagnostics } = parseLock(file.text, shown);
  refuseErrors(shownOf(path, shown, diagnostics), { [shown]: file.text });
  return lock ?? emptyLock(shown);
}

/** The nodes selected by the arguments, `--nodes` and `--label`, or else all nodes. */
export function targetedNodes(run: Run, fleet: DesiredFleet, words: readonly string[]): readonly DesiredNode[] {
  const names = [...words, ...(run.options.nodes ?? [])];
  const { nodes, diagnostics } = selectNodes(fleet, { names, labels: run.options.label ?? [] });
  refuseAny(diagnostics);
  return nodes;
}

/** A simulated fleet's lock, which is next to its run file and separate from the cluster's own lock. */
export const simLockPlace = (folder: string): LockPlace => ({
  path: join(folder, 'cluster.lock'),
  shown: 'the simulated cluster.lock',
});

/** The lock of a run: the committed lock; with `--sim`, the simulated fleet's lock. */
export const lockPlaceOf = (run: Run, { path, lockPath }: Pick<OpenedCluster, 'path' | 'lockPath'>): LockPlace =>
  run.options.sim ? simLockPlace(simFolder(run.env, path)) : { path: lockPath, shown: shownPath(run.folder, lockPath) };

export function openKeeper(run: Run, opened: OpenedCluster): LockKeeper {
  const place = lockPlaceOf(run, opened);
  return createLockKeeper({ ...place, lock: run.options.sim ? readLock(place) : opened.lock });
}

export type LockKeeper = ReturnType<typeof createLockKeeper>;

const pinsIn = (lock: ClusterLock, name: string): readonly HostKey[] =>
  Object.hasOwn(lock.hostKeys, name) ? (lock.hostKeys[name] ?? []) : [];

/** A keeper for one lock file. Each pin is written immediately, so that an interruption does not lose any. */
export function createLockKeeper(at: LockPlace & { readonly lock: ClusterLock }) {
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
    if (!isDeepStrictEqual(pinTexts(pins), pinTexts(pinsIn(lock, name)))) {
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
    pins: (name: string) => pinsIn(lock, name),
    prebootPins: (name: string): readonly HostKey[] => lock.prebootKeys?.[name] ?? [],
    /**
     * Pins a key. `isReplacing` drops all other keys of the name, including FileVault keys, because the Mac may be a
     * different one. Pins that another process wrote for other names stay.
     * @throws FleetError `enroll/pins-changed` if another process changed this name's pins, `cli/cannot-write`
     */
    pin: (name: string, key: HostKey, isReplacing: boolean) => write((now) => pinInto(now, name, key, isReplacing)),
    identities: (): Readonly<Record<string, Digest>> => lock.identities ?? {},
    /** Replaces any earlier identity of the node. @throws FleetError `cli/cannot-write` */
    recordMac: (node: string, identity: Digest) => write((now) => withOtherMac(now, node, identity)),
    /**
     * Pins a Mac's FileVault key, replacing a key of the same type; `isReplacing` drops all other FileVault keys.
     * @throws FleetError `cli/cannot-write`
     */
    pinPreboot: (name: string, key: HostKey, isReplacing: boolean) =>
      write((now) => withPin(isReplacing ? withoutPreboot(now, name) : now, name, key, 'prebootKeys')),
    /** Drops a Mac's FileVault keys. @throws FleetError `cli/cannot-write` */
    forgetPreboot: (name: string) => write((now) => withoutPreboot(now, name)),
  };
}

function withoutPreboot({ prebootKeys, ...lock }: ClusterLock, name: string): ClusterLock {
  const others = Object.entries(prebootKeys ?? {}).filter(([other]) => other !== name);
  return others.length === 0 ? lock : { ...lock, prebootKeys: Object.fromEntries(others) };
}

const pinTexts = (pins: readonly HostKey[]): ReadonlySet<string> =>
  new Set(pins.map(({ type, base64 }) => `${type} ${base64}`));

const pinsChanged = (name: string, shown: string): FleetError =>
  failure('enroll/pins-changed', {
    subject: namedSubject(shown),
    detail: prose`The keys of ${named(name)} in ${shown} just changed. Nothing was pinned.`,
  });

/**
 * Writes resolved values to a lock file if its text changes. Keeps the file's current pins, and the nodes and
 * identities that another process has added.
 * @param reached nodes with a successful login, which are therefore not being withdrawn
 * @returns true if the file was written
 * @throws FleetError `cli/cannot-write`, or if the file can no longer be read
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

/** Changes a lock file exclusively. Writes nothing if the change has no effect. */
export const changeLock = (place: LockPlace, change: (now: ClusterLock) => ClusterLock): Promise<boolean> =>
  useFileAlone(place.path, () => {
    const now = readLock(place);
    const text = renderLock(change(now));
    if (text === renderLock(now)) return false;
    replaceFile(place.path, text);
    return true;
  });

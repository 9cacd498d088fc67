import type { LoadedCluster } from '../../config/load-cluster-with.ts';
import { emptyLock } from '../../config/lock.ts';
import { judgeHolds } from '../../desired/resolve.ts';
import { selectNodes } from '../../desired/select.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { countText, type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { commandText } from '../../diagnostics/prose-text.ts';
import { loadCluster, parseLock } from '../../engine/load-cluster.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import { meshwright } from '../../model/text/command.ts';
import { findClusterFile, lockFileFor } from '../files/places.ts';
import { openToOthers, type ReadFile, readFile, readIfThere, shownPath, thisReader } from '../files/read-file.ts';
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

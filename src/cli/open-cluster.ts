import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { loadCluster } from '../config/load-cluster.ts';
import { parseLock } from '../config/lock.ts';
import { selectNodes } from '../desired/select.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { ClusterLock } from '../model/cluster-lock.ts';
import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import { showDiagnostics } from './diagnostics-output.ts';
import { findClusterFile, lockFileFor } from './find-cluster.ts';
import type { Run } from './verb.ts';

/** A cluster file that has been read and judged, with its lock. */
export interface OpenedCluster {
  /** Absolute path. */
  readonly path: string;
  readonly lockPath: string;
  readonly fleet: DesiredFleet;
  readonly lock: ClusterLock;
}

/** Text of a file. @throws FleetError `cli/cannot-read`. */
export function readText(path: string, shown: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FleetError(
      [diagnose('cli/cannot-read', { detail: `${shown} cannot be read: ${why}.`, subject: shown })],
      {
        cause: error,
      },
    );
  }
}

/** The path of the cluster file, or a FleetError `cli/no-cluster-file`. */
export function requireClusterFile(run: Run): string {
  const path = findClusterFile(run.options.file, run.env, run.folder);
  if (path !== undefined) return path;
  throw new FleetError([
    diagnose('cli/no-cluster-file', {
      detail: `Neither this folder nor one above it has a cluster.yaml: ${run.folder}`,
    }),
  ]);
}

/** How a path is shown: relative to the current folder when that is shorter to read. */
export function shownPath(folder: string, path: string): string {
  const near = relative(folder, path);
  return near === '' || near.startsWith('..') ? path : near;
}

/**
 * Reads, judges and resolves the cluster file and its lock; warnings are shown.
 * @throws FleetError with every problem of the file (exit 65), after their source lines have been shown.
 */
export function openCluster(run: Run): OpenedCluster {
  const path = requireClusterFile(run);
  const shown = shownPath(run.folder, path);
  const text = readText(path, shown);
  const loaded = loadCluster(text, shown);
  const [first, ...others] = loaded.diagnostics.filter((one) => one.severity === 'error');
  if (first || !loaded.fleet) {
    throw new FleetError([first ?? diagnose('yaml/syntax', { detail: `${shown} gives no cluster.` }), ...others], {
      sources: { [shown]: text },
    });
  }
  if (!run.options.json) showDiagnostics(run.console, loaded.diagnostics, { [shown]: text });
  const lockPath = lockFileFor(path);
  return { path, lockPath, fleet: loaded.fleet, lock: openLock(lockPath, shownPath(run.folder, lockPath)) };
}

/** The lock file, or an empty one when there is none yet. @throws FleetError when it is damaged. */
export function openLock(path: string, shown: string): ClusterLock {
  const text = readIfThere(path, shown);
  if (text === undefined) return { file: shown, hostKeys: {} };
  const { lock, diagnostics } = parseLock(text, shown);
  const [first, ...others] = diagnostics.filter((one) => one.severity === 'error');
  if (first) throw new FleetError([first, ...others], { sources: { [shown]: text } });
  return lock ?? { file: shown, hostKeys: {} };
}

/** Text of a file, or undefined when it does not exist. @throws FleetError `cli/cannot-read`. */
export function readIfThere(path: string, shown: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    return readText(path, shown);
  }
}

/** The nodes that the words, `--nodes` and `--label` select; all of them when nothing selects. */
export function targetedNodes(run: Run, fleet: DesiredFleet, words: readonly string[]): readonly DesiredNode[] {
  const names = [...words, ...(run.options.nodes ?? [])];
  const { nodes, diagnostics } = selectNodes(fleet, { names, labels: run.options.label ?? [] });
  const [first, ...others]: readonly Diagnostic[] = diagnostics;
  if (first) throw new FleetError([first, ...others]);
  return nodes;
}

import { readArchive, readFolder } from '../../src/cli/sources/controller-source.ts';
import { folderSource, readShape } from '../../src/cli/sources/read-shapes.ts';
import { type SettledFleet, settleFleet, settleShapes } from '../../src/desired/settle/settle.ts';
import { type LocalPlace, sourcesToRead } from '../../src/desired/settle/settle-trees.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { keysByDriver } from '../../src/drivers/registry.ts';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import type { ClusterLock } from '../../src/model/cluster-lock.ts';
import { type FileValue, fileText } from './converge-file.ts';
import { keysOf, withBuiltGateway } from './published-sources.ts';

/** A resolved cluster file, or the codes of its errors. */
export type Read =
  | { readonly kind: 'settled'; readonly settled: SettledFleet }
  | { readonly kind: 'refused'; readonly codes: readonly string[] };

const errorsIn = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);

const byName = async <T>(
  places: readonly LocalPlace[],
  read: (path: string, signal: AbortSignal) => Promise<T>,
): Promise<Readonly<Record<string, T>>> => {
  const { signal } = new AbortController();
  const all = places.map(async ({ name, path }) => [name, await read(path, signal)] as const);
  return Object.fromEntries(await Promise.all(all));
};

/** Reads the headers of models on this computer. */
async function withShapes(settled: SettledFleet): Promise<SettledFleet> {
  const read = settled.fleet.models.map(async ({ name, source, files }) => {
    const paths = files.map(({ path }) => path);
    return source.kind === 'controller' ? [[name, await readShape(folderSource(source.folder), paths)] as const] : [];
  });
  const facts = Object.fromEntries((await Promise.all(read)).flat());
  const { models, shapes } = settleShapes(settled.fleet.models, settled.lock, facts);
  const lock = { ...settled.lock, ...(shapes === undefined ? {} : { shapes }) };
  return { ...settled, fleet: { ...settled.fleet, models }, lock };
}

/** Resolves a cluster file as the command line does. */
export async function readFile(file: FileValue, lock: ClusterLock, folder: string): Promise<Read> {
  const { fleet: loaded, diagnostics } = loadCluster(fileText(file), 'cluster.yaml');
  if (loaded === undefined) return { kind: 'refused', codes: errorsIn(diagnostics) };
  const fleet = withBuiltGateway(loaded);
  const local = sourcesToRead(fleet, lock, folder).filter((one) => one.kind === 'controller');
  const sources = {
    archives: await byName(
      local.filter(({ isFolder }) => !isFolder),
      readArchive,
    ),
    folders: await byName(
      local.filter(({ isFolder }) => isFolder),
      readFolder,
    ),
    keys: keysOf(fleet),
  };
  const settled = await withShapes(settleFleet(fleet, lock, sources, folder, keysByDriver));
  const codes = errorsIn(settled.diagnostics);
  return codes.length === 0 ? { kind: 'settled', settled } : { kind: 'refused', codes };
}

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type NodeTarget, type UseLimits, withRemote } from '../../apply/reach/session.ts';
import {
  madeList,
  mostListBytes,
  mostWheelBytes,
  requirementsName,
  wheelName,
} from '../../desired/settle/python-packages.ts';
import type { ListedPackage } from '../../model/desired.ts';
import { type Digest, digest } from '../../model/digest.ts';
import type { NodePath } from '../../model/probe.ts';
import { stagedBuild, stagedList, stagedWheel } from '../../node/paths/own-paths.ts';
import { mostArchiveBytes } from '../../rack/artifacts/runtimes/build-archive.ts';
import { isListed, type UnmadeRuntime } from '../../rack/artifacts/runtimes/list-packages.ts';
import type { Remote } from '../../remote/remote.ts';
import { replaceFile } from '../files/write-file.ts';
import { readNodeBytes } from '../sources/read-shapes.ts';

interface MadeFiles {
  readonly list: Buffer;
  /** The wheel or the archive. */
  readonly built?: Buffer;
}

/** A lost connection is replaced this many times. */
const mostTries = 3;

/**
 * Reads the files that a node has made, checks them and writes them next to the cluster file.
 * @returns the problem; undefined if they were written
 */
export async function takeMade(
  one: UnmadeRuntime,
  way: NodeTarget,
  limits: UseLimits & { readonly deadlineMs: number },
): Promise<string | undefined> {
  const held = new Map<string, Buffer[]>();
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const read = await withRemote(way, limits, (remote) => readMade({ remote, held, ...limits }, one));
    if (read.kind === 'unreached') continue;
    if (typeof read.value === 'string') return read.value;
    const { made } = one;
    return isListed(made) ? writeList(one, made, read.value, way.node) : writeArchive(one, read.value);
  }
  return 'The node was lost before the result was read.';
}

function writeList(
  one: UnmadeRuntime,
  lists: ListedPackage,
  { list, built }: MadeFiles,
  maker: string,
): string | undefined {
  const made = madeList(lists, list.toString('utf8'), maker, built && sha256Of(built));
  if ('problem' in made) return made.problem;
  // The list comes last, because it completes the two.
  if (built !== undefined) write(extraPath(one, wheelName), built);
  write(extraPath(one, requirementsName), made.text);
  return undefined;
}

function writeArchive({ runtime }: UnmadeRuntime, { list, built }: MadeFiles): string | undefined {
  if (built === undefined || list.toString('utf8') !== `${sha256Of(built)}\n`) {
    return 'The archive that was read has other bytes than the one that was built.';
  }
  write(runtime.archive, built);
  return undefined;
}

const sha256Of = (bytes: Buffer): Digest => digest(createHash('sha256').update(bytes).digest('hex'));

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, content);
}

/** The absolute path of the list or the wheel. */
const extraPath = ({ runtime: { extras } }: UnmadeRuntime, wanted: string): string =>
  extras.find(({ name, lists }) => name === wanted && lists !== undefined)?.source ?? '';

interface MadeReader {
  readonly remote: Remote;
  readonly deadlineMs: number;
  /** The bytes of each file that were read before, also over an earlier connection. */
  readonly held: Map<string, Buffer[]>;
}

async function readMade(reading: MadeReader, { tree, made }: UnmadeRuntime): Promise<MadeFiles | string> {
  const name = isListed(made) ? 'list' : 'sha256';
  const list = await readFile(reading, { name, path: stagedList(tree), most: mostListBytes });
  if (typeof list === 'string' || made.source === undefined) return typeof list === 'string' ? list : { list };
  const wanted = isListed(made)
    ? { name: 'wheel', path: stagedWheel(tree), most: mostWheelBytes }
    : { name: 'archive', path: stagedBuild(tree), most: mostArchiveBytes };
  const built = await readFile(reading, wanted);
  return typeof built === 'string' ? built : { list, built };
}

/** Bytes in one answer, which is kept in memory three times as text. */
const chunkBytes = 8_388_608;

async function readFile(
  { remote, deadlineMs, held }: MadeReader,
  { name, path, most }: { readonly name: string; readonly path: NodePath; readonly most: number },
): Promise<Buffer | string> {
  const parts = held.get(name) ?? [];
  held.set(name, parts);
  for (;;) {
    const from = parts.reduce((sum, part) => sum + part.length, 0);
    const range = { path, from, to: Math.min(most, from + chunkBytes) };
    const { found } = await readNodeBytes(remote, range, deadlineMs);
    if (found?.kind !== 'read') return `The ${name} could not be read.`;
    if (found.fileBytes > most) return `The ${name} has more than ${most} bytes.`;
    parts.push(Buffer.from(found.bytes));
    if (range.to >= found.fileBytes) return Buffer.concat(parts);
  }
}

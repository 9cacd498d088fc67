import { forEachLimited } from '../../apply/for-each-limited.ts';
import type { ShapeFact } from '../../model/fit/model-shape.ts';
import type { Header, TensorBytes } from '../../rack/artifacts/shapes/file-header.ts';
import { type GgufHeader, ggufHeader } from '../../rack/artifacts/shapes/gguf.ts';
import { ggufShape } from '../../rack/artifacts/shapes/gguf-shape.ts';
import { safetensorsHeader, utf8 } from '../../rack/artifacts/shapes/safetensors.ts';
import { safetensorsShape } from '../../rack/artifacts/shapes/safetensors-shape.ts';
import { shapeFiles } from '../../rack/artifacts/shapes/shape-files.ts';
import type { ByteSource } from './byte-source.ts';

/** Read first of each file: the header of most parts fits. */
const firstBytes = 131_072;
const mostConfigBytes = 4 * 2 ** 20;
/** Files whose headers are read at once. */
const atOnce = 8;
/** All headers of one model together: those of the largest take some tens of megabytes. */
const mostBytes = 512 * 2 ** 20;

const unknown = (why: string): ShapeFact => ({ kind: 'unknown', why });

/** The shape of a model from the headers of its files: nothing else of them is read. Rejects only when aborted. */
export async function readShape(source: ByteSource, paths: readonly string[]): Promise<ShapeFact> {
  const files = shapeFiles(paths);
  switch (files.kind) {
    case 'none':
      return unknown(files.why);
    case 'gguf':
      return readGguf(source, files.weights);
    case 'safetensors': {
      const config = await readText(source, files.config);
      if (config.kind === 'unknown') return config;
      const headers = await readHeaders(source, files.weights, safetensorsHeader);
      return headers.kind === 'unknown'
        ? headers
        : safetensorsShape(
            config.text,
            headers.all.flatMap(({ tensors }) => tensors),
          );
    }
  }
}

async function readGguf(source: ByteSource, weights: readonly string[]): Promise<ShapeFact> {
  const headers = await readHeaders<GgufHeader>(source, weights, ggufHeader);
  if (headers.kind === 'unknown') return headers;
  const [first] = headers.all;
  const metadata: GgufHeader['metadata'] = first?.metadata ?? new Map();
  return ggufShape(
    metadata,
    headers.all.flatMap(({ tensors }) => tensors),
  );
}

type Unknown = Extract<ShapeFact, { kind: 'unknown' }>;

/** A whole text of at most so many bytes: 4 MiB unless said. */
export async function readText(
  source: ByteSource,
  path: string,
  most = mostConfigBytes,
): Promise<{ readonly kind: 'text'; readonly text: string } | Unknown> {
  const found = await source.read(path, 0, most);
  if (found.kind === 'failed') return { kind: 'unknown', why: `${path} ${found.why}` };
  if (found.fileBytes > most) return { kind: 'unknown', why: `${path} has more than ${most / 2 ** 20} MiB` };
  const text = utf8(found.bytes);
  return text === undefined ? { kind: 'unknown', why: `${path} is not UTF-8` } : { kind: 'text', text };
}

type ReadHeader<Read> = (start: Uint8Array, fileBytes: number) => Header<Read>;

/** The headers of all files, in their order; the first that cannot be had says why. */
async function readHeaders<Read extends { readonly tensors: readonly TensorBytes[] }>(
  source: ByteSource,
  paths: readonly string[],
  parse: ReadHeader<Read>,
): Promise<{ readonly kind: 'known'; readonly all: readonly Read[] } | Unknown> {
  const found = new Map<string, Read>();
  let problem: Unknown | undefined;
  let left = mostBytes;
  await forEachLimited(paths, atOnce, async (path) => {
    if (problem !== undefined) return;
    const header = await readHeader(source, path, parse);
    left -= header.kind === 'known' ? header.bytes : 0;
    if (header.kind === 'unknown') problem ??= header;
    else if (left < 0) problem ??= { kind: 'unknown', why: 'its headers have more than 512 MiB together' };
    else found.set(path, header.header);
  });
  return problem ?? { kind: 'known', all: paths.flatMap((path) => found.get(path) ?? []) };
}

async function readHeader<Read>(
  source: ByteSource,
  path: string,
  parse: ReadHeader<Read>,
): Promise<{ readonly kind: 'known'; readonly header: Read; readonly bytes: number } | Unknown> {
  let start = new Uint8Array();
  let wanted = firstBytes;
  for (;;) {
    const piece = await source.read(path, start.length, wanted);
    if (piece.kind === 'failed') return { kind: 'unknown', why: `${path} ${piece.why}` };
    start = Buffer.concat([start, piece.bytes]);
    const header = parse(start, piece.fileBytes);
    if (header.kind === 'known') return { kind: 'known', header, bytes: start.length };
    if (header.kind === 'damaged') return { kind: 'unknown', why: `the header of ${path} ${header.why}` };
    // Twice as much each time: a vocabulary is asked for a few times, and not once for each of its words.
    wanted = Math.max(header.bytes, 2 * start.length);
  }
}

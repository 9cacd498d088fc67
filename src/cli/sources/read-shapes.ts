import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type NodeTarget, type UseLimits, withRemote } from '../../apply/reach/session.ts';
import { loadedModels } from '../../desired/layouts.ts';
import { mirrored } from '../../desired/mirror.ts';
import { type NodeSelector, selectNodes } from '../../desired/select.ts';
import type { ShapeFacts } from '../../desired/settle/settle.ts';
import { systemCode } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredModel, DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { ShapeFact } from '../../model/model-shape.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { nodeBytesCommand, nodeBytesLimit, parseNodeBytes } from '../../node/node-bytes.ts';
import { nodePath } from '../../node/paths/node-paths.ts';
import { isReader } from '../../rack/artifacts/models/model-resource.ts';
import { type GgufHeader, ggufHeader, ggufShape } from '../../rack/artifacts/shapes/gguf.ts';
import {
  type Header,
  safetensorsHeader,
  shapeFiles,
  type TensorBytes,
  utf8,
} from '../../rack/artifacts/shapes/safetensors.ts';
import { safetensorsShape } from '../../rack/artifacts/shapes/safetensors-shape.ts';
import { forEachLimited } from '../../remote/limit-parallel.ts';
import type { Remote } from '../../remote/remote.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { hostRequest, needTrust } from '../cluster/trust.ts';
import { withProgress } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { httpGet, type WebAccess, type WebAnswer, webAccess } from './http-get.ts';
import { type HubAccess, withToken } from './hub.ts';
import { hubAccess } from './hub-source.ts';
import { rehearsalWeb } from './simulated-web.ts';

/** The number of nodes that are tried for a model with files on the nodes. */
const mostTries = 2;

/**
 * Reads the shape of each resolved model without one, by name, from a local folder, a server, or up to two nodes that
 * load the model. A rehearsal contacts no real server, and no run contacts a node that its options exclude.
 */
export async function readShapes(
  run: Run,
  opened: OpenedCluster,
  fleet: Pick<DesiredFleet, 'nodes' | 'models' | 'placements' | 'runtimes'>,
): Promise<ShapeFacts> {
  const selection = { names: run.options.nodes ?? [], labels: run.options.label ?? [] };
  const onNodes = async (model: DesiredModel): Promise<ShapeFact> => {
    const found = readersOf(fleet, model, selection).slice(0, mostTries);
    const ways = found.length === 0 ? [] : await openTargets(run, opened).toAll(found);
    return readNodeShape(ways, model, useLimits(run));
  };
  const wanted = fleet.models.filter(({ shape, digest }) => shape === undefined && digest !== undefined);
  // Without a prototype, because `constructor` is a valid model name.
  const read: Record<string, ShapeFact> = Object.create(null);
  if (wanted.length === 0) return read;
  await withProgress(run.console, ['reading headers', wanted], (done) =>
    Promise.all(
      wanted.map(async (model) => {
        read[model.name] = await (model.source.kind === 'node' ? onNodes(model) : shapeOf(run, opened, model));
        done(model.name);
      }),
    ),
  );
  return read;
}

/** The selected nodes that load a model's files, in the order of its first placement. */
export function readersOf(
  { nodes, placements, runtimes }: Pick<DesiredFleet, 'nodes' | 'placements' | 'runtimes'>,
  model: Pick<DesiredModel, 'name'>,
  selection: NodeSelector,
): readonly DesiredNode[] {
  const placement = placements.find((one) => loadedModels(one).includes(model.name));
  if (placement === undefined) return [];
  const chosen = selectNodes({ nodes }, selection).nodes;
  const names = placement.nodes.filter((name) => isReader({ runtimes }, placement, name));
  return names.flatMap((name) => chosen.filter((node) => node.name === name));
}

async function shapeOf(
  run: Run,
  opened: OpenedCluster,
  { name, source, files, hub, listedAt }: DesiredModel,
): Promise<ShapeFact> {
  const paths = files.map(({ path }) => path);
  switch (source.kind) {
    case 'node':
      return unknownShape('its files are on the nodes');
    case 'controller':
      return readShape(folderSource(source.folder), paths);
    case 'hub':
      return unknownShape('its files are not known yet');
    case 'url': {
      if (hub === undefined) {
        const web = await rehearsalWeb(run, opened.path, 'the servers of models');
        if (web !== undefined && ('kind' in web || listedAt === undefined)) {
          return unknownShape('a rehearsal does not contact its server');
        }
        if (web === undefined) await needTrust(run, hostRequest(source.base, name));
        return readShape(urlSource(source.base, webAccess(run, web?.ca)), paths);
      }
      const access = await hubAccess(run, opened);
      if ('kind' in access) return unknownShape('Hugging Face could not be asked');
      const base = run.options.sim ? mirrored(source.base, access.downloads) : source.base;
      return readShape(urlSource(base, access), paths);
    }
  }
}

/**
 * A folder on a node, over an existing connection. Refuses a file if its size, or the sha256 of a completely read file,
 * differs from the declared one, because its shape would be stored as the declared file's shape.
 * @param deadlineMs time limit for each piece
 */
export const nodeSource = (
  remote: Remote,
  { folder, files }: Pick<DesiredModel, 'files'> & { readonly folder: string },
  deadlineMs: number,
): ByteSource => ({
  read: async (path, from, to) => {
    const range = { path: nodePath(`/${`${folder}/${path}`.replace(/^\/+/, '')}`), from, to };
    const { exit, found } = await readNodeBytes(remote, range, deadlineMs);
    if (!isSuccess(exit)) return failed(`cannot be read (${exitText(exit)})`);
    if (found === undefined) return failed('arrived in an unexpected format');
    if (found.kind !== 'read')
      return failed(found.kind === 'none' ? 'does not exist' : 'cannot be read: no permission');
    const declared = files.find((file) => file.path === path);
    const wrong = differenceTo(declared, found, from);
    return wrong === undefined ? found : failed(wrong);
  },
});

/** Reads bytes of a file on a node; `found` is undefined if the answer is incomplete or in an unexpected format. */
export async function readNodeBytes(remote: Remote, range: Parameters<typeof nodeBytesCommand>[0], deadlineMs: number) {
  const limits = { name: 'read-file', deadlineMs, isDeadlineIdle: true, maxBytes: nodeBytesLimit(range) };
  const { exit, stdout, isTruncated } = await remote.exec(nodeBytesCommand(range, remote.rootPrefix), limits);
  const isWhole = isSuccess(exit) && !isTruncated;
  return { exit, found: isWhole ? parseNodeBytes(Buffer.from(stdout).toString('latin1'), range) : undefined };
}

function differenceTo(
  declared: TreeFile | undefined,
  { bytes, fileBytes }: Extract<ReadBytes, { kind: 'read' }>,
  from: number,
): string | undefined {
  if (declared === undefined) return undefined;
  if (fileBytes !== declared.sizeBytes) return `has ${fileBytes} bytes instead of ${declared.sizeBytes}`;
  const isWhole = from === 0 && bytes.length === fileBytes;
  const isOther = isWhole && createHash('sha256').update(bytes).digest('hex') !== declared.sha256;
  return isOther ? 'does not have the sha256 in the cluster file' : undefined;
}

/** The shape of a model with files on the nodes, from the first of these nodes that can be reached. */
export async function readNodeShape(
  ways: readonly NodeTarget[],
  { source, files }: DesiredModel,
  limits: UseLimits,
): Promise<ShapeFact> {
  const paths = files.map(({ path }) => path);
  if (source.kind !== 'node') return unknownShape('its files are not on the nodes');
  const { folder } = source;
  const lost: string[] = [];
  for (const way of ways) {
    const reached = await withRemote(way, limits, (remote) =>
      readShape(nodeSource(remote, { folder, files }, limits.deadlineMs), paths),
    );
    if (reached.kind === 'unreached') {
      lost.push(way.node);
      continue;
    }
    const { value } = reached;
    if (value.kind === 'known') return value;
    return unknownShape([`${value.why} on ${way.node}`, ...unreachedText(lost)].join('; '));
  }
  const [why = 'none of the selected nodes loads it'] = unreachedText(lost);
  return unknownShape(why);
}

const unreachedText = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${names.join(' and ')} not reached`];

/** The first piece of each file, which contains the header of most parts. */
const headerBytes = 131_072;
const mostConfigBytes = 4 * 2 ** 20;
/** Files whose headers are read in parallel. */
const atOnce = 8;
/** The limit for all headers of one model. The largest models have some tens of megabytes. */
const mostBytes = 512 * 2 ** 20;

export const unknownShape = (why: string): Unknown => ({ kind: 'unknown', why });

/** The shape of a model, from its files' headers only. Rejects only when aborted. */
export async function readShape(source: ByteSource, paths: readonly string[]): Promise<ShapeFact> {
  const files = shapeFiles(paths);
  switch (files.kind) {
    case 'none':
      return unknownShape(files.why);
    case 'gguf':
      return readGguf(source, files.weights);
    case 'safetensors': {
      const config = await readText(source, files.config);
      if (config.kind === 'unknown') return config;
      const headers = await readHeaders(source, files.weights, safetensorsHeader);
      return headers.kind === 'unknown' ? headers : safetensorsShape(config.text, tensorsOf(headers.all));
    }
  }
}

async function readGguf(source: ByteSource, weights: readonly string[]): Promise<ShapeFact> {
  const headers = await readHeaders<GgufHeader>(source, weights, ggufHeader);
  if (headers.kind === 'unknown') return headers;
  return ggufShape(headers.all[0]?.metadata ?? new Map(), tensorsOf(headers.all));
}

const tensorsOf = (headers: readonly { readonly tensors: readonly TensorBytes[] }[]): readonly TensorBytes[] =>
  headers.flatMap(({ tensors }) => tensors);

type Unknown = Extract<ShapeFact, { kind: 'unknown' }>;

/** A whole text of at most this many bytes (default 4 MiB). */
export async function readText(
  source: ByteSource,
  path: string,
  most = mostConfigBytes,
): Promise<{ readonly kind: 'text'; readonly text: string } | Unknown> {
  const found = await source.read(path, 0, most);
  if (found.kind === 'failed') return unknownShape(`${path} ${found.why}`);
  if (found.fileBytes > most) return unknownShape(`${path} is larger than ${most / 2 ** 20} MiB`);
  const text = utf8(found.bytes);
  return text === undefined ? unknownShape(`${path} is not UTF-8`) : { kind: 'text', text };
}

type ReadHeader<Read> = (start: Uint8Array, fileBytes: number) => Header<Read>;

/** The headers of all files in order, or the reason for the first header that cannot be read. */
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
    else if (left < 0) problem ??= unknownShape('its headers are larger than 512 MiB in total');
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
  let wanted = headerBytes;
  for (;;) {
    const piece = await source.read(path, start.length, wanted);
    if (piece.kind === 'failed') return unknownShape(`${path} ${piece.why}`);
    start = Buffer.concat([start, piece.bytes]);
    const header = parse(start, piece.fileBytes);
    if (header.kind === 'known') return { kind: 'known', header, bytes: start.length };
    if (header.kind === 'damaged') return unknownShape(`the header of ${path} ${header.why}`);
    // The size doubles, to limit the number of requests for a large vocabulary.
    wanted = Math.max(header.bytes, 2 * start.length);
  }
}

/** Some bytes of a file and its total size; otherwise the reason, as a phrase that follows the file name. */
type ReadBytes =
  | { readonly kind: 'read'; readonly bytes: Uint8Array; readonly fileBytes: number }
  | { readonly kind: 'failed'; readonly why: string };

export interface ByteSource {
  /** Reads bytes from `from` to `to`; returns fewer at the end of the file. */
  readonly read: (path: string, from: number, to: number) => Promise<ReadBytes>;
}

const failed = (why: string): ReadBytes => ({ kind: 'failed', why });

export const folderSource = (folder: string): ByteSource => ({
  read: async (path, from, to) => {
    try {
      return await readFrom(join(folder, path), from, to);
    } catch (error) {
      const code = systemCode(error) ?? '';
      return failed(code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code})`);
    }
  },
});

async function readFrom(path: string, from: number, to: number): Promise<ReadBytes> {
  // A blocking open of a pipe would wait for a writer forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) return failed('is not a regular file');
    const bytes = new Uint8Array(Math.max(0, Math.min(to, found.size) - from));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) return failed('shrank while it was read');
      filled += bytesRead;
    }
    return { kind: 'read', bytes, fileBytes: found.size };
  } finally {
    await file.close();
  }
}

/** A server with files below this base URL, which must end in `/`; requests only byte ranges. */
export const urlSource = (base: string, { token, ...access }: WebAccess & Pick<HubAccess, 'token'>): ByteSource => ({
  read: async (path, from, to) => {
    const url = new URL(path.split('/').map(encodeURIComponent).join('/'), base);
    const range = `bytes=${from}-${to - 1}`;
    const answer = await withToken({ ...given({ token }) }, (headers) =>
      httpGet(url.href, { headers: { range, ...headers }, mostBytes: to - from, isCut: true }, access),
    );
    return 'why' in answer ? failed(`cannot be fetched: its server ${answer.why}`) : readAnswer(answer, from, to);
  },
});

function readAnswer({ status, header, body }: WebAnswer, from: number, to: number): ReadBytes {
  const isRange = status === 206;
  const fileBytes = isRange
    ? Number(/\/(\d{1,16})$/.exec(header('content-range') ?? '')?.[1] ?? Number.NaN)
    : Number(header('content-length') ?? Number.NaN);
  if (status !== 200 && !isRange) return failed(`failed with HTTP ${status}`);
  if (!isRange && from > 0) return failed('comes from a server without range requests');
  if (!Number.isSafeInteger(fileBytes)) return failed('came without a size');
  const bytes = body.subarray(0, Math.max(0, Math.min(to, fileBytes) - from));
  return bytes.length < Math.min(to, fileBytes) - from ? failed('ended too early') : { kind: 'read', bytes, fileBytes };
}

import { createHash } from 'node:crypto';
import { type NodeWay, type UseLimits, withRemote } from '../../apply/reach/with-remote.ts';
import type { DesiredModel } from '../../model/desired.ts';
import { exitText, isSuccess } from '../../model/exit.ts';
import type { ShapeFact } from '../../model/fit/model-shape.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { nodeBytesCommand, nodeBytesLimit, parseNodeBytes } from '../../node/node-bytes.ts';
import { nodePath } from '../../node/paths/node-paths.ts';
import type { Remote } from '../../remote/remote.ts';
import type { ByteSource, ReadBytes } from './byte-source.ts';
import { readShape } from './read-shape.ts';

/** Where files of a model lie on a node, and what the cluster file says of them. */
export interface NodeFolder {
  readonly folder: string;
  readonly files: readonly TreeFile[];
}

const failed = (why: string): ReadBytes => ({ kind: 'failed', why });

/**
 * A folder of a node, over a connection that is there. A file that is not the declared one, by its size or, where all of
 * it was read, by its sha256, cannot be read: its shape would be kept as that of the declared files.
 *
 * @param deadlineMs in which each piece has to move
 */
export const nodeSource = (remote: Remote, { folder, files }: NodeFolder, deadlineMs: number): ByteSource => ({
  read: async (path, from, to) => {
    const wish = { path: nodePath(`/${`${folder}/${path}`.replace(/^\/+/, '')}`), from, to };
    const { exit, stdout, isTruncated } = await remote.exec(nodeBytesCommand(wish, remote.rootPrefix), {
      name: 'read-file',
      deadlineMs,
      isDeadlineIdle: true,
      maxBytes: nodeBytesLimit(wish),
    });
    if (!isSuccess(exit)) return failed(`cannot be read (${exitText(exit)})`);
    const found = isTruncated ? undefined : parseNodeBytes(Buffer.from(stdout).toString('latin1'), wish);
    if (found === undefined) return failed('came in another form than was asked for');
    if (found.kind !== 'read') return failed(found.kind === 'none' ? 'is not there' : 'may not be read');
    const wrong = differenceTo(
      files.find((file) => file.path === path),
      found,
      from,
    );
    return wrong === undefined ? found : failed(wrong);
  },
});

function differenceTo(
  declared: TreeFile | undefined,
  { bytes, fileBytes }: Extract<ReadBytes, { kind: 'read' }>,
  from: number,
): string | undefined {
  if (declared === undefined) return undefined;
  if (fileBytes !== declared.sizeBytes) return `has ${fileBytes} bytes instead of ${declared.sizeBytes}`;
  const isWhole = from === 0 && bytes.length === fileBytes;
  const isOther = isWhole && createHash('sha256').update(bytes).digest('hex') !== declared.sha256;
  return isOther ? 'has another sha256 than the cluster file says' : undefined;
}

/** The shape of a model whose files lie on the nodes, from the first of these nodes that can be reached. */
export async function readNodeShape(
  ways: readonly NodeWay[],
  { source, files }: DesiredModel,
  limits: UseLimits,
): Promise<ShapeFact> {
  const paths = files.map(({ path }) => path);
  if (source.kind !== 'node') return { kind: 'unknown', why: 'its files do not lie on the nodes' };
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
    return { kind: 'unknown', why: [`${value.why} on ${way.node}`, ...unreachedText(lost)].join('; ') };
  }
  const [why = 'no node that this run may ask reads it'] = unreachedText(lost);
  return { kind: 'unknown', why };
}

const unreachedText = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${names.join(' and ')} cannot be reached`];

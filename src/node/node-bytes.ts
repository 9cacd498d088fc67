import type { NodePath } from '../model/probe.ts';
import { pathWord, rootLine, shellCommand, tool } from './paths/node-paths.ts';

/** Bytes of a file of a node. */
export interface NodeBytesWish {
  readonly path: NodePath;
  /** The first byte, from 0. */
  readonly from: number;
  /** The byte behind the last one; the file may end before. */
  readonly to: number;
}

/** What a node gave of a file. */
export type NodeBytes =
  | { readonly kind: 'read'; readonly fileBytes: number; readonly bytes: Uint8Array }
  /** There is no such file; or this user may not read it, or not look whether it is there. */
  | { readonly kind: 'none' | 'unreadable' };

/**
 * The command that prints the size of a file and some of its bytes, as the ssh user; a link counts as what it leads to.
 * Bytes go as base64, so that nothing in them can look like a head.
 */
export const nodeBytesCommand = ({ path, from, to }: NodeBytesWish, rootPrefix: string): string =>
  shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
f=${pathWord(path)}
d=$f
until [ -z "$d" ] || [ -e "$d" ] || [ -L "$d" ]; do d=\${d%/*}; done
if [ ! -e "$f" ] && { [ -z "$d" ] || { [ -e "$d" ] && [ ! -d "$d" ]; } || [ -x "$d" ]; }; then
  printf '@bytes none\\n'
  exit 0
fi
z=
[ ! -f "$f" ] || [ ! -r "$f" ] || z=$(${pathWord(tool.stat)} -L -f %z "$f" 2>/dev/null)
case $z in ('' | *[!0-9]*)
  printf '@bytes unreadable\\n'
  exit 0
;; esac
printf '@bytes %s\\n' "$z"
${pathWord(tool.tail)} -c +${from + 1} "$f" | ${pathWord(tool.head)} -c ${to - from} | ${pathWord(tool.base64)}
exit 0`);

/** The most that such an answer takes: base64 with a line end behind every 76 characters. */
export const nodeBytesLimit = ({ from, to }: Pick<NodeBytesWish, 'from' | 'to'>): number =>
  Math.ceil(((to - from) / 3) * 4 * (77 / 76)) + 1_024;

/** What {@link nodeBytesCommand} printed; `undefined` when it is anything else, or not the bytes that were asked for. */
export function parseNodeBytes(
  stdout: string,
  { from, to }: Pick<NodeBytesWish, 'from' | 'to'>,
): NodeBytes | undefined {
  const end = stdout.indexOf('\n');
  const head = stdout.slice(0, Math.max(0, end));
  const body = stdout.slice(end + 1).replaceAll('\n', '');
  const [, nowhere] = /^@bytes (none|unreadable)$/.exec(head) ?? [];
  if (nowhere !== undefined && body === '') return { kind: nowhere === 'none' ? 'none' : 'unreadable' };
  const [, size = ''] = /^@bytes (\d{1,15})$/.exec(head) ?? [];
  if (size === '' || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined;
  const fileBytes = Number(size);
  const bytes = Buffer.from(body, 'base64');
  return bytes.length === Math.max(0, Math.min(to, fileBytes) - from) ? { kind: 'read', fileBytes, bytes } : undefined;
}

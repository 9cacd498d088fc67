import type { NodePath } from '../model/probe.ts';
import { pathWord, rootLine, shellCommand, tool } from './paths/node-paths.ts';

/** All of these run as the ssh user, who owns the staging folder until what lies there is verified. */
const asUser = (rootPrefix: string, path: NodePath, body: string): string => `${rootLine(rootPrefix)}
export R LC_ALL=C
umask 022
f=${pathWord(path)}
${body}`;

/** Sets `n` to the size of the file, 0 where there is none. */
const measured = `n=0
[ ! -e "$f" ] || n=$(${pathWord(tool.stat)} -f %z "$f") || exit 1`;

/** Prints how many bytes of a file are there: `size N`, 0 when there is none. */
export const stagedSizeCommand = (path: NodePath, rootPrefix: string): string =>
  shellCommand(asUser(rootPrefix, path, `${measured}\nprintf 'size %s\\n' "$n"`));

/** Prints the SHA-256 of the first bytes of a file: `sha256 DIGEST`. */
export const prefixDigestCommand = (path: NodePath, bytes: number, rootPrefix: string): string =>
  shellCommand(
    asUser(
      rootPrefix,
      path,
      `s=$(${pathWord(tool.head)} -c ${bytes} "$f" | ${pathWord(tool.shasum)} -a 256) || exit 1
printf 'sha256 %s\\n' "\${s%% *}"`,
    ),
  );

/**
 * Appends standard input to a file that has exactly `offset` bytes, and prints `size N` at the end; exit 65 and the
 * size that it has when it has another one. A connection that is lost leaves a shorter file, which the next call goes
 * on with. Offset 0 begins anew, whatever is there: that is how a wrong prefix is replaced.
 */
export const appendCommand = (path: NodePath, offset: number, rootPrefix: string): string =>
  shellCommand(
    asUser(
      rootPrefix,
      path,
      `${pathWord(tool.mkdir)} -p "\${f%/*}" || exit 1
${offset === 0 ? 'true >"$f" || exit 1\n' : ''}${measured}
if [ "$n" -ne ${offset} ]; then
  printf 'size %s\\n' "$n"
  exit ${otherSizeExit}
fi
${pathWord(tool.cat)} >>"$f" || exit 1
${measured}
printf 'size %s\\n' "$n"`,
    ),
  );

/** The exit of {@link appendCommand} when the file has another size than it should. */
export const otherSizeExit = 65;

/** The size that one of these commands printed; `undefined` when it printed none. */
export function parseSize(stdout: string): number | undefined {
  const size = Number(/^size (\d{1,15})\n$/.exec(stdout)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : undefined;
}

/** The digest that {@link prefixDigestCommand} printed; `undefined` when it printed none. */
export const parseDigest = (stdout: string): string | undefined => /^sha256 ([0-9a-f]{64})\n$/.exec(stdout)?.[1];

/** Bytes of a file of a node. */
interface NodeBytesWish {
  readonly path: NodePath;
  /** The first byte, from 0. */
  readonly from: number;
  /** The byte behind the last one; the file may end before. */
  readonly to: number;
}

/** What a node gave of a file. */
type NodeBytes =
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

import type { NodePath } from '../model/probe.ts';
import { pathWord, rootLine, shellCommand, tool } from './paths/node-paths.ts';
import { sh } from './shell/scripts.generated.ts';

/** The command line for a script as the ssh user, who owns the staging folder until its content is verified. */
const asUser = (rootPrefix: string, path: NodePath, body: string): string => `${rootLine(rootPrefix)}
export R LC_ALL=C
umask 022
f=${pathWord(path)}
${body}`;

/** Sets `n` to the file's size; 0 if the file does not exist. */
const measured = `n=0
[ ! -e "$f" ] || n=$(${pathWord(tool.stat)} -f %z "$f") || exit 1`;

/** Prints a file's size in bytes as `size N`; 0 if the file does not exist. */
export const stagedSizeCommand = (path: NodePath, rootPrefix: string): string =>
  shellCommand(asUser(rootPrefix, path, `${measured}\nprintf 'size %s\\n' "$n"`));

/** Prints the SHA-256 of a file's first bytes as `sha256 DIGEST`. */
export const prefixDigestCommand = (path: NodePath, bytes: number, rootPrefix: string): string =>
  shellCommand(asUser(rootPrefix, path, digested(`${pathWord(tool.head)} -c ${bytes} "$f" | sha256`)));

const digested = (command: string): string => `${sh.sha256({})}
s=$(${command}) || exit 1
printf 'sha256 %s\\n' "$s"`;

/** Where {@link appendCommand} starts to write, and how. */
export interface AppendStart {
  /** The file's required size in bytes; 0 also allows a missing file. */
  readonly offset: number;
  /** Whether to empty the file first. */
  readonly replaces?: boolean;
  /** Whether to print the SHA-256 of the whole file at the end. */
  readonly digests?: boolean;
}

/**
 * Appends standard input to a file of exactly `offset` bytes and prints `size N`. If the file has a different size, the
 * script changes nothing, prints that size and exits with 65. After a lost connection, the file is shorter, and the
 * next call continues at its end.
 */
export const appendCommand = (
  path: NodePath,
  { offset, replaces = false, digests = false }: AppendStart,
  rootPrefix: string,
): string =>
  shellCommand(
    asUser(
      rootPrefix,
      path,
      `${pathWord(tool.mkdir)} -p "\${f%/*}" || exit 1
${replaces ? 'true >"$f" || exit 1\n' : ''}${measured}
if [ "$n" -ne ${offset} ]; then
  printf 'size %s\\n' "$n"
  exit ${otherSizeExit}
fi
${pathWord(tool.cat)} >>"$f" || exit 1
${measured}
printf 'size %s\\n' "$n"${digests ? `\n${digested('sha256 <"$f"')}` : ''}`,
    ),
  );

/** Exit code of {@link appendCommand} if the file has a different size. */
export const otherSizeExit = 65;

const answerPattern = /^(?:size (\d{1,15})\n)?(?:sha256 ([0-9a-f]{64})\n)?$/;

/** The size and the digest that one of these commands printed; `undefined` if it printed none. */
export function parseSent(stdout: string): {
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
} {
  const [, size, sha256] = answerPattern.exec(stdout) ?? [];
  return { size: size === undefined ? undefined : Number(size), sha256 };
}

interface NodeBytesRequest {
  readonly path: NodePath;
  /** The first byte, from 0. */
  readonly from: number;
  /** The end, exclusive; the file may be shorter. */
  readonly to: number;
}

type NodeBytes =
  | { readonly kind: 'read'; readonly fileBytes: number; readonly bytes: Uint8Array }
  /** `none`: the file does not exist. `unreadable`: this user may not read the file or its folder. */
  | { readonly kind: 'none' | 'unreadable' };

/**
 * Prints a file's size and some of its bytes, as the ssh user; links are followed. The bytes are in base64, so that
 * they can never look like a head line.
 */
export const nodeBytesCommand = ({ path, from, to }: NodeBytesRequest, rootPrefix: string): string =>
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

/** Upper limit of the output in bytes: base64 with a line end after 76 characters. */
export const nodeBytesLimit = ({ from, to }: Pick<NodeBytesRequest, 'from' | 'to'>): number =>
  Math.ceil(((to - from) / 3) * 4 * (77 / 76)) + 1_024;

/** Parses the output of {@link nodeBytesCommand}; `undefined` if it is invalid or has the wrong range. */
export function parseNodeBytes(
  stdout: string,
  { from, to }: Pick<NodeBytesRequest, 'from' | 'to'>,
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

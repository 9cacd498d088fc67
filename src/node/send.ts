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

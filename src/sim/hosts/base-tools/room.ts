import { checkFiles, type FileOperands } from './inside.ts';
import { shellQuote, type WrapperContext } from './wrapper.ts';

/** How many bytes still fit on the disk of the node; without the file as many as anybody likes. */
const roomPath = '/.sim/room';

/** What Linux says of a file that may not grow, and what a Mac says of a full disk. */
const words = [
  's/^[/][^ :]*[/]\\([a-z0-9]*\\): /\\1: /',
  "s/^cp: error writing '\\(.*\\)': File too large/cp: \\1: No space left on device/",
  "s/^cp: error copying '.*' to '\\(.*\\)': File too large/cp: \\1: No space left on device/",
  's/^cat: .*: File too large/cat: stdout: No space left on device/',
  's/^tar: \\(.*\\): Wrote only .*/\\1: Write failed: No space left on device/',
  's/^tar: \\(.*\\): Cannot write: File too large/\\1: Write failed: No space left on device/',
  's/File too large/No space left on device/',
];

/**
 * Functions of sh: `limited COMMAND ...` becomes the command, or, while the disk of the node is full, runs it so that no
 * file can grow beyond the room that is left. Then it fails in the middle, as on a full disk, and leaves what fitted.
 * A limit of the kernel counts in blocks of 512 bytes.
 */
export const roomFunctions = `limited() {
  [ -e "$R${roomPath}" ] || exec "$@"
  m=0
  read -r m <"$R${roomPath}"
  trap '' XFSZ
  exec 3>&1
  y=$( (ulimit -f $((m / 512)); exec "$@") 2>&1 >&3)
  z=$?
  [ -z "$y" ] || printf '%s\\n' "$y" | command -p sed ${words.map((one) => `-e ${shellQuote(one)}`).join(' ')} >&2
  exit "$z"
}
`;

/** As `passFiles`, for a tool that writes much: a full disk ends it. */
export const passLimited =
  (files: FileOperands) =>
  ({ host }: WrapperContext): string =>
    `${checkFiles(files)}\n${files.extra ?? ''}export POSIXLY_CORRECT=1\n${roomFunctions}limited ${shellQuote(host)} "$@"`;

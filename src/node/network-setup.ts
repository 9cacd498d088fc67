import { refusedMark } from './paths/keeper-files.ts';
import { pathWord, tool } from './paths/node-paths.ts';

/** Dotted form of a prefix length, as networksetup wants it. */
export function maskOf(prefixLength: number): string {
  const bits = '1'.repeat(prefixLength).padEnd(32, '0');
  return [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.');
}

const mark = pathWord(refusedMark);

/**
 * `net ARGUMENTS` runs networksetup and leaves what it said in `o`. Its exit says little (0 or 4 with an error), its
 * words do. A session over SSH without Full Disk Access is refused with words of its own, seen on a Mac mini with
 * macOS 26.6; whatever it is allowed to set ends the mark of a node that was refused once.
 */
export const networkSetupFunctions = `net() {
  o=$(${pathWord(tool.networksetup)} "$@" 2>&1)
  x=$?
  case $o in
    (*'Unable to access the System Configuration database'*) failed no-full-disk-access "$o" ;;
    (*'** Error:'*) return 1 ;;
  esac
  [ "$x" -eq 0 ] || return 1
  case $1 in (-set* | -create* | -order*) [ ! -e ${mark} ] || ${pathWord(tool.rm)} -f ${mark} ;; esac
}
mustnet() {
  net "$@" || failed networksetup "$1: \${o:-it ended with $x}"
}`;

/**
 * `leave SAID` goes on after a part of a script, run in a shell of its own, has failed with these words, when macOS did
 * not let it set what the keeper holds: the node is marked. Every other failure is that of the script, and this one too
 * where no keeper holds it.
 */
export const leaveFunction = (isKept = false): string => {
  const fail = `printf '%s\\n' "$1" >&2
    exit 1`;
  return isKept
    ? `leave() {
  case $1 in (*'@failed no-full-disk-access '*) ;; (*)
    ${fail}
  ;; esac
  [ -e ${mark} ] || write ${mark} "since=$(${pathWord(tool.date)} -u +%s)$N"
}`
    : `leave() {
    ${fail}
}`;
};

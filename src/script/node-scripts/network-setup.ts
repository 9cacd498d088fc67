import { pathWord, tool } from '../node-paths.ts';

/**
 * `net ARGUMENTS` runs networksetup and leaves what it said in `o`. Its exit says little (0 or 4 with an error), its
 * words do. A session over SSH without Full Disk Access is refused with words of its own, seen on a Mac mini with
 * macOS 26.6.
 */
export const networkSetupFunctions = `net() {
  o=$(${pathWord(tool.networksetup)} "$@" 2>&1)
  x=$?
  case $o in
    (*'Unable to access the System Configuration database'*) failed no-full-disk-access "$o" ;;
    (*'** Error:'*) return 1 ;;
  esac
  [ "$x" -eq 0 ]
}
mustnet() {
  net "$@" || failed networksetup "$1: \${o:-it ended with $x}"
}`;

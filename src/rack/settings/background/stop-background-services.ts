import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import { stopPhotosAgents } from './photos-agents.ts';

/** Switches Spotlight's index of every volume off. What it had stays on the disk. @see mdutil(1) */
export const stopSpotlight = (): string => `isoff() {
  o=$(${pathWord(tool.mdutil)} -a -s 2>&1) || return 1
  case $o in
    (*'Indexing enabled'*) return 1 ;;
    (*'disabled.'*) ;;
    (*) return 1 ;;
  esac
}
isoff && unchanged
must mdutil ${pathWord(tool.mdutil)} -a -i off
n=0
until isoff; do
  n=$((n + 1))
  [ "$n" -lt 20 ] || failed mdutil 'mdutil took the setting and shows another one'
  ${pathWord(tool.sleep)} 0.25
done
changed`;

/**
 * Keeps Time Machine from making backups by itself; those that are there stay. tmutil and the look at the setting want
 * Full Disk Access.
 *
 * @see tmutil(8): disable
 */
export const stopBackups = (): string => `f=${pathWord(place.timeMachine)}
isoff() {
  [ ! -e "$f.plist" ] || { true <"$f.plist"; } 2>/dev/null || failed no-full-disk-access 'the settings of Time Machine cannot be read'
  if o=$(${pathWord(tool.defaults)} read "$f" AutoBackup 2>&1); then [ "$o" = 0 ]; return; fi
  case $o in (*'does not exist'*) ;; (*) failed defaults "$o" ;; esac
}
isoff && unchanged
must tmutil ${pathWord(tool.tmutil)} disable
isoff || failed tmutil 'tmutil took the setting and shows another one'
changed`;

/** Keeps launchd from starting what looks through photos, in the next session of the ssh user at the screen. */
export const stopPhotosAnalysis = (): string => stopPhotosAgents;

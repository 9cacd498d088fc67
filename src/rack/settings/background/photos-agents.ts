import { pathWord, tool } from '../../../node/paths/node-paths.ts';

/**
 * The agents of a user's session that look through photos and videos. What `launchctl disable` says of them counts
 * from the next login on and lasts over restarts; one that runs goes on until then, since System Integrity Protection
 * lets nobody take it out of launchd (150).
 *
 * @see launchctl(1): enable, disable, print-disabled; "user/<uid>" and "gui/<uid>" share one file of overrides
 */
export const photosAgents = ['com.apple.mediaanalysisd', 'com.apple.photoanalysisd'] as const;

const agents = photosAgents.join(' ');

/** The domain of the ssh user, for scripts of root. @see sudo(8), ENVIRONMENT: SUDO_UID */
const domain = '"user/${SUDO_UID:-0}"';

/** `AGENT on` or `AGENT off` of each, on where launchd has no override; fails where it says what nobody knows. */
export const readPhotosAgents = `o=$(${pathWord(tool.launchctl)} print-disabled ${domain}) || exit
for l in ${agents}; do
  case $o in
    (*"\\"$l\\" => disabled"* | *"\\"$l\\" => true"*) printf '%s off\\n' "$l" ;;
    (*"\\"$l\\" => enabled"* | *"\\"$l\\" => false"*) printf '%s on\\n' "$l" ;;
    (*"\\"$l\\" "*) exit 1 ;;
    (*) printf '%s on\\n' "$l" ;;
  esac
done`;

/** Sets each back that differs from `$v`, knowing `$o`. */
export const restorePhotosAgents = `printf '%s\\n' "$v" | while read -r l w; do
  case " ${agents} " in (*" $l "*) ;; (*) exit 1 ;; esac
  case $w in (on) w=enable ;; (off) w=disable ;; (*) exit 1 ;; esac
  case $w$N$o$N in (enable*"$N$l on$N"* | disable*"$N$l off$N"*) continue ;; esac
  ${pathWord(tool.launchctl)} "$w" ${domain}"/$l" || exit 1
done`;

/** Keeps launchd from starting them for the ssh user. */
export const stopPhotosAgents = `isoff() {
  o=$(${readPhotosAgents}) || return 1
  case $o in (*' on'*) return 1 ;; esac
}
isoff && unchanged
for l in ${agents}; do must launchctl ${pathWord(tool.launchctl)} disable ${domain}"/$l"; done
isoff || failed launchctl 'launchctl took the setting and shows another one'
changed`;

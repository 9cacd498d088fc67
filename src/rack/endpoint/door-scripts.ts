import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { closedFile, doormanLabel } from '../../node/paths/own-paths.ts';
import { fileSeal } from '../../node/put-file.ts';

/** Milliseconds between two looks at who is still inside. */
const stepMs = 250;

/** Whether a doorman that nobody reaches at its port has no process either; what launchd does not say is no answer. */
const noProcess = (port: number): string => `isgone() {
  o=$(${pathWord(tool.launchctl)} print "system/${doormanLabel(port)}" 2>&1) || {
    case $o in (*'Could not find service'*) return 0 ;; esac
    return 1
  }
  printf '%s\\n' "$o" | ${pathWord(tool.awk)} '/^(\\t|    )state = / { s = 1 }
/^(\\t|    )pid = / { p = 1 }
END { exit !(s && !p) }'
}`;

/**
 * Waits until no client of a placement is inside the gateway any more, or the time is over; `left=` says how many
 * there are then, or `unknown`. Only where nothing listens at its port and it has no process it is known without an
 * answer that nobody is inside. @see curl(1): exit 7 is a connection that was refused
 */
export const drainDoor = ({ port, placement, waitMs }: ScriptArgs['drain-door']): string => `${noProcess(port)}
n=0
while :; do
  x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 2 http://127.0.0.1:${port}/doorman/inside/${placement})
  e=$?
  case $e:$x in
    (0:0) break ;;
    (0:*[!0-9]* | 0:) x=unknown ;;
    (0:*) ;;
    (7:*)
      x=0
      if isgone; then break; fi
      x=unknown
    ;;
    (*) x=unknown ;;
  esac
  [ "$n" -lt ${Math.ceil(waitMs / stepMs)} ] || break
  n=$((n + 1))
  ${pathWord(tool.sleep)} ${stepMs / 1_000}
done
printf 'left=%s\n' "$x"
changed`;

/** Takes the file away that keeps a placement closed. */
export const openDoor = ({ port, placement }: ScriptArgs['open-door']): string => `y=
for f in ${pathWord(closedFile(port, placement))} ${pathWord(fileSeal(closedFile(port, placement)))}; do
  [ -e "$f" ] || continue
  must rm ${pathWord(tool.rm)} -f "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed`;

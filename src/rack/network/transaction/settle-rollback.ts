import type { ScriptArgs } from '../../../model/node-script.ts';
import { serviceFunctions } from '../../../node/launchd-service.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';
import { armFunctions, rollbackFunctions, rollbackLabel } from './rollback-script.ts';

/** Looks at a transaction that another process works on, four in a second. */
const looks = 240;

/**
 * Settles a change of the network whose run is gone: nobody has seen that the node can be reached with it, so that it
 * is taken back now, without waiting for its time to be over. A script that still changes, and a process that already puts
 * back, are awaited; what a process has left half done is done again.
 */
export const settleRollback = ({ run }: ScriptArgs['settle-rollback']): string => `${serviceFunctions(rollbackLabel)}
${rollbackFunctions}
${armFunctions}
ismeant() {
  about "$1" && [ "$ar" = ${quote(run)} ]
}
verdict=unchanged n=0 dead=0
while ismeant "$rb/pending" || ismeant "$rb/rolling"; do
  verdict=changed
  if ismeant "$rb/pending" && ! ischanging && claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  elif ismeant "$rb/rolling"; then
    dead=$((dead + 1))
    ! isalive "$ap" || dead=0
    # Who has just claimed has not written down yet who he is.
    if [ "$dead" -gt 4 ]; then
      putback
      disarm
    fi
  fi
  n=$((n + 1))
  [ "$n" -lt ${looks} ] || failed still-changing "process $ap still works on it"
  if [ -d "$rb/pending" ] || [ -d "$rb/rolling" ]; then ${pathWord(tool.sleep)} 0.25; fi
done
"$verdict"`;

import { pathWord, place, tool } from '../node-paths.ts';
import { readRecordsFunctions } from './read-records.ts';

/**
 * Prints the jobs, the lease and the unconfirmed change of the network that runs keep on a node: `job KEY`, `lease` or
 * `rollback STATE`, then the lines of its file and what
 * else is known of it. A folder that is not there counts as empty only where its parent could be read. Jobs without
 * an exit are looked up in the process table, all at once: `processes EXIT`, then the lines of ps that name a job.
 * Runs in the private folder of the observation, whose `job-processes` file it uses.
 */
export const keptRecordsScript = `b=${pathWord(place.ours)} P=""
${readRecordsFunctions}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b"; then
  if s "$b/ops"; then
    for j in "$b/ops/"*; do
      [ -d "$j" ] || continue
      s "$j"
      [ -e "$j/job" ] || continue
      k=\${j##*/}
      case $k in (*[!A-Za-z0-9._-]*)
        printf "odd\\n"
        continue
      ;; esac
      printf "job %s\\n" "$k"
      r "$j/job"
      f progress "$j/progress"
      f failure "$j/failure"
      if [ -e "$j/rc" ]; then
        f exit "$j/rc"
      else
        f pid "$j/pid"
        case $x in ("" | *[!0-9]*) ;; (*) P=$P,$x ;; esac
      fi
    done
  fi
  if s "$b/lease"; then
    printf "lease\\n"
    [ ! -e "$b/lease/owner" ] || r "$b/lease/owner"
    f beat "$b/lease/beat"
  fi
  if s "$b/rollback"; then
    for j in pending rolling; do
      s "$b/rollback/$j" || continue
      printf "rollback %s\\n" "$j"
      [ ! -e "$b/rollback/$j/about" ] || r "$b/rollback/$j/about"
    done
  fi
fi
if [ -n "$P" ]; then
  ${pathWord(tool.ps)} -ww -o pid= -o command= -p "\${P#,}" >job-processes 2>/dev/null
  printf "processes %s\\n" "$?"
  while IFS= read -r x; do
    case $x in (*/meshwright/ops/*) printf "|%s\\n" "$x" ;; esac
  done <job-processes
fi
printf "end\\n"`;

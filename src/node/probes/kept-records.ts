import { keeperLast, refusedMark } from '../paths/keeper-files.ts';
import { below, pathWord, place, tool } from '../paths/node-paths.ts';
import { readRecordsFunctions } from '../read-records.ts';
import { keyMark } from '../withdraw.ts';

/** Names what lies there because of meshwright, as far as no other record does. */
const traces = `printf "traces\\n"
[ ! -e "$b" ] || printf "|folder=yes\\n"
[ ! -e ${pathWord(place.sudoersDropIn)} ] || printf "|sudoers=yes\\n"
if [ -r "$HOME/.ssh/authorized_keys" ]; then
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*" ${keyMark}")
      printf "|key=yes\\n"
      break
    ;; esac
  done <"$HOME/.ssh/authorized_keys"
fi
k=none
for j in ${pathWord(place.opt)}/*; do
  case $j in (*/models) [ "$k" != none ] || k=models ;; (*/"*") ;; (*) k=some ;; esac
done
[ "$k" != none ] || [ ! -e ${pathWord(place.opt)} ] || k=some
if [ "$k" = models ]; then
  k=some x=${pathWord(below(place.opt, 'models'))}
  for j in "$x"/* "$x"/.[!.]* "$x"/*/* "$x"/*/.[!.]*; do
    [ -e "$j" ] || [ -h "$j" ] || continue
    if [ -d "$j" ] && [ ! -h "$j" ]; then
      case $j in ("$x"/*/*) ;; (*) continue ;; esac
      case \${j##*/} in (*[!0-9a-f]*) ;; (????????????????)
        k=models
        break
      ;; esac
    fi
    k=theirs
  done
fi
printf "|trees=%s\\n" "$k"`;

/** Names each job, with what its files say of it; `P` collects the processes of those without an exit. */
const jobRecords = `  if s "$b/ops"; then
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
  fi`;

/**
 * Prints the jobs, the lease, the unconfirmed change of the network, the values from before the first change of these keys and the foreign
 * daemons that runs keep on a node: `job KEY`, `lease`, `rollback STATE`, `baseline KEY` or `foreign LABEL`, then the
 * lines of its file and what else is known of it. A folder that is not there counts as empty only where its parent could be read. Jobs without
 * an exit are looked up in the process table, all at once: `processes EXIT`, then the lines of ps that name a job.
 * Runs in the private folder of the observation, whose `job-processes` file it uses.
 */
export const keptRecordsScript = (keys: readonly string[]): string => `b=${pathWord(place.ours)} P=""
${readRecordsFunctions}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b"; then
${jobRecords}
  if s "$b/lease"; then
    printf "lease\\n"
    [ ! -e "$b/lease/owner" ] || r "$b/lease/owner"
    f beat "$b/lease/beat"
  fi
  if [ -e ${pathWord(place.hold)} ]; then
    printf "hold\\n"
    r ${pathWord(place.hold)}
  fi
  if s "$b/rollback"; then
    for j in pending rolling; do
      s "$b/rollback/$j" || continue
      printf "rollback %s\\n" "$j"
      [ ! -e "$b/rollback/$j/about" ] || r "$b/rollback/$j/about"
    done
  fi
  if [ -e ${pathWord(place.keeper)} ] || [ -e ${pathWord(refusedMark)} ]; then
    printf "keeper\\n"
    ! s ${pathWord(place.keeper)} || f last ${pathWord(keeperLast)}
    [ ! -e ${pathWord(refusedMark)} ] || printf "|refused=yes\\n"
  fi
  if s "$b/baseline"; then
    for j in ${keys.join(' ')}; do
      [ -e "$b/baseline/$j" ] || continue
      printf "baseline %s\\n" "$j"
      r "$b/baseline/$j"
    done
  fi
  if s "$b/foreign"; then
    for j in "$b/foreign/"*; do
      case $j in (*.plist) continue ;; esac
      [ -f "$j" ] || continue
      case \${j##*/} in (*[!A-Za-z0-9._-]*)
        printf "odd\\n"
        continue
      ;; esac
      printf "foreign %s\\n" "\${j##*/}"
      r "$j"
      [ ! -e "$j.plist" ] || printf "|plist=moved\\n"
    done
  fi
fi
${traces}
if [ -n "$P" ]; then
  ${pathWord(tool.ps)} -ww -o pid= -o command= -p "\${P#,}" >job-processes 2>/dev/null
  printf "processes %s\\n" "$?"
  while IFS= read -r x; do
    case $x in (*/meshwright/ops/*) printf "|%s\\n" "$x" ;; esac
  done <job-processes
fi
printf "end\\n"`;

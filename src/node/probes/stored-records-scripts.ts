import type { Probe } from '../../model/probe.ts';
import { keeperHashed, keeperLast, refusedMark } from '../paths/keeper-files.ts';
import { below, pathWord, place, tool } from '../paths/node-paths.ts';
import { sealName } from '../paths/own-paths.ts';
import { keyMark } from '../withdraw.ts';
import { recordProbe } from './probe.ts';

/**
 * Functions of sh for scripts that print records: a head, its lines with a leading `|`, and a last line `end`. `u`
 * reports that this user lacks permission, and ends the script. `s FOLDER` tests whether a folder exists; an unreadable
 * folder is not missing. `r FILE` prints a file's lines and passes each to `l`. `f NAME FILE` prints a file's first
 * line, if any, as the field NAME, and leaves it in `x`. File names of the node are expanded only inside quotes.
 */
export const readRecordsFunctions = `u() {
  printf "unreadable\\n"
  exit 0
}
s() {
  [ -e "$1" ] || return 1
  if [ ! -d "$1" ] || [ ! -r "$1" ] || [ ! -x "$1" ]; then u; fi
}
l() { :; }
r() {
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
    l
  done <"$1" || u
}
f() {
  x=
  [ -e "$2" ] || return 0
  IFS= read -r x <"$2" || [ -r "$2" ] || [ ! -e "$2" ] || u
  printf "|%s=%s\\n" "$1" "$x"
}`;

/** Lists traces of meshwright that no other record contains. */
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

/** Prints each job with its files' content; `P` collects the processes of unfinished jobs. */
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
      f until "$j/until"
      f exchanging "$j/exchanging"
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
 * Prints the jobs, the lease, the unconfirmed network change, the stored values of these keys and the stopped foreign
 * daemons: `job KEY`, `lease`, `transaction STATE`, `baseline KEY` or `foreign LABEL`, then the lines of its file and
 * more fields. A missing folder counts as empty only if its parent is readable. A single ps call covers all unfinished
 * jobs: `processes EXIT`, then the ps lines of jobs. Runs in the observation's private folder and uses its
 * `job-ps` file.
 */
const recordsScript = (keys: readonly string[]): string => `b=${pathWord(place.ours)} P=""
${readRecordsFunctions}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b"; then
${jobRecords}
  if s "$b/lease"; then
    printf "lease\\n"
    [ ! -e "$b/lease/owner" ] || r "$b/lease/owner"
    f heartbeat "$b/lease/heartbeat"
  fi
  if [ -e ${pathWord(place.hold)} ]; then
    printf "hold\\n"
    r ${pathWord(place.hold)}
  fi
  if s "$b/transaction"; then
    for j in pending rolling; do
      s "$b/transaction/$j" || continue
      printf "transaction %s\\n" "$j"
      [ ! -e "$b/transaction/$j/about" ] || r "$b/transaction/$j/about"
    done
  fi
  if [ -e ${pathWord(place.keeper)} ] || [ -e ${pathWord(refusedMark)} ]; then
    printf "keeper\\n"
    ! s ${pathWord(place.keeper)} || {
      f last ${pathWord(keeperLast)}
      f hashed ${pathWord(keeperHashed)}
    }
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
  ${pathWord(tool.ps)} -ww -o pid= -o command= -p "\${P#,}" >job-ps 2>/dev/null
  printf "processes %s\\n" "$?"
  while IFS= read -r x; do
    case $x in (*/meshwright/ops/*) printf "|%s\\n" "$x" ;; esac
  done <job-ps
fi
printf "end\\n"`;

export const storedRecordsWith = (keys: readonly string[]): Probe =>
  recordProbe('kept-records', recordsScript(keys), 10_000);

/** The probe to which facts refer. An observation sends it with the keys of all values. */
export const storedRecords = storedRecordsWith([]);

/**
 * Counts the entries of each tree, and those that changed after the seal was written, which find prints twice in a row.
 * The last line is find's exit code.
 */
const countTrees = `{ k = $1 "/" $2 "/" $3 }
$1 == "exit" { e = $2; next }
{ if ($0 == l) c[k]++; else n[k]++; l = $0 }
END { print "counts " e; for (k in n) printf "|%s %d %d\\n", k, n[k], c[k] }`;

/**
 * Prints the installed files and trees, and the evidence of changes: `file ID` and `tree FOLDER` with the lines of
 * their seals, `sums` and `modes` of all files from cksum and stat, `counts` of all trees, and `staged FOLDER` of each
 * tree in preparation. Each kind of check needs one process, regardless of the number of files and trees, and none
 * without any. In trees, only names and times are read: `-cnewer` compares a file's change time, which cannot be set
 * back, with the time when the seal was written.
 *
 * @see find(1) of macOS: `-cnewer file`, the same as `-newercm`
 */
const filesScript = `b=${pathWord(place.ours)} o=${pathWord(place.opt)} T="" p=""
${readRecordsFunctions}
l() {
  case $x in (path=/*) p=\${x#path=/} ;; esac
}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b" && s "$b/files"; then
  for k in "$b/files/"*; do
    [ -f "$k" ] || continue
    case \${k##*/} in (*.*) continue ;; (*[!0-9a-f]*)
      printf "odd\\n"
      continue
    ;; esac
    printf "file %s\\n" "\${k##*/}"
    p=
    r "$k"
    if [ ! -f "$R/$p" ]; then
      printf "|there=no\\n"
    elif [ ! -r "$R/$p" ]; then
      printf "|there=unreadable\\n"
    else
      printf "|there=yes\\n"
      set -- "$@" "$p"
    fi
  done
fi
if [ $# -gt 0 ]; then
  (cd "$R/" && exec ${pathWord(tool.cksum)} "$@") >kept-sums 2>/dev/null
  printf "sums %s\\n" "$?"
  r kept-sums
  (cd "$R/" && exec ${pathWord(tool.stat)} -f "%Lp %N" "$@") >kept-modes 2>/dev/null
  printf "modes %s\\n" "$?"
  r kept-modes
fi
l() { :; }
set -- "(" ! -path "*"
if s ${pathWord(place.optParent)} && s "$o"; then
  for c in runtimes models; do
    s "$o/$c" || continue
    for t in "$o/$c"/*/*; do
      s "\${t%/*}" || continue
      if [ ! -d "$t" ] || [ -h "$t" ]; then continue; fi
      k=\${t#"$o/"} d=\${t##*/}
      case $k in (*[!A-Za-z0-9._/-]*)
        printf "odd\\n"
        continue
      ;; esac
      case $d in (*[!0-9a-f]*) continue ;; (????????????????) ;; (*) continue ;; esac
      printf "tree %s\\n" "$k"
      s "$t"
      if [ -h "\${t%/*}/current" ]; then
        x=$(cd "\${t%/*}/current" 2>/dev/null && pwd -P)
        [ "\${x##*/}" != "$d" ] || printf "|current=yes\\n"
      fi
      [ -e "$t/${sealName}" ] || continue
      r "$t/${sealName}"
      T="$T $k"
      set -- "$@" -o -path "$k/*" -cnewer "$k/${sealName}"
    done
  done
fi
if s ${pathWord(place.optParent)} && s "$o" && s "$o/staging"; then
  for t in "$o/staging"/*; do
    k=\${t##*/} d=\${t##*-}
    if [ ! -d "$t" ] || [ -h "$t" ]; then continue; fi
    case $k in (*[!A-Za-z0-9._-]*) continue ;; (runtime-*-* | model-*-*) ;; (*) continue ;; esac
    case $d in (*[!0-9a-f]*) continue ;; (????????????????) printf "staged %s\\n" "$k" ;; esac
  done
fi
set -- ! -type d ! -name ${sealName} -print "$@" ")" -print
for k in $T; do set -- "$k" "$@"; done
[ -z "$T" ] || {
  (cd "$o" && exec ${pathWord(tool.find)} "$@") 2>/dev/null
  printf "exit/%s\\n" "$?"
} | ${pathWord(tool.awk)} -F / '${countTrees}'
printf "end\\n"`;

export const installedFiles = recordProbe('kept-files', filesScript, 20_000);

import { pathWord, place, tool } from '../paths/node-paths.ts';
import { sealName } from '../paths/own-paths.ts';
import { readRecordsFunctions } from '../read-records.ts';

/**
 * Counts the entries of each tree, and those that were changed after its seal was written: find prints such a one
 * twice, one line after the other. The last line is the exit of find.
 */
const countTrees = `{ k = $1 "/" $2 "/" $3 }
$1 == "exit" { e = $2; next }
{ if ($0 == l) c[k]++; else n[k]++; l = $0 }
END { print "counts " e; for (k in n) printf "|%s %d %d\\n", k, n[k], c[k] }`;

/**
 * Prints what was put on a node and published there, and whether it still is as it was: `file ID` and `tree FOLDER`
 * with the lines of their seals, `sums` and `modes` of all files as cksum and stat print them, `counts` of all trees;
 * and `staged FOLDER` of each tree that is only being made ready.
 * One process for each of the three kinds of look, however many files and trees there are; none where there are none.
 * Of a tree only names and times are read: `-cnewer` compares the time of the last change of a file, which nobody
 * can set back, with the time at which its seal was written.
 *
 * @see find(1) of macOS: `-cnewer file`, the same as `-newercm`
 */
export const keptFilesScript = `b=${pathWord(place.ours)} o=${pathWord(place.opt)} T="" p=""
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

import { mostPanicReports } from '../../model/node-records.ts';
import { pathWord, place } from '../node-paths.ts';

/**
 * A part of a script of ours: prints, of each of the last reports of kernel panics, full ones and others (in their names
 * the time stands behind the kind), a line `panic NAME` and behind `|` its first line, which is JSON of its own, and as
 * much of the line with the panic string as is worth reading. `panic unreadable` stands for a report, or for all of them,
 * that this user may not read. Nothing is started.
 */
export const panicReportsScript = `f=${pathWord(place.diagnosticReports)}
panics() {
  while [ "$#" -gt ${mostPanicReports} ]; do shift; done
  for p; do
    [ -f "$p" ] || continue
    case \${p##*/} in (*[!A-Za-z0-9._-]*) continue ;; esac
    if ! { true <"$p"; } 2>/dev/null; then
      printf "panic unreadable\\n"
      continue
    fi
    printf "panic %s\\n" "\${p##*/}"
    n=0
    while [ "$n" -lt 60 ] && { IFS= read -r x || [ -n "$x" ]; }; do
      n=$((n + 1))
      case "$n $x" in
        ("1 "*) printf "|%.500s\\n" "$x" ;;
        (*'"panicString"'*)
          printf "|%.6000s\\n" "$x"
          break
        ;;
      esac
    done <"$p"
  done
}
if [ -d "$f" ] && { [ ! -r "$f" ] || [ ! -x "$f" ]; }; then
  printf "panic unreadable\\n"
else
  panics "$f/"[!p]*.panic "$f/panic-"[!f]*.panic
  panics "$f/panic-f"*.panic
fi`;

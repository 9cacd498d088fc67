import { mostPanicReports } from '../../model/facts/node-records.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/**
 * Prints a line `panic NAME` for each recent kernel panic report, then, with a leading `|`, the report's first line,
 * which is a JSON object, and the beginning of the line with the panic string. The last line is `end`. Full reports and
 * others are counted separately, because the kind precedes the time in their names. `unreadable` replaces a report or
 * folder that this user may not read.
 *
 * Many Macs move reports to `Retired`, which is read second, so a report that moves in between is printed twice.
 * Non-ASCII bytes become `?`, so that a truncated character does no harm.
 */
const script = `f=${pathWord(place.diagnosticReports)}
u() {
  printf "unreadable\\n"
  exit 0
}
p() {
  while [ "$#" -gt ${mostPanicReports} ]; do shift; done
  for p; do
    [ -f "$p" ] || continue
    { true <"$p"; } 2>/dev/null || u
    ${pathWord(tool.awk)} 'function c(n) { gsub(/[^ -~]/, "?"); print "|" substr($0, 1, n) }
NR == 1 { n = FILENAME; sub(".*/", "", n); gsub(/[^+.0-9A-Z_a-z-]/, "?", n); print "panic " n; c(500); next }
/"panicString"/ { c(6000); exit }
NR > 60 { exit }' "$p" || u
  done
}
for f in "$f" "$f/Retired"; do
  [ -d "$f" ] || continue
  if [ ! -r "$f" ] || [ ! -x "$f" ]; then u; fi
  p "$f/"[!p]*.panic "$f/panic-"[!f]*.panic
  p "$f/panic-f"*.panic
done
printf "end\\n"`;

export const panicReportFiles = probe('panic-reports', [tool.sh, '-c', script], 10_000, 131_072);

import { mostPanicReports } from '../../model/facts/node-records.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/**
 * Prints, of each of the last reports of kernel panics, a line `panic NAME` and behind `|` its first line, which is JSON
 * of its own, and as much of the line with the panic string as is worth reading; then `end`. Full reports and others are
 * counted apart, since the time is behind the kind in their names. `unreadable` stands for a report or a folder that this
 * user may not read.
 *
 * Many Macs move reports to `Retired`, which is read second: one that is moved at that moment is printed twice. Bytes
 * that are no ASCII become `?`, so that a letter that was cut spoils nothing.
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

/** The last reports of kernel panics, one record each. */
export const panicReportFiles = probe('panic-reports', [tool.sh, '-c', script], 10_000, 131_072);

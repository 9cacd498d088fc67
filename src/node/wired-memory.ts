import { pathWord, tool } from './paths/node-paths.ts';

/**
 * Normal variation of wired memory: a tenth of the baseline, but at least this many bytes.
 *
 * @see docs/mesh.md; the minimum is an estimate, see docs/unverified.md
 */
const leastSlackBytes = 1_073_741_824;

/** Maximum normal number of wired bytes, given the number before any rank ran. */
export const mostWiredBytes = (baselineBytes: number): number =>
  baselineBytes + Math.max(Math.floor(baselineBytes / 10), leastSlackBytes);

/** The values for `wired-memory.sh` in addition to {@link wiredFunction}. */
export const wiredValues = { slack_bytes: leastSlackBytes };

/**
 * Computes the wired bytes: `Pages wired down:  1434855.` times `(page size of 16384 bytes)`.
 *
 * @see vm_stat(1)
 */
const wiredBytes = `match($0, /page size of [0-9]+ bytes/) { p = substr($0, RSTART + 13, RLENGTH - 19) }
/^Pages wired down: +[0-9]+[.]?$/ { n = $4 + 0; k = 1 }
END { if (k && p > 0) printf "%.0f\\n", n * p }`;

/** Prints the number of wired bytes, or nothing. */
export const printWired = `${pathWord(tool.vmStat)} 2>/dev/null | ${pathWord(tool.awk)} '${wiredBytes}'`;

/** Defines `wired`, which prints the wired bytes; goes before `wired-memory.sh`. */
export const wiredFunction = `wired() {
  ${printWired}
}
`;

import { pathWord, tool } from './paths/node-paths.ts';

/**
 * What wired memory moves by without anybody's fault: a tenth of the baseline, and at least so many bytes.
 *
 * @see docs/mesh.md; the least is a guess, see docs/unverified.md
 */
const leastSlackBytes = 1_073_741_824;

/** The most bytes that may be wired where so many were before any rank ran. */
export const mostWiredBytes = (baselineBytes: number): number =>
  baselineBytes + Math.max(Math.floor(baselineBytes / 10), leastSlackBytes);

/** What `wired-memory.sh` needs besides {@link wiredFunction}. */
export const wiredValues = { slack_bytes: leastSlackBytes };

/**
 * The bytes that are wired: `Pages wired down:  1434855.` times `(page size of 16384 bytes)`.
 *
 * @see vm_stat(1)
 */
const wiredBytes = `match($0, /page size of [0-9]+ bytes/) { p = substr($0, RSTART + 13, RLENGTH - 19) }
/^Pages wired down: +[0-9]+[.]?$/ { n = $4 + 0; k = 1 }
END { if (k && p > 0) printf "%.0f\\n", n * p }`;

/** Prints the bytes that are wired, or nothing. */
export const printWired = `${pathWord(tool.vmStat)} 2>/dev/null | ${pathWord(tool.awk)} '${wiredBytes}'`;

/** `wired` prints them, too: before `wired-memory.sh`. */
export const wiredFunction = `wired() {
  ${printWired}
}
`;

import satisfies from 'semver/functions/satisfies.js';
import gtr from 'semver/ranges/gtr.js';
import minVersion from 'semver/ranges/min-version.js';
import validRange from 'semver/ranges/valid.js';

/** Longer ranges are refused before they are read. */
const longestRange = 256;

/** `27`, `26.5` and `26.5.1` as Apple prints them; semver wants three numbers. */
function threeNumbers(version: string): string | undefined {
  const [, major, minor = '0', patch = '0'] = /^(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?$/.exec(version) ?? [];
  return major === undefined ? undefined : `${Number(major)}.${Number(minor)}.${Number(patch)}`;
}

/**
 * Whether a macOS version lies in a range such as `>=26.4 <26.6`; `26.4` alone means every 26.4.x.
 * @returns undefined when the range or the version cannot be understood
 */
export function acceptsVersion(range: string, version: string): boolean | undefined {
  const three = threeNumbers(version);
  return three === undefined || rangeProblem(range) !== undefined ? undefined : satisfies(three, range);
}

/**
 * Whether a macOS version is newer than every version of a range.
 * @returns undefined when the range or the version cannot be understood
 */
export function isAboveRange(range: string, version: string): boolean | undefined {
  const three = threeNumbers(version);
  return three === undefined || rangeProblem(range) !== undefined ? undefined : gtr(three, range);
}

/** What is wrong with a range of versions, as one sentence; undefined for a range that some version can meet. */
export function rangeProblem(range: string): string | undefined {
  if (range.length > longestRange) return `It has ${range.length} characters; at most ${longestRange} are read.`;
  if (range.trim() === '') return 'It is empty.';
  if (validRange(range) === null) return 'It is not a list of comparisons.';
  return minVersion(range) === null ? 'No version can meet it.' : undefined;
}

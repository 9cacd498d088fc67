import coerce from 'semver/functions/coerce.js';
import lt from 'semver/functions/lt.js';
import satisfies from 'semver/functions/satisfies.js';
import gtr from 'semver/ranges/gtr.js';
import minVersion from 'semver/ranges/min-version.js';
import validRange from 'semver/ranges/valid.js';

/** Longer ranges are refused without parsing. */
const longestRange = 256;

/** Completes `27`, `26.5` or `26.5.1`, as Apple prints versions, to the three numbers that semver requires. */
function threeNumbers(version: string): string | undefined {
  const [, major, minor = '0', patch = '0'] = /^(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?$/.exec(version) ?? [];
  return major === undefined ? undefined : `${Number(major)}.${Number(minor)}.${Number(patch)}`;
}

/**
 * True if a macOS version is in a range such as `>=26.4 <26.6`. The range `26.4` means every 26.4.x.
 * @returns undefined if the range or the version is invalid
 */
export function acceptsVersion(range: string, version: string): boolean | undefined {
  const three = threeNumbers(version);
  return three === undefined || rangeProblem(range) !== undefined ? undefined : satisfies(three, range);
}

/**
 * True if a macOS version is newer than every version in a range.
 * @returns undefined if the range or the version is invalid
 */
export function isAboveRange(range: string, version: string): boolean | undefined {
  const three = threeNumbers(version);
  return three === undefined || rangeProblem(range) !== undefined ? undefined : gtr(three, range);
}

/** Explains in one sentence what is wrong with a version range; returns undefined if some version can match it. */
export function rangeProblem(range: string): string | undefined {
  if (range.length > longestRange) return `It has ${range.length} characters; the limit is ${longestRange} characters.`;
  if (range.trim() === '') return 'It is empty.';
  if (validRange(range) === null) return 'This is not a list of comparisons.';
  return minVersion(range) === null ? 'No version can match this range.' : undefined;
}

/** The first three numbers of a version: `0.31.3.post1` is 0.31.3, and `0.32` is 0.32.0. */
const numbersOf = (version: string) => coerce(version) ?? '0.0.0';

/** Compares two versions of a package by their numbers only. */
export const isBelow = (version: string, other: string): boolean => lt(numbersOf(version), numbersOf(other));

/** True if the numbers of a package's version are in a range. */
export const inRange = (version: string, range: string): boolean => satisfies(numbersOf(version), range);

/** The lowest version in a valid range: 0.31.2 for `>=0.31.2`. */
export const lowestIn = (range: string): string => minVersion(range)?.version ?? range;

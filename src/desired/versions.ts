import Range from 'semver/classes/range.js';
import satisfies from 'semver/functions/satisfies.js';
import minVersion from 'semver/ranges/min-version.js';

/** Longer ranges are refused before they are read. */
const longestRange = 256;

/** A version of macOS with all three numbers: `26.5` is 26.5.0. Undefined for anything else. */
function fullVersion(text: string): string | undefined {
  const match = /^([1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})(?:\.(0|[1-9][0-9]{0,2}))?$/.exec(text);
  return match === null ? undefined : `${match[1]}.${match[2]}.${match[3] ?? '0'}`;
}

/** What is wrong with a range of versions, as one sentence; undefined for a range that some version can meet. */
export function rangeProblem(text: string): string | undefined {
  if (text.length > longestRange) return `It has ${text.length} characters; at most ${longestRange} are read.`;
  if (text.trim() === '') return 'It is empty.';
  try {
    const range = new Range(text);
    return minVersion(range) === null ? 'No version can meet it.' : undefined;
  } catch {
    return 'It is not a list of comparisons.';
  }
}

/**
 * Whether a version of macOS lies inside a range: `26.5` counts as 26.5.0. Undefined when one of the two cannot be
 * read.
 */
export function isVersionAccepted(version: string, range: string): boolean | undefined {
  const full = fullVersion(version);
  if (full === undefined || rangeProblem(range) !== undefined) return undefined;
  return satisfies(full, range);
}

import semver from 'semver';

/** `26.5` and `26.5.1` as Apple prints them; semver wants three numbers. */
function threeNumbers(version: string): string | undefined {
  const [, major, minor, patch] = /^(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?$/.exec(version) ?? [];
  return major === undefined || minor === undefined
    ? undefined
    : `${Number(major)}.${Number(minor)}.${Number(patch ?? '0')}`;
}

/**
 * Whether a macOS version lies in a range such as `>=26.4 <26.6`; `26.4` alone means every 26.4.x.
 * @returns undefined when the range or the version cannot be understood
 */
export function acceptsVersion(range: string, version: string): boolean | undefined {
  const three = threeNumbers(version);
  if (three === undefined || semver.validRange(range) === null) {
    return undefined;
  }
  return semver.satisfies(three, range);
}

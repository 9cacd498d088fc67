import { seededInteger } from './seed.ts';

/**
 * Published builds: Apple's list of current versions (gdmf.apple.com, June 2026), `softwareupdate` lists and terminal
 * logs. The letter of a beta's build does not follow that of the releases: 27.2 is 26B.
 */
const published: Readonly<Record<string, string>> = {
  '26.0': '25A354',
  '26.1': '25B78',
  '26.2': '25C56',
  '26.3': '25D125',
  '26.3.1': '25D2128',
  '26.3.2': '25D2140',
  '26.4': '25E246',
  '26.4.1': '25E253',
  '26.5': '25F71',
  '26.5.1': '25F80',
  '26.6': '25G72',
  '26.6.1': '25G76',
  '26.6.2': '25G83',
  '26.7': '25G229',
  '27.0': '26A428',
  '27.0.1': '26A434',
  '27.2': '26B5091g',
};

const numbersOf = (version: string): readonly [number, number, number] => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [major, minor, patch];
};

export function newerMacos(one: string, other: string): string {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  const differing = a.findIndex((number, index) => number !== b[index]);
  return differing >= 0 && (a[differing] ?? 0) < (b[differing] ?? 0) ? other : one;
}

/** Darwin's major version; since macOS 26, it is one less than the version of macOS. */
const darwinMajor = (version: string): number => numbersOf(version)[0] - 1;

/** The build of a macOS version: the published build, or a constant made-up one in the same form. */
export function buildOf(version: string): string {
  const known = Object.hasOwn(published, version) ? published[version] : undefined;
  if (known !== undefined) return known;
  const [, minor, patch] = numbersOf(version);
  const letter = String.fromCharCode(65 + (minor % 26));
  return `${darwinMajor(version)}${letter}${seededInteger(['build', version], 50, 399) + patch}`;
}

/** Darwin's release in `uname -r`: 25.5.0 for macOS 26.5. */
export const darwinRelease = (version: string): string => {
  const [, minor] = numbersOf(version);
  return `${darwinMajor(version)}.${minor}.0`;
};

/** Whether this macOS has `rdma_ctl` and the ibv tools: since 26.2 (Apple TN3205). */
export function hasRdmaTools(version: string): boolean {
  const [major, minor] = numbersOf(version);
  return major > 26 || (major === 26 && minor >= 2);
}

/** Whether this macOS has the RDMA switch in System Settings: since 27 (WWDC26). */
export const hasRdmaInSettings = (version: string): boolean => numbersOf(version)[0] >= 27;

/** The newest version of a year in the sorted table, without betas, whose builds end with a lower-case letter. */
export const newestRelease = (major: number): string | undefined =>
  Object.keys(published).findLast(
    (version) => numbersOf(version)[0] === major && !/[a-z]$/.test(published[version] ?? ''),
  );

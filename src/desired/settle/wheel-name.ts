import { canonicalName } from './requirements-list.ts';

/** What the name of a wheel says. */
export interface WheelName {
  /** As package indexes compare names. */
  readonly name: string;
  readonly version: string;
  readonly pythons: readonly string[];
  readonly abis: readonly string[];
  readonly platforms: readonly string[];
}

const form =
  /^([A-Za-z0-9._]+)-([A-Za-z0-9._+!]+)(?:-[0-9][A-Za-z0-9._]*)?-([a-z0-9._]+)-([a-z0-9._]+)-([A-Za-z0-9._]+)\.whl$/;

/** Reads the name of a wheel; `undefined` when it is none. @see PEP 427: file name convention; PEP 425: tags */
export function readWheelName(file: string): WheelName | undefined {
  const [, name, version, pythons, abis, platforms] = form.exec(file) ?? [];
  if (name === undefined || version === undefined) return undefined;
  return {
    name: canonicalName(name),
    version,
    pythons: pythons?.split('.') ?? [],
    abis: abis?.split('.') ?? [],
    platforms: platforms?.split('.') ?? [],
  };
}

/** Whether a wheel can be installed on a Mac with Apple silicon, under a Python such as `3.12`. */
export function fitsMac({ pythons, abis, platforms }: WheelName, python: string): boolean {
  const minor = Number(python.split('.')[1]);
  const isPython = pythons.some((tag) => {
    const [, kind, number = ''] = /^(cp|py)3([0-9]*)$/.exec(tag) ?? [];
    if (kind === undefined) return false;
    if (number === '') return kind === 'py';
    const isOlder = Number(number) <= minor;
    return kind === 'py' ? isOlder : Number(number) === minor || (isOlder && abis.includes('abi3'));
  });
  const isAbi = abis.some((tag) => tag === 'none' || tag === 'abi3' || tag === `cp3${minor}`);
  return isPython && isAbi && platforms.some((tag) => /^(?:any|macosx_[0-9]+_[0-9]+_(?:arm64|universal2))$/.test(tag));
}

const archiveForm = /^cpython-(3\.[0-9]+\.[0-9]+)\+[0-9]{8}-aarch64-apple-darwin-install_only_stripped\.tar\.gz$/;

/**
 * Whether a file is an archive of such a Python, by the name that uv fetches it under. Which of its versions, and of
 * which day, that uv asks for, no name tells.
 *
 * @see python-build-standalone: distributions
 */
export function isPythonArchive(file: string, python: string): boolean {
  const version = archiveForm.exec(file)?.[1];
  return version !== undefined && (version === python || version.startsWith(`${python}.`));
}

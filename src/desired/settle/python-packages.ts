import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredRuntime, RuntimeExtra } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { runtimeSubject } from '../../model/subject.ts';
import type { KeysByDriver } from '../rules/rule.ts';
import { type ArchiveFact, extraName, own, type SourceFacts, type TreeSources, wheelFolder } from './settle-trees.ts';

/** What the locked requirements are called in the tree of their runtime. */
export const requirementsName = 'requirements.lock';

/** A runtime with the versions of its packages, and everything that is wrong with their list. */
interface SettledPackages {
  readonly runtime: DesiredRuntime;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the locked requirements of a runtime that nodes build, where they lie on this machine; any other one stays as it is. */
export function settlePackages(
  runtime: DesiredRuntime,
  { archives }: SourceFacts,
  drivers: KeysByDriver,
): SettledPackages {
  const needed = drivers.get(runtime.driver)?.packages;
  if (needed === undefined) return { runtime, diagnostics: [] };
  const list = runtime.extras.find((extra) => extra.name === requirementsName);
  const text = list && textOf(runtime, list, archives);
  return text === undefined ? { runtime, diagnostics: [] } : packagesOf(runtime, list?.source ?? '', text, needed);
}

/** Of a small file beside the archive, where it was read. */
function textOf({ name }: DesiredRuntime, extra: RuntimeExtra, archives: SourceFacts['archives']): string | undefined {
  const seen = own(archives, extraName(name, extra.name));
  return seen?.kind === 'known' ? seen.text : undefined;
}

function packagesOf(runtime: DesiredRuntime, path: string, text: string, needed: readonly string[]): SettledPackages {
  const { packages, problems } = readRequirements(text);
  const subject = runtimeSubject(runtime.name);
  const lines = problems.map((one) =>
    diagnose('mlx/unlocked-requirement', { subject, detail: escapeText(`${path}:${one.line}: ${one.text}`) }),
  );
  const missing = needed.filter((name) => !packages.some((one) => one.name === name));
  const without = missing.map((name) =>
    diagnose('mlx/package-missing', { subject, detail: escapeText(`${path} has no ${name}.`) }),
  );
  const versions = packages.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version] as const]));
  return {
    runtime: { ...runtime, packages: Object.fromEntries(versions) },
    diagnostics: [...lines, ...(problems.length > 0 ? [] : without)],
  };
}

/** A runtime with the files of its wheels among its extras, and what is known of all of them. */
interface SettledWheels {
  readonly runtime: DesiredRuntime;
  readonly sources: SourceFacts;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Adds to a runtime what its nodes need that have no internet: of the wheels in its folder those that its requirements
 * name by their hashes and that fit a Mac, and the archive of its Python. What is missing is named. A folder that
 * nobody could read is as the lock has it.
 */
export function settleWheels(runtime: DesiredRuntime, { lock, sources, baseFolder }: TreeSources): SettledWheels {
  const place = wheelFolder(runtime, baseFolder);
  if (place === undefined) return { runtime, sources, diagnostics: [] };
  const folder = own(sources.folders, place.name);
  if (folder?.kind !== 'known') {
    const kept = lockedNames(runtime, Object.keys(lock.runtimeFiles ?? {}));
    const detail = escapeText(folder?.detail ?? `${place.path} was not read.`);
    const lost = diagnose('mlx/wheels-unreadable', { subject: runtimeSubject(runtime.name), detail });
    return { runtime: withFiles(runtime, place.path, kept), sources, diagnostics: kept.length === 0 ? [lost] : [] };
  }
  const wanted = listOf(runtime, sources);
  const taken = folder.files.filter((file) => isTaken(file, runtime, wanted));
  const facts = taken.map(({ path, sha256, sizeBytes }): readonly [string, ArchiveFact] => [
    extraName(runtime.name, path),
    { kind: 'known', sha256, sizeBytes },
  ]);
  return {
    runtime: withFiles(
      runtime,
      place.path,
      taken.map(({ path }) => path),
    ),
    sources: { ...sources, archives: { ...sources.archives, ...Object.fromEntries(facts) } },
    diagnostics: problemsIn(runtime, place.path, folder.files, wanted),
  };
}

function lockedNames(runtime: DesiredRuntime, locked: readonly string[]): readonly string[] {
  const start = extraName(runtime.name, '');
  const own = runtime.extras.map(({ name }) => extraName(runtime.name, name));
  return locked.filter((name) => name.startsWith(start) && !own.includes(name)).map((name) => name.slice(start.length));
}

const withFiles = (runtime: DesiredRuntime, folder: string, names: readonly string[]): DesiredRuntime => ({
  ...runtime,
  wheels: folder,
  extras: [...runtime.extras, ...names.toSorted().map((name) => ({ name, source: `${folder}/${name}` }))],
});

/** Nothing where the list could not be read: that is told of the list. */
function listOf(runtime: DesiredRuntime, { archives }: SourceFacts): readonly Requirement[] {
  return runtime.extras.flatMap((extra) => {
    const text = textOf(runtime, extra, archives);
    return text === undefined ? [] : readRequirements(text).packages;
  });
}

function isTaken({ path, sha256 }: TreeFile, { python = '' }: DesiredRuntime, wanted: readonly Requirement[]): boolean {
  if (isPythonArchive(path, python)) return true;
  const wheel = readWheelName(path);
  if (wheel === undefined || !fitsMac(wheel, python)) return false;
  return wanted.some(({ name, hashes }) => name === wheel.name && hashes.includes(sha256));
}

function problemsIn(
  runtime: DesiredRuntime,
  folder: string,
  files: readonly TreeFile[],
  wanted: readonly Requirement[],
): readonly Diagnostic[] {
  const { name, python = '' } = runtime;
  const subject = runtimeSubject(name);
  const lacks = wanted
    .filter(({ isConditional }) => !isConditional)
    .flatMap((one) => lackOf(one, runtime, files) ?? [])
    .map((text) => diagnose('mlx/wheel-missing', { subject, detail: escapeText(`${folder}: ${text}`) }));
  const hasPython = files.some(({ path }) => isPythonArchive(path, python));
  const detail = escapeText(`${folder} has no cpython-${python}…-aarch64-apple-darwin-install_only_stripped.tar.gz.`);
  return [...lacks, ...(hasPython ? [] : [diagnose('mlx/python-missing', { subject, detail })])];
}

/** Why a package cannot be installed from these files; `undefined` when it can. */
function lackOf(wanted: Requirement, { python = '' }: DesiredRuntime, files: readonly TreeFile[]): string | undefined {
  const { name, version, isAtUrl, hashes } = wanted;
  if (isAtUrl) return `${name} is wanted from a URL, which a node without internet does not reach.`;
  const named = files.filter(({ path }) => readWheelName(path)?.name === name);
  const ofVersion = named.filter(({ path }) => readWheelName(path)?.version === version);
  if (ofVersion.length === 0) {
    const others = named.length === 0 ? '' : `, only ${named.map(({ path }) => path).join(', ')}`;
    return `no wheel of ${name} ${version ?? ''}${others}.`;
  }
  const listed = ofVersion.filter(({ sha256 }) => hashes.includes(sha256));
  const [first] = ofVersion;
  if (listed.length === 0) return `${first?.path ?? ''} is none of those whose hashes the requirements have.`;
  const isFit = listed.some(({ path }) => {
    const wheel = readWheelName(path);
    return wheel !== undefined && fitsMac(wheel, python);
  });
  return isFit ? undefined : `${listed[0]?.path ?? ''} is not for a Mac with Apple silicon and Python ${python}.`;
}

/** What the name of a wheel says. */
interface WheelName {
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
/** One package of a locked list. */
interface Requirement {
  /** As package indexes compare names: lower case, with `-`. */
  readonly name: string;
  /** Absent for a package at a URL whose file name does not tell it. */
  readonly version?: string;
  /** Each the SHA-256 of a file that may come. */
  readonly hashes: readonly string[];
  /** Whether it comes from a URL of its own. */
  readonly isAtUrl: boolean;
  /** Whether it stands behind a marker, so that only some computers need it. */
  readonly isConditional: boolean;
}

/** A line that cannot stay as it is; counted from 1. */
interface RequirementProblem {
  readonly line: number;
  /** A sentence without the place. */
  readonly text: string;
}

/** What a list of packages says. */
interface RequirementsList {
  readonly packages: readonly Requirement[];
  readonly problems: readonly RequirementProblem[];
}

interface Entry {
  readonly line: number;
  readonly text: string;
}

/** Lines that end with a backslash go on with the next one; comments and empty lines are left out. */
function entriesOf(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  let begun: Entry | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const words = raw.replace(/(?:^|\s)#.*$/, '').trimEnd();
    const isOpen = words.endsWith('\\');
    const part = (isOpen ? words.slice(0, -1) : words).trim();
    const entry: Entry =
      begun === undefined ? { line: index + 1, text: part } : { ...begun, text: `${begun.text} ${part}` };
    if (isOpen) begun = entry;
    else {
      if (entry.text.trim() !== '') entries.push(entry);
      begun = undefined;
    }
  }
  return begun === undefined ? entries : [...entries, begun];
}

const indexOption = /^(?:-i|--index-url|--extra-index-url)[ =]\s*https:\/\/[^\s@]+$/;
const hash = /^--hash=sha256:([0-9a-f]{64})$/;
const pinned = /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9,._ -]*\])?\s*==\s*([A-Za-z0-9.+!_-]+)(?:\s*;.*)?$/;
const atUrl =
  /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9,._ -]*\])?\s*@\s*https:\/\/[^\s@]+\/([^\s/]+\.whl)(?:\s*;.*)?$/;

/** The name of a package as indexes compare it. @see PEP 503: normalized names */
const canonicalName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-');

function requirementOf(text: string): Requirement | string {
  if (text.startsWith('-')) {
    return indexOption.test(text)
      ? { name: '', hashes: [], isAtUrl: false, isConditional: false }
      : `\`${text.split(/[ =]/)[0]}\` has no place in a locked list; only an index by https has.`;
  }
  const words = text.trim().split(/\s+/);
  const from = words.findLastIndex((word) => !hash.test(word)) + 1;
  const wanted = words.slice(0, from).join(' ');
  const hashes = words.slice(from).flatMap((word) => hash.exec(word)?.[1] ?? []);
  const [, name = '', version] = pinned.exec(wanted) ?? [];
  const [, other = '', wheel = ''] = atUrl.exec(wanted) ?? [];
  const shown = wanted.split(/[\s;]/)[0] ?? '';
  if (name === '' && other === '') return `\`${shown}\` is pinned neither by == nor as a wheel at an https URL.`;
  if (hashes.length === 0) return `\`${shown}\` has no --hash=sha256:…, so anything could come under its name.`;
  const more = {
    hashes,
    isAtUrl: name === '',
    isConditional: wanted.includes(';'),
  };
  if (name !== '') return { name: canonicalName(name), ...given({ version }), ...more };
  const ofWheel = wheel.split('-')[1];
  return { name: canonicalName(other), ...given({ version: ofWheel }), ...more };
}

/**
 * Reads a list of packages as `uv pip compile --generate-hashes` makes it: every package has one version, or is a wheel
 * at a URL, and has hashes. Whatever else pip would take is a problem, since it is no lock.
 *
 * @see pip's requirements file format, and its hash-checking mode
 */
export function readRequirements(text: string): RequirementsList {
  const packages: Requirement[] = [];
  const problems: RequirementProblem[] = [];
  for (const { line, text: words } of entriesOf(text)) {
    const read = requirementOf(words);
    if (typeof read === 'string') problems.push({ line, text: read });
    else if (read.name !== '') packages.push(read);
  }
  return { packages, problems };
}

import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredRuntime, ListedPackage, RuntimeExtra } from '../../model/desired.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { shortCommit, sourceText } from '../package-source.ts';
import type { KeysByDriver } from '../rules/rule.ts';
import { type ArchiveFact, extraName, own, type SourceFacts, type TreeSources, wheelFolder } from './settle-trees.ts';

/** The name of the locked requirements in their runtime's tree. */
export const requirementsName = 'requirements.lock';

/** The name of a built wheel in its runtime's tree. Once installed, the tree does not have it any more. */
export const wheelName = 'source.whl';

/** `mlx-lm-0.32.0-python-3.12`, or `mlx-lm-0123456789ab-python-3.12` for a commit. Other inputs have other files. */
const madeName = ({ name, version, python, source }: ListedPackage): string =>
  `${name}-${source === undefined ? version : shortCommit(source)}-python-${python}`;

/** The name of a list that `apply` makes. */
export const listName = (lists: ListedPackage): string => `${madeName(lists)}.requirements`;

/** The name of a wheel that `apply` makes. */
export const builtName = (lists: ListedPackage): string => `${madeName(lists)}.whl`;

/** The name that a wheel of this version needs in order to be installed. @see PEP 427: file name convention */
const pureWheel = (name: string, version: string): string => `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`;

/** A list of packages has at most this many bytes. */
export const mostListBytes = 1_048_576;

/** A built wheel has at most this many bytes. The wheel of mlx-lm 0.32.0 has about 0.5 MB. */
export const mostWheelBytes = 8_388_608;

/**
 * Checks the output of `uv pip compile` for a package: every line pins a package by version and hashes, and the package
 * itself has its version, or the hash of its wheel. Returns the text of the list's file, or the problem as a sentence.
 *
 * @param maker the node where the list was made
 * @param wheel the digest of the built wheel
 */
export function madeList(
  lists: ListedPackage,
  output: string,
  maker: string,
  wheel?: Digest,
): { readonly text: string } | { readonly problem: string } {
  const { name, version, python, source } = lists;
  const { packages, problems } = readRequirements(output);
  const [first] = problems;
  if (first !== undefined) return { problem: `Line ${first.line} of its output: ${first.text}` };
  const found = packages.find((one) => one.name === name);
  if (found === undefined) return { problem: `Its output does not list ${name}.` };
  if (source === undefined && found.version !== version) {
    return { problem: `It chose ${name} ${found.version} instead of ${version}.` };
  }
  if (source !== undefined && !(wheel !== undefined && isOnly(found.hashes, wheel))) {
    return { problem: `Its output does not have the hash of the built wheel of ${name}.` };
  }
  // An output that was cut off within a line would lack hashes, and one between two lines would lack this line end.
  if (!output.endsWith('\n')) return { problem: 'Its output is incomplete.' };
  const head = [
    `${name} ${found.version} with all its dependencies, for Python ${python} on a Mac with Apple silicon.`,
    ...(source === undefined ? [] : [`${name} is the wheel next to this file, built from ${sourceText(source)}.`]),
    `meshwright made this list on ${maker} and never changes it. To make it again, delete this file and run apply.`,
  ];
  return { text: `${head.map((line) => `# ${line}\n`).join('')}${output}` };
}

/** The extra with a built wheel, and the name that uv needs; undefined if there is none, or the list was not read. */
export function builtWheel({ extras, packages }: Pick<DesiredRuntime, 'extras' | 'packages'>) {
  const built = extras.find(({ name }) => name === wheelName)?.lists?.name;
  const version = built === undefined ? undefined : packages?.[built];
  if (built === undefined || version === undefined) return undefined;
  return { extra: wheelName, name: pureWheel(built, version) };
}

const isOnly = (hashes: readonly string[], wanted: string): boolean => hashes.length === 1 && hashes[0] === wanted;

/**
 * Adds package versions to a runtime that nodes build, if its requirements were read, and reports problems in the
 * requirements. Other runtimes are returned unchanged.
 */
export function settlePackages(runtime: DesiredRuntime, { archives }: SourceFacts, drivers: KeysByDriver) {
  const needed = drivers.get(runtime.driver)?.packages;
  if (needed === undefined) return { runtime, diagnostics: [] };
  const list = runtime.extras.find((extra) => extra.name === requirementsName);
  const text = list && textOf(runtime, list, archives);
  if (list === undefined || text === undefined) return { runtime, diagnostics: [] };
  const settled = packagesOf(runtime, list.source, text, needed);
  return { ...settled, diagnostics: [...settled.diagnostics, ...wheelDiffers(runtime, list, text)] };
}

function wheelDiffers(runtime: DesiredRuntime, list: RuntimeExtra, text: string): readonly Diagnostic[] {
  const wheel = runtime.extras.find(({ name, lists }) => name === wheelName && lists !== undefined);
  if (wheel?.sha256 === undefined) return [];
  const found = readRequirements(text).packages.find(({ name }) => name === wheel.lists?.name);
  if (found === undefined || isOnly(found.hashes, wheel.sha256)) return [];
  const detail = escapeText(`${wheel.source} is not the wheel that ${list.source} lists.`);
  return [diagnose('mlx/wheel-differs', { subject: runtimeSubject(runtime.name), detail })];
}

/** The text of a small file that comes with the archive, if it was read. */
function textOf({ name }: DesiredRuntime, extra: RuntimeExtra, archives: SourceFacts['archives']): string | undefined {
  const seen = own(archives, extraName(name, extra.name));
  return seen?.kind === 'known' ? seen.text : undefined;
}

/** Findings about one list. A file that is no list has one on every line. */
const mostFindings = 3;

function packagesOf(runtime: DesiredRuntime, path: string, text: string, needed: readonly string[]) {
  const { packages, problems } = readRequirements(text);
  const subject = runtimeSubject(runtime.name);
  const shown = problems.slice(0, mostFindings);
  const lines = shown.map((one, at) => {
    const more = at === mostFindings - 1 ? problems.length - mostFindings : 0;
    const end = more === 0 ? '' : ` The same is true of ${more} more.`;
    return diagnose('mlx/unlocked-requirement', {
      subject,
      detail: escapeText(`${path}:${one.line}: ${one.text}${end}`),
    });
  });
  const missing = needed.filter((name) => !packages.some((one) => one.name === name));
  const without = missing.map((name) =>
    diagnose('mlx/package-missing', { subject, detail: escapeText(`${path} does not list ${name}.`) }),
  );
  const versions = packages.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version] as const]));
  return {
    runtime: { ...runtime, packages: Object.fromEntries(versions) },
    diagnostics: [...lines, ...(problems.length > 0 ? [] : without)],
  };
}

/**
 * Adds the files for nodes without internet to a runtime: its Python archive, and the wheels in its folder that match
 * the hashes in the requirements and fit a Mac. Reports missing files. If the folder was not read, the lock's list is
 * used. Also returns the facts about all these files.
 */
export function settleWheels(runtime: DesiredRuntime, { lock, sources, baseFolder }: TreeSources) {
  const place = wheelFolder(runtime, baseFolder);
  if (place === undefined) return { runtime, sources, diagnostics: [] };
  const folder = own(sources.folders, place.name);
  if (folder?.kind !== 'known') {
    const locked = lockedNames(runtime, Object.keys(lock.runtimeFiles ?? {}));
    const detail = escapeText(folder?.detail ?? `${place.path} was not read.`);
    const lost = diagnose('mlx/wheels-unreadable', { subject: runtimeSubject(runtime.name), detail });
    return { runtime: withFiles(runtime, place.path, locked), sources, diagnostics: locked.length === 0 ? [lost] : [] };
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

/** Empty if the requirements could not be read, which is reported separately. */
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

/** Explains why a package cannot be installed from these files; returns `undefined` if it can. */
function lackOf(wanted: Requirement, { python = '' }: DesiredRuntime, files: readonly TreeFile[]): string | undefined {
  const { name, version, isAtUrl, hashes } = wanted;
  if (isAtUrl) return `${name} comes from a URL, which a node without internet cannot reach.`;
  const named = files.filter(({ path }) => readWheelName(path)?.name === name);
  const ofVersion = named.filter(({ path }) => readWheelName(path)?.version === version);
  if (ofVersion.length === 0) {
    const others = named.length === 0 ? '' : `, only ${named.map(({ path }) => path).join(', ')}`;
    return `no wheel for ${name} ${version ?? ''}${others}.`;
  }
  const listed = ofVersion.filter(({ sha256 }) => hashes.includes(sha256));
  const [first] = ofVersion;
  if (listed.length === 0) return `the hash of ${first?.path ?? ''} is not in the requirements.`;
  const isFit = listed.some(({ path }) => {
    const wheel = readWheelName(path);
    return wheel !== undefined && fitsMac(wheel, python);
  });
  return isFit ? undefined : `${listed[0]?.path ?? ''} does not fit a Mac with Apple silicon and Python ${python}.`;
}

/** The parts of a wheel's file name, with the package name as package indexes normalize it. */
type WheelName = NonNullable<ReturnType<typeof readWheelName>>;

const form =
  /^([A-Za-z0-9._]+)-([A-Za-z0-9._+!]+)(?:-[0-9][A-Za-z0-9._]*)?-([a-z0-9._]+)-([a-z0-9._]+)-([A-Za-z0-9._]+)\.whl$/;

/** Parses a wheel's file name; undefined for any other file. @see PEP 427: file name convention; PEP 425: tags */
export function readWheelName(file: string) {
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

/** True if a wheel can be installed on a Mac with Apple silicon under a Python version such as `3.12`. */
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
 * True if a file is an archive of this Python version, named as uv downloads it. The patch version and the build date
 * that uv wants are unknown here.
 *
 * @see python-build-standalone: distributions
 */
export function isPythonArchive(file: string, python: string): boolean {
  const version = archiveForm.exec(file)?.[1];
  return version !== undefined && (version === python || version.startsWith(`${python}.`));
}
/** One package of a locked list. */
interface Requirement {
  /** Normalized as in package indexes: lower case, with `-`. */
  readonly name: string;
  /** Absent for a package at a URL without a version in its file name. */
  readonly version?: string;
  /** The SHA-256 of each accepted file. */
  readonly hashes: readonly string[];
  /** True if it has its own URL. */
  readonly isAtUrl: boolean;
  /** True if it has a marker, which limits it to some computers. */
  readonly isConditional: boolean;
}

interface Entry {
  readonly line: number;
  readonly text: string;
}

/** Joins each line that ends with a backslash with the next line. Skips comments and empty lines. */
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

/** Returns a package's normalized name. @see PEP 503: normalized names */
const canonicalName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-');

function requirementOf(text: string): Requirement | string {
  if (text.startsWith('-')) {
    return indexOption.test(text)
      ? { name: '', hashes: [], isAtUrl: false, isConditional: false }
      : 'The only option that is allowed in a locked list is an https index.';
  }
  const words = text.trim().split(/\s+/);
  const from = words.findLastIndex((word) => !hash.test(word)) + 1;
  const wanted = words.slice(0, from).join(' ');
  const hashes = words.slice(from).flatMap((word) => hash.exec(word)?.[1] ?? []);
  const [, name = '', version] = pinned.exec(wanted) ?? [];
  const [, other = '', wheel = ''] = atUrl.exec(wanted) ?? [];
  // The file may be private, so nothing of it may be shown.
  const [, begun] = /^([A-Za-z0-9._-]{1,64})\s*==/.exec(wanted) ?? [];
  if (name === '' && other === '')
    return `${begun === undefined ? 'The line' : `\`${begun}\``} is neither pinned with == nor a wheel at an https URL.`;
  if (hashes.length === 0)
    return `\`${name || other}\` has no --hash=sha256:…, so any file with that name would be accepted.`;
  const isAtUrl = name === '';
  const found = isAtUrl ? wheel.split('-')[1] : version;
  const isConditional = wanted.includes(';');
  return { name: canonicalName(name || other), ...given({ version: found }), hashes, isAtUrl, isConditional };
}

/**
 * Parses requirements as `uv pip compile --generate-hashes` writes them: every package has hashes, and either one
 * version or a wheel at a URL. Anything else that pip accepts is reported as a problem, because it is not locked.
 *
 * @see pip's requirements file format, and its hash-checking mode
 */
export function readRequirements(text: string) {
  const packages: Requirement[] = [];
  // Lines are counted from 1; each text is a sentence without file and line.
  const problems: { readonly line: number; readonly text: string }[] = [];
  for (const { line, text: words } of entriesOf(text)) {
    const read = requirementOf(words);
    if (typeof read === 'string') problems.push({ line, text: read });
    else if (read.name !== '') packages.push(read);
  }
  return { packages, problems };
}

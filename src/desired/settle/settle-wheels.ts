import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredRuntime, MlxRuntime } from '../../model/desired.ts';
import type { TreeFile } from '../../model/node-script.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { type Requirement, readRequirements } from './requirements-list.ts';
import type { TreeSources } from './settle-trees.ts';
import { type ArchiveFact, extraName, type SourceFacts, wheelFolder } from './source-facts.ts';
import { fitsMac, isPythonArchive, readWheelName } from './wheel-name.ts';

/** A runtime with the files of its wheels among its extras, and what is known of all of them. */
export interface SettledWheels {
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
  if (runtime.driver !== 'mlx' || place === undefined) return { runtime, sources, diagnostics: [] };
  const folder = Object.hasOwn(sources.folders, place.name) ? sources.folders[place.name] : undefined;
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

function lockedNames(runtime: MlxRuntime, locked: readonly string[]): readonly string[] {
  const start = extraName(runtime.name, '');
  const own = runtime.extras.map(({ name }) => extraName(runtime.name, name));
  return locked.filter((name) => name.startsWith(start) && !own.includes(name)).map((name) => name.slice(start.length));
}

const withFiles = (runtime: MlxRuntime, folder: string, names: readonly string[]): MlxRuntime => ({
  ...runtime,
  wheels: folder,
  extras: [...runtime.extras, ...names.toSorted().map((name) => ({ name, source: `${folder}/${name}` }))],
});

/** Nothing where the list could not be read: that is told of the list. */
function listOf(runtime: MlxRuntime, { archives }: SourceFacts): readonly Requirement[] {
  return runtime.extras.flatMap((extra) => {
    const name = extraName(runtime.name, extra.name);
    const seen = Object.hasOwn(archives, name) ? archives[name] : undefined;
    return seen?.kind === 'known' && seen.text !== undefined ? readRequirements(seen.text).packages : [];
  });
}

function isTaken({ path, sha256 }: TreeFile, { python }: MlxRuntime, wanted: readonly Requirement[]): boolean {
  if (isPythonArchive(path, python)) return true;
  const wheel = readWheelName(path);
  if (wheel === undefined || !fitsMac(wheel, python)) return false;
  return wanted.some(({ name, hashes }) => name === wheel.name && hashes.includes(sha256));
}

function problemsIn(
  runtime: MlxRuntime,
  folder: string,
  files: readonly TreeFile[],
  wanted: readonly Requirement[],
): readonly Diagnostic[] {
  const subject = runtimeSubject(runtime.name);
  const lacks = wanted
    .filter(({ isConditional }) => !isConditional)
    .flatMap((one) => lackOf(one, runtime, files) ?? [])
    .map((text) => diagnose('mlx/wheel-missing', { subject, detail: escapeText(`${folder}: ${text}`) }));
  const hasPython = files.some(({ path }) => isPythonArchive(path, runtime.python));
  const detail = escapeText(
    `${folder} has no cpython-${runtime.python}…-aarch64-apple-darwin-install_only_stripped.tar.gz.`,
  );
  return [...lacks, ...(hasPython ? [] : [diagnose('mlx/python-missing', { subject, detail })])];
}

/** Why a package cannot be installed from these files; `undefined` when it can. */
function lackOf(wanted: Requirement, { python }: MlxRuntime, files: readonly TreeFile[]): string | undefined {
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

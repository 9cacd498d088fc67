import { stat } from 'node:fs/promises';
import { pointerTo } from '../../config/document/pointer.ts';
import { requirementsName } from '../../desired/resolve-placements.ts';
import type {
  ArchiveFact,
  FolderFact,
  SourceFacts,
  SourceFailure,
  SourcePlace,
} from '../../desired/settle/source-facts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { modelSubject, namedSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import type { JudgedFiles } from '../cluster/open-cluster.ts';
import type { Run } from '../verb/verb.ts';
import { isArchive, readArchive } from './read-sources.ts';

/**
 * What is missing of the sources on this computer, and the lists of packages: no archive and no model is read for it, so
 * that it takes no time. Sources that are there and were not read are left out.
 */
export async function seeSources(
  run: Run,
  { archives, folders }: { readonly archives: readonly SourcePlace[]; readonly folders: readonly SourcePlace[] },
): Promise<SourceFacts> {
  const seen = async ({ name, path }: SourcePlace): Promise<readonly [string, ArchiveFact] | undefined> => {
    const failure = await missing(path);
    if (failure !== undefined) return [name, failure];
    return isArchive(path) ? undefined : [name, await readArchive(path, run.signal)];
  };
  const gone = async ({ name, path }: SourcePlace): Promise<readonly [string, FolderFact] | undefined> => {
    const failure = await missing(path);
    return failure === undefined ? undefined : [name, failure];
  };
  const [files, others] = await Promise.all([Promise.all(archives.map(seen)), Promise.all(folders.map(gone))]);
  return {
    archives: Object.fromEntries(files.flatMap((one) => (one === undefined ? [] : [one]))),
    folders: Object.fromEntries(others.flatMap((one) => (one === undefined ? [] : [one]))),
  };
}

async function missing(path: string): Promise<SourceFailure | undefined> {
  try {
    await stat(path);
    return undefined;
  } catch {
    return { kind: 'missing', detail: `${path} is not there.` };
  }
}

/** A warning at its key for each missing source that the lock does not know; nodes may have what it knows. */
export function missingSources({ lock, whereIs }: JudgedFiles, sources: SourceFacts): readonly Diagnostic[] {
  const told = (pointer: string, subject: Subject, { detail }: SourceFailure): Diagnostic => {
    const where = whereIs?.(pointer);
    const code = subject.kind === 'model' ? 'model/folder-missing' : 'runtime/archive-missing';
    return diagnose(code, { detail, subject, ...(where === undefined ? {} : { where }) });
  };
  const ofFile = ([name, seen]: readonly [string, ArchiveFact | FolderFact]): readonly Diagnostic[] => {
    const [runtime = '', extra] = name.split('/');
    const isLocked = Object.hasOwn(extra === undefined ? lock.runtimes : (lock.runtimeFiles ?? {}), name);
    if (seen.kind === 'known' || isLocked) return [];
    const key = extra === undefined ? 'archive' : extra === requirementsName ? 'requirements' : 'wheels';
    const pointer = runtime === 'doorman' ? '/doorman' : `${pointerTo('/runtimes', runtime)}/${key}`;
    return [told(pointer, runtime === 'doorman' ? namedSubject(runtime) : runtimeSubject(runtime), seen)];
  };
  const isWheels = ([name]: readonly [string, FolderFact]): boolean => name.includes('/');
  const folders = Object.entries(sources.folders);
  return [
    ...[...Object.entries(sources.archives), ...folders.filter(isWheels)].flatMap(ofFile),
    ...folders.flatMap(([name, seen]) =>
      seen.kind === 'known' || name.includes('/')
        ? []
        : [told(`${pointerTo('/models', name)}/source`, modelSubject(name), seen)],
    ),
  ];
}

import { bytesText } from '../../diagnostics/amount-words.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { LockedArchive, TakenBack } from '../../model/cluster-lock.ts';
import type { RuntimeExtra, RuntimeSource } from '../../model/desired.ts';
import { type Digest, digestOf, shortDigest } from '../../model/digest.ts';
import { runtimeSubject } from '../../model/subject.ts';
import type { Settled, TreeSources } from './settle-trees.ts';
import { type ArchiveFact, absolutePath, extraName, type SourceFailure } from './source-facts.ts';

/** A runtime that was settled; what the lock keeps of its other files, by `<runtime>/<name>`. */
export interface SettledRuntime<R extends RuntimeSource = RuntimeSource> extends Settled<R, LockedArchive> {
  readonly lockedExtras: Readonly<Record<string, LockedArchive>>;
  /** The older version that it was taken back to, while that counts. */
  readonly takenBack?: TakenBack;
}

const own = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** A runtime with the digests of its files: of the bytes on this machine, else of the lock. */
export function settleRuntime<R extends RuntimeSource>(runtime: R, from: TreeSources): SettledRuntime<R> {
  const { lock, sources, baseFolder } = from;
  const archive = absolutePath(baseFolder, runtime.archive);
  const main = settleFile(
    { path: archive, seen: own(sources.archives, runtime.name), before: own(lock.runtimes, runtime.name) },
    { runtime: runtime.name, word: 'archive' },
  );
  const extras = runtime.extras.map((extra) => settleExtra(runtime.name, extra, from));
  const all = [main, ...extras.map(({ file }) => file)];
  const wanted = {
    ...runtime,
    archive,
    ...main.now,
    extras: extras.map(({ extra, file }) => ({ ...extra, ...file.now })),
  };
  const digest = runtimeDigest(wanted);
  const [unread] = all.flatMap(({ failure }) => failure ?? []);
  const back = own(lock.takenBack ?? {}, runtime.name);
  return {
    wanted: { ...versioned(wanted, digest, back), ...(unread === undefined ? {} : { unread }) },
    ...(back === undefined || isOver(back, digest) ? {} : { takenBack: back }),
    ...(main.now === undefined ? {} : { locked: main.now }),
    lockedExtras: Object.fromEntries(
      extras.flatMap(({ extra, file: { now } }) =>
        now === undefined ? [] : [[extraName(runtime.name, extra.name), now] as const],
      ),
    ),
    additions: [
      ...all.flatMap(({ additions }) => additions),
      ...(back !== undefined && isOver(back, digest)
        ? [
            `runtime ${runtime.name}: no longer taken back to version ${shortDigest(back.to)}, since its archive is another one`,
          ]
        : []),
    ],
    diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** Whoever brings another archive wants it used. An archive that nobody could read changes nothing. */
const isOver = ({ from }: TakenBack, digest: Digest | undefined): boolean => digest !== undefined && digest !== from;

function versioned<R extends RuntimeSource>(wanted: R, digest: Digest | undefined, back: TakenBack | undefined): R {
  if (digest === undefined) return wanted;
  return back === undefined || isOver(back, digest)
    ? { ...wanted, digest }
    : { ...wanted, digest: back.to, takenBackFrom: digest };
}

function settleExtra(runtime: string, extra: RuntimeExtra, { lock, sources, baseFolder }: TreeSources) {
  const source = absolutePath(baseFolder, extra.source);
  const name = extraName(runtime, extra.name);
  const file = settleFile(
    { path: source, seen: own(sources.archives, name), before: own(lock.runtimeFiles ?? {}, name) },
    { runtime, word: extra.name },
  );
  return { extra: { ...extra, source }, file };
}

/**
 * Counted up when `build-python` seals what it did not seal before, so that a node builds a new version beside the old
 * one: since 2 the hashes of what was installed are there.
 */
const pythonBuild = 2;

/** What a tree of a runtime is made from: that of the archive alone where nothing else counts. */
function runtimeDigest(runtime: RuntimeSource & { readonly python?: string }): Digest | undefined {
  const { sha256, extras } = runtime;
  const others = extras.map((extra) => ({ name: extra.name, sha256: extra.sha256 ?? '' }));
  if (sha256 === undefined || others.some((extra) => extra.sha256 === '')) return undefined;
  const { python = '' } = runtime;
  return others.length === 0 && python === ''
    ? sha256
    : digestOf({ archive: sha256, extras: others, python, pythonBuild });
}

/** One file, as it is now and as the lock has it. */
interface LockedFile {
  /** Absolute. */
  readonly path: string;
  readonly seen: ArchiveFact | undefined;
  readonly before: LockedArchive | undefined;
}

interface SettledFile {
  readonly failure?: SourceFailure;
  readonly now?: LockedArchive;
  readonly additions: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

function settleFile(
  { path, seen = notRead(path), before }: LockedFile,
  { runtime, word }: { readonly runtime: string; readonly word: string },
): SettledFile {
  const now = seen.kind === 'known' ? { sha256: seen.sha256, sizeBytes: seen.sizeBytes } : before;
  if (now === undefined) {
    return seen.kind === 'known'
      ? { additions: [], diagnostics: [] }
      : { additions: [], diagnostics: [noFile(runtime, seen)], failure: seen };
  }
  const is = `sha256 ${shortDigest(now.sha256)}`;
  const about = word === 'archive' ? `runtime ${runtime}` : `runtime ${runtime}: ${word}`;
  if (before === undefined)
    return { now, additions: [`${about}: ${is}, ${bytesText(now.sizeBytes)}`], diagnostics: [] };
  const isSame = before.sha256 === now.sha256;
  const changed = `runtime ${runtime}: ${word} changed, ${is} instead of ${shortDigest(before.sha256)}`;
  return { now, additions: isSame ? [] : [changed], diagnostics: [] };
}

const notRead = (path: string): SourceFailure => ({ kind: 'unreadable', detail: `${path} was not read.` });

const noFile = (runtime: string, { kind, detail }: SourceFailure): Diagnostic =>
  diagnose(kind === 'missing' ? 'runtime/archive-missing' : 'runtime/archive-unreadable', {
    detail,
    subject: runtimeSubject(runtime),
  });

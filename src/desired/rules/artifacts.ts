import { listText } from '../../model/lists.ts';
import { modelSubject, placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { type Draft, type DraftRuntime, pointerTo } from '../draft.ts';
import { packageSource } from '../package-source.ts';
import { collisionsOf, isTreePath } from '../tree-paths.ts';
import type { DriverKeys, FileFinding, FileRule, KeysByDriver, PlaceText } from './rule.ts';

export const artifactRules: readonly FileRule[] = [
  keyOfDriver,
  badVersion,
  badSource,
  twoArchives,
  pageOfHub,
  keyNotUsed,
  plainHttp,
  pathCollision,
];

function plainHttp({ models, refusedMirror }: Draft): readonly FileFinding[] {
  const code = 'model/plain-http';
  const sources = models.filter(({ isRefusedHttp }) => isRefusedHttp);
  return [
    ...(refusedMirror === undefined
      ? []
      : [{ code, pointer: refusedMirror.pointer, detail: 'The nodes would use this mirror over HTTP.' } as const]),
    ...sources.map(({ name, pointer }): FileFinding => {
      const detail = `The nodes would download model ${name} over HTTP.`;
      return { code, pointer: `${pointer}/source`, detail, subject: modelSubject(name) };
    }),
  ];
}

function pathCollision(draft: Draft, place: PlaceText): readonly FileFinding[] {
  return draft.models.flatMap(({ name, pointer, paths }) =>
    collisionsOf(paths.filter(isTreePath)).map(({ path, other }): FileFinding => {
      const otherPlace = { pointer: pointerTo(`${pointer}/files`, other), at: 'key' } as const;
      return {
        code: 'model/path-collision',
        pointer: pointerTo(`${pointer}/files`, path),
        at: 'key',
        label: `collides with ${place(otherPlace)}`,
        detail: `A Mac cannot have both \`${path}\` and \`${other}\`.`,
        subject: modelSubject(name),
        others: [{ ...otherPlace, detail: 'The first of the two paths.' }],
      };
    }),
  );
}

type KeysOf = (own: DriverKeys) => readonly string[];

/** A runtime or a placement whose keys are checked. */
interface Driven extends Pick<DraftRuntime, 'pointer' | 'keys'> {
  /** The driver name in the file. */
  readonly word: string | undefined;
  readonly subject: Subject;
}

/** Checks that runtimes and their placements have only keys that the driver uses, and all keys that it requires. */
function keyOfDriver(
  { runtimes, placements }: Draft,
  _place: PlaceText,
  drivers: KeysByDriver,
): readonly FileFinding[] {
  const words = new Map(runtimes.map(({ name, driver }) => [name, driver?.text]));
  return [
    ...runtimes.flatMap(({ name, pointer, keys, driver }) => {
      const driven = { pointer, keys, word: driver?.text, subject: runtimeSubject(name) };
      return [...strange(driven, drivers, ({ needs, takes }) => [...needs, ...takes]), ...missing(driven, drivers)];
    }),
    ...placements.flatMap(({ name, pointer, keys, runtime }) => {
      const word = words.get(runtime?.text ?? '');
      return strange({ pointer, keys, word, subject: placementSubject(name) }, drivers, (own) => own.ofPlacements);
    }),
  ];
}

/** Reports keys that only other drivers use. A key that no driver lists applies to all drivers. */
function strange(
  { pointer, keys, word, subject }: Driven,
  drivers: KeysByDriver,
  keysOf: KeysOf,
): readonly FileFinding[] {
  if (word === undefined || !drivers.has(word)) return [];
  return keys.flatMap((key) => {
    const of = [...drivers].flatMap(([driver, own]) => (keysOf(own).includes(key) ? [driver] : []));
    if (of.length === 0 || of.includes(word)) return [];
    return {
      code: 'runtime/not-for-driver',
      pointer: pointerTo(pointer, key),
      at: 'key',
      detail: `The driver ${word} does not use \`${key}\`; ${listText(of)} ${of.length === 1 ? 'does' : 'do'}.`,
      ...(key === 'source' ? { hint: 'Build the commit yourself, and set `archive` to the result.' } : {}),
      subject,
    };
  });
}

function missing({ pointer, keys, word = '', subject }: Driven, drivers: KeysByDriver): readonly FileFinding[] {
  const own = drivers.get(word);
  if (own === undefined) return [];
  const lacking = own.needs.filter((key) => !keys.includes(key)).map((key) => `\`${key}\``);
  const isVersioned = own.releases !== undefined && (keys.includes('version') || own.needs.includes('version'));
  const isBuilt = keys.includes('source') && own.takes.includes('source');
  const hasArchive = keys.includes('archive') || own.tool !== undefined || isVersioned || isBuilt;
  const archive = own.releases === undefined ? '`archive`' : archiveKeys(own);
  const all = hasArchive ? lacking : [archive, ...lacking];
  if (all.length === 0) return [];
  const detail = `A runtime with the driver ${word} needs ${listText(all)}.`;
  return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject }];
}

const archiveKeys = ({ takes }: DriverKeys): string =>
  takes.includes('source') ? '`version`, `source` or `archive`' : '`version` or `archive`';

function badVersion({ runtimes }: Draft, _place: PlaceText, drivers: KeysByDriver): readonly FileFinding[] {
  return runtimes.flatMap(({ name, driver, version }): readonly FileFinding[] => {
    const releases = drivers.get(driver?.text ?? '')?.releases;
    if (releases === undefined || version === undefined || releases.form.test(version.text)) return [];
    const detail = `${version.text} is not a version of ${driver?.text}, such as ${releases.example}.`;
    return [{ code: 'runtime/bad-version', pointer: version.pointer, detail, subject: runtimeSubject(name) }];
  });
}

/** A branch or a tag can move, and an abbreviated commit can become ambiguous. */
function badSource({ runtimes }: Draft, _place: PlaceText, drivers: KeysByDriver): readonly FileFinding[] {
  return runtimes.flatMap(({ name, driver, source }): readonly FileFinding[] => {
    const isTaken = drivers.get(driver?.text ?? '')?.takes.includes('source') === true;
    if (!isTaken || source === undefined || packageSource(source.text) !== undefined) return [];
    const [, repository, revision] = /^github:([A-Za-z0-9-]+\/[A-Za-z0-9._-]+)(?:@(.+))?$/.exec(source.text) ?? [];
    // The schema reports every other form.
    if (repository === undefined) return [];
    return [
      {
        code: 'runtime/not-a-commit',
        pointer: source.pointer,
        detail:
          revision === undefined
            ? `${source.text} names no commit.`
            : `${revision} is not a whole commit, which has 40 hexadecimal digits in lower case.`,
        hint: `Find the commit: \`git ls-remote https://github.com/${repository}\``,
        subject: runtimeSubject(name),
      },
    ];
  });
}

/** Refuses a version or a commit next to an archive, unless the driver also needs the version to start the program. */
function twoArchives(
  { runtimes, gatewayKeys }: Draft,
  _place: PlaceText,
  drivers: KeysByDriver,
): readonly FileFinding[] {
  const code = 'runtime/archive-and-version';
  const ofRuntimes = runtimes.flatMap(({ name, pointer, keys, driver }): readonly FileFinding[] => {
    const own = drivers.get(driver?.text ?? '');
    if (own?.releases === undefined || own.needs.includes('version')) return [];
    const [first, second, ...more] = ['version', 'source', 'archive'].filter((key) => keys.includes(key));
    if (first === undefined || second === undefined) return [];
    const all = [first, second, ...more].map((key) => `\`${key}\``);
    const detail = `Runtime ${name} has ${more.length === 0 ? 'both ' : ''}${listText(all)}.`;
    return [{ code, pointer: `${pointer}/${first}`, at: 'key', detail, subject: runtimeSubject(name) }];
  });
  const isTwice = gatewayKeys.includes('node') && gatewayKeys.includes('version');
  const detail = 'The gateway has both `version` and `node`.';
  return isTwice ? [...ofRuntimes, { code, pointer: '/gateway/version', at: 'key', detail }] : ofRuntimes;
}

/** A page of Hugging Face has no list of checksums. */
function pageOfHub(draft: Draft): readonly FileFinding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles }) => {
    const text = source?.isText === true && !hasFiles ? source.text : '';
    const page = /^https:\/\/huggingface\.co\/([\w.-]+\/[\w.-]+)/.exec(text)?.[1];
    if (page === undefined) return [];
    return {
      code: 'model/hub-page',
      pointer: `${pointer}/source`,
      detail: `The source of model ${name} is a page of Hugging Face, which has no list of checksums.`,
      hint: `Write \`source: hf:${page}\`.`,
      subject: modelSubject(name),
    };
  });
}

/** `include` is only for repositories, and `files` only for other sources. */
function keyNotUsed(draft: Draft): readonly FileFinding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles, hasInclude }) => {
    if (source?.isText !== true) return [];
    const isHub = source.text.startsWith('hf:');
    const key = isHub && hasFiles ? 'files' : !isHub && hasInclude ? 'include' : undefined;
    if (key === undefined) return [];
    return {
      code: 'model/key-not-used',
      pointer: `${pointer}/${key}`,
      at: 'key',
      detail: `\`${key}\` has no effect on the source of model ${name}.`,
      subject: modelSubject(name),
    };
  });
}

import { listText } from '../../model/lists.ts';
import { modelSubject, placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { type Draft, type DraftRuntime, pointerTo } from '../draft.ts';
import { collisionsOf, isTreePath } from '../tree-paths.ts';
import type { DriverKeys, Finding, KeysByDriver, PlaceText, Rule } from './rule.ts';

/** Rules for runtimes with their drivers' keys, and for models with their files. */
export const artifactRules: readonly Rule[] = [keyOfDriver, filesMissing, keyNotUsed, plainHttp, pathCollision];

function plainHttp({ models, refusedMirror }: Draft): readonly Finding[] {
  const mirror: readonly Finding[] =
    refusedMirror === undefined
      ? []
      : [
          {
            code: 'model/plain-http',
            pointer: refusedMirror.pointer,
            detail: 'The nodes would use this mirror over HTTP.',
          },
        ];
  const sources = models
    .filter(({ isRefusedHttp }) => isRefusedHttp)
    .map(
      ({ name, pointer }): Finding => ({
        code: 'model/plain-http',
        pointer: `${pointer}/source`,
        detail: `The nodes would download model ${name} over HTTP.`,
        subject: modelSubject(name),
      }),
    );
  return [...mirror, ...sources];
}

function pathCollision(draft: Draft, place: PlaceText): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, paths }) =>
    collisionsOf(paths.filter(isTreePath)).map(({ path, other }): Finding => {
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
function keyOfDriver({ runtimes, placements }: Draft, _place: PlaceText, drivers: KeysByDriver): readonly Finding[] {
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
function strange({ pointer, keys, word, subject }: Driven, drivers: KeysByDriver, keysOf: KeysOf): readonly Finding[] {
  if (word === undefined || !drivers.has(word)) return [];
  return keys.flatMap((key) => {
    const of = [...drivers].flatMap(([driver, own]) => (keysOf(own).includes(key) ? [driver] : []));
    if (of.length === 0 || of.includes(word)) return [];
    return {
      code: 'runtime/not-for-driver',
      pointer: pointerTo(pointer, key),
      at: 'key',
      detail: `The driver ${word} does not use \`${key}\`; ${listText(of)} ${of.length === 1 ? 'does' : 'do'}.`,
      subject,
    };
  });
}

function missing({ pointer, keys, word = '', subject }: Driven, drivers: KeysByDriver): readonly Finding[] {
  const lacking = (drivers.get(word)?.needs ?? []).filter((key) => !keys.includes(key));
  if (lacking.length === 0) return [];
  const needs = listText(lacking.map((key) => `\`${key}\``));
  const detail = `A runtime with the driver ${word} needs ${needs}.`;
  return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject }];
}

/** Models from a node's disk or a server must list their files. */
function filesMissing(draft: Draft): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles }) => {
    const from = source?.isText ? /^(?:node|https?):/.exec(source.text)?.[0] : undefined;
    if (from === undefined || hasFiles) return [];
    const where = from === 'node:' ? 'from their own disks' : 'from a server';
    return {
      code: 'model/files-missing',
      pointer,
      at: 'key',
      detail: `The nodes get model ${name} ${where}, and the file has no digests to verify it.`,
      subject: modelSubject(name),
    };
  });
}

/** `include` is only for repositories, and `files` only for other sources. */
function keyNotUsed(draft: Draft): readonly Finding[] {
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

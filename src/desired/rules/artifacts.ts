import { modelSubject, placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { listText } from '../did-you-mean.ts';
import { type Draft, type DraftRuntime, pointerTo } from '../draft.ts';
import { collisionsOf, isTreePath } from '../tree-paths.ts';
import type { DriverKeys, Finding, KeysByDriver, PlaceText, Rule } from './rule.ts';

/** Runtimes with the keys of their drivers, and models with their files. */
export const artifactRules: readonly Rule[] = [keyOfDriver, filesMissing, plainHttp, pathCollision];

/** A model that nodes fetch by http, which the file does not allow. */
function plainHttp({ models }: Draft): readonly Finding[] {
  return models
    .filter(({ isRefusedHttp }) => isRefusedHttp)
    .map(
      ({ name, pointer }): Finding => ({
        code: 'model/plain-http',
        pointer: `${pointer}/source`,
        detail: `The nodes would fetch ${name} by http.`,
        subject: modelSubject(name),
      }),
    );
}

/** The files of a model are different files on a Mac. */
function pathCollision(draft: Draft, place: PlaceText): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, paths }) =>
    collisionsOf(paths.filter(isTreePath)).map(({ path, other }): Finding => {
      const otherPlace = { pointer: pointerTo(`${pointer}/files`, other), at: 'key' } as const;
      return {
        code: 'model/path-collision',
        pointer: pointerTo(`${pointer}/files`, path),
        at: 'key',
        label: `collides with ${place(otherPlace)}`,
        detail: `\`${path}\` and \`${other}\` cannot lie side by side.`,
        subject: modelSubject(name),
        others: [{ ...otherPlace, detail: 'The first one.' }],
      };
    }),
  );
}

type KeysOf = (own: DriverKeys) => readonly string[];

/** Whose keys are looked at: a runtime, or a placement on it. */
interface Driven extends Pick<DraftRuntime, 'pointer' | 'keys'> {
  /** The driver as the file has it. */
  readonly word: string | undefined;
  readonly subject: Subject;
}

/** Every key of a runtime and of its placements is one that its driver reads, and none is missing that it needs. */
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

/** Keys that other drivers take; one that no driver names is for all. */
function strange({ pointer, keys, word, subject }: Driven, drivers: KeysByDriver, keysOf: KeysOf): readonly Finding[] {
  if (word === undefined || !drivers.has(word)) return [];
  return keys.flatMap((key) => {
    const of = [...drivers].flatMap(([driver, own]) => (keysOf(own).includes(key) ? [driver] : []));
    if (of.length === 0 || of.includes(word)) return [];
    return {
      code: 'runtime/not-for-driver',
      pointer: pointerTo(pointer, key),
      at: 'key',
      detail: `The driver ${word} does not read \`${key}\`; ${listText(of)} ${of.length === 1 ? 'does' : 'do'}.`,
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

/** What nodes take from elsewhere than this machine has its files listed. */
function filesMissing(draft: Draft): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles }) => {
    const from = source?.isText ? /^(?:node|https?):/.exec(source.text)?.[0] : undefined;
    if (from === undefined || hasFiles) return [];
    const where = from === 'node:' ? 'from a folder of their own' : 'from a server';
    return {
      code: 'model/files-missing',
      pointer,
      at: 'key',
      detail: `The nodes take ${name} ${where}, and nothing says what it must be.`,
      subject: modelSubject(name),
    };
  });
}

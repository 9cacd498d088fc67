import { modelSubject, placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { listText, suggesterAmong } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import { type DraftPlacement, type DraftRuntime, type DraftText, pointerTo } from '../draft-placements.ts';
import {
  commandFields,
  driversOfKey,
  driversOfPlacementKey,
  type FieldUse,
  fieldsIn,
  isCommandField,
  type KeysByDriver,
} from '../runtimes.ts';
import { collisionsOf, isTreePath } from '../tree-paths.ts';
import type { Finding, PlaceText, Rule } from './rule.ts';

/** Runtimes with the keys of their drivers, and models with their files. */
export const artifactRules: readonly Rule[] = [
  keyOfDriver,
  unknownField,
  programNotFound,
  filesMissing,
  plainHttp,
  pathCollision,
];

const names = Object.keys(commandFields);
const inBraces = (name: string): string => `{${name}}`;
const ports: readonly string[] = ['port', 'endpoint'];

/** Every field of a command line exists, and what a joined member listens on is a port. */
function unknownField(draft: Draft): readonly Finding[] {
  const near = suggesterAmong(names);
  return draft.runtimes.flatMap(({ name, command, listening }) => {
    const subject = runtimeSubject(name);
    const inWords = command.flatMap((word) =>
      fieldsIn(word.text)
        .filter((field) => !isCommandField(field.name))
        .map((field) => ({ ...unknown(word, field, near(field.name)), subject })),
    );
    const inListening = (listening?.isText ? fieldsIn(listening.text) : [])
      .filter((field) => !ports.includes(field.name))
      .map((field) => ({ ...noPort(listening, field), subject }));
    return [...inWords, ...inListening];
  });
}

function unknown(word: DraftText, { name, start, end }: FieldUse, near: string | undefined): Finding {
  const all = `The fields are ${listText(names.map(inBraces))}.`;
  return {
    code: 'runtime/unknown-field',
    pointer: word.pointer,
    at: 'value',
    part: { start, end },
    detail: `There is no field ${inBraces(name)}.`,
    hint: near === undefined ? all : `Did you mean \`${inBraces(near)}\`?`,
    ...(near === undefined ? {} : { label: `did you mean ${inBraces(near)}?` }),
  };
}

function noPort(text: DraftText | undefined, { name, start, end }: FieldUse): Finding {
  return {
    code: 'runtime/unknown-field',
    pointer: text?.pointer ?? '',
    at: 'value',
    part: { start, end },
    detail: `${inBraces(name)} is no port.`,
    hint: 'Write "{port}", where the ranks meet, or "{endpoint}".',
  };
}

/** The program of a command line is named by a path: inside the archive, or absolute on the Mac. */
function programNotFound(draft: Draft): readonly Finding[] {
  return draft.runtimes.flatMap(({ name, pointer, command: [program] }) => {
    const isFirst = program?.pointer === `${pointer}/command/0`;
    if (program === undefined || !isFirst || /^(?:\{runtime\})?\/[^/]/.test(program.text)) return [];
    const finding: Finding = {
      code: 'runtime/program-not-found',
      pointer: program.pointer,
      at: 'value',
      detail: `\`${program.text.slice(0, 60)}\` is not a path from {runtime} or from the root.`,
      subject: runtimeSubject(name),
    };
    return [finding];
  });
}

/** A model that nodes fetch by http, which the file does not allow. */
function plainHttp({ models }: Draft): readonly Finding[] {
  return models
    .filter(({ isRefusedHttp }) => isRefusedHttp)
    .map(
      ({ name, pointer }): Finding => ({
        code: 'model/plain-http',
        pointer: `${pointer}/source`,
        at: 'value',
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

/** Every key of a runtime and of its placements is one that its driver reads, and none is missing that it needs. */
function keyOfDriver(draft: Draft, _place: PlaceText, drivers: KeysByDriver): readonly Finding[] {
  const words = new Map(draft.runtimes.map(({ name, driver }) => [name, driver?.text ?? '']));
  return [
    ...draft.runtimes.flatMap((runtime) => [...strange(runtime, drivers), ...missing(runtime, drivers)]),
    ...draft.placements.flatMap((placement) =>
      strangeInPlacement(placement, words.get(placement.runtime?.text ?? '') ?? '', drivers),
    ),
  ];
}

function strange({ name, pointer, driver, keys }: DraftRuntime, drivers: KeysByDriver): readonly Finding[] {
  const word = driver?.text ?? '';
  if (!Object.hasOwn(drivers, word)) return [];
  return keys.flatMap((key) => {
    const of = driversOfKey(drivers, key);
    return of.includes(word) ? [] : [finding({ pointer, key, word, of, subject: runtimeSubject(name) })];
  });
}

function missing({ name, pointer, driver, keys }: DraftRuntime, drivers: KeysByDriver): readonly Finding[] {
  const word = driver?.text ?? '';
  const needed = Object.hasOwn(drivers, word) ? (drivers[word]?.needs ?? []) : [];
  const lacking = needed.filter((key) => !keys.includes(key));
  if (lacking.length === 0) return [];
  const needs = listText(lacking.map((key) => `\`${key}\``));
  const detail = `A runtime with the driver ${word} needs ${needs}.`;
  return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject: runtimeSubject(name) }];
}

function strangeInPlacement(
  { name, pointer, keys }: DraftPlacement,
  word: string,
  drivers: KeysByDriver,
): readonly Finding[] {
  if (!Object.hasOwn(drivers, word)) return [];
  return keys.flatMap((key) => {
    const of = driversOfPlacementKey(drivers, key);
    return of.includes(word) ? [] : [finding({ pointer, key, word, of, subject: placementSubject(name) })];
  });
}

interface Strange {
  readonly pointer: string;
  readonly key: string;
  readonly word: string;
  readonly of: readonly string[];
  readonly subject: Subject;
}

const finding = ({ pointer, key, word, of, subject }: Strange): Finding => ({
  code: 'runtime/not-for-driver',
  pointer: pointerTo(pointer, key),
  at: 'key',
  detail: `The driver ${word} does not read \`${key}\`; ${listText(of)} ${of.length === 1 ? 'does' : 'do'}.`,
  subject,
});

/** What nodes take from elsewhere than this machine has its files listed. */
function filesMissing(draft: Draft): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles }) => {
    const from = source?.isText ? /^(?:node|https?):/.exec(source.text)?.[0] : undefined;
    if (from === undefined || hasFiles) return [];
    const where = from === 'node:' ? 'from a folder of their own' : 'from a server';
    const finding: Finding = {
      code: 'model/files-missing',
      pointer,
      at: 'key',
      detail: `The nodes take ${name} ${where}, and nothing says what it must be.`,
      subject: modelSubject(name),
    };
    return [finding];
  });
}

import { placementSubject, runtimeSubject, type Subject } from '../../../model/subject.ts';
import { listText } from '../../did-you-mean.ts';
import type { DraftPlacement, DraftRuntime } from '../../draft/draft-placements.ts';
import { pointerTo } from '../../draft/draft-values.ts';
import type { Finding } from '../../draft/finding.ts';
import { driversOfKey, driversOfPlacementKey, type KeysByDriver } from '../../drivers/driver-keys.ts';
import type { Rule } from '../rule.ts';

/** Every key of a runtime and of its placements is one that its driver reads, and none is missing that it needs. */
export const keyOfDriver: Rule = (draft, _place, drivers) => {
  const words = new Map(draft.runtimes.map(({ name, driver }) => [name, driver?.text ?? '']));
  return [
    ...draft.runtimes.flatMap((runtime) => [...strange(runtime, drivers), ...missing(runtime, drivers)]),
    ...draft.placements.flatMap((placement) =>
      strangeInPlacement(placement, words.get(placement.runtime?.text ?? '') ?? '', drivers),
    ),
  ];
};

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

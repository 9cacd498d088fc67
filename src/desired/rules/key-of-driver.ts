import { placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { listText } from '../did-you-mean.ts';
import type { Draft } from '../draft.ts';
import type { DraftPlacement, DraftRuntime } from '../draft-placements.ts';
import { pointerTo } from '../draft-values.ts';
import { driverKeys, driversOfKey, driversOfPlacementKey, isDriver } from '../driver-keys.ts';
import type { Finding } from '../finding.ts';

/** Every key of a runtime and of its placements is one that its driver reads, and none is missing that it needs. */
export function keyOfDriver(draft: Draft): readonly Finding[] {
  const drivers = new Map(draft.runtimes.map(({ name, driver }) => [name, driver?.text]));
  return [
    ...draft.runtimes.flatMap((runtime) => [...strange(runtime), ...missing(runtime)]),
    ...draft.placements.flatMap((placement) => strangeInPlacement(placement, drivers)),
  ];
}

function strange({ name, pointer, driver, keys }: DraftRuntime): readonly Finding[] {
  const word = driver?.text ?? '';
  if (!isDriver(word)) return [];
  return keys
    .filter((key) => !driversOfKey(key).includes(word))
    .map((key) => finding({ pointer, key, word, of: driversOfKey(key), subject: runtimeSubject(name) }));
}

function missing({ name, pointer, driver, keys }: DraftRuntime): readonly Finding[] {
  const word = driver?.text ?? '';
  const lacking = isDriver(word) ? driverKeys[word].needs.filter((key) => !keys.includes(key)) : [];
  if (lacking.length === 0) return [];
  const needs = listText(lacking.map((key) => `\`${key}\``));
  const detail = `A runtime with the driver ${word} needs ${needs}.`;
  return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject: runtimeSubject(name) }];
}

function strangeInPlacement(
  { name, pointer, runtime, keys }: DraftPlacement,
  drivers: ReadonlyMap<string, string | undefined>,
): readonly Finding[] {
  const word = drivers.get(runtime?.text ?? '') ?? '';
  if (!isDriver(word)) return [];
  return keys
    .filter((key) => !driversOfPlacementKey(key).includes(word))
    .map((key) => finding({ pointer, key, word, of: driversOfPlacementKey(key), subject: placementSubject(name) }));
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

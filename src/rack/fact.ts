import type { Facts } from '../model/facts/fact-values.ts';
import { type Known, known, seenValue } from '../model/known.ts';
import type { Answer, Asked, Probe } from '../model/probe.ts';

/**
 * One observed property of a node: the probes that it reads and the pure function that judges their answers.
 * `parse` gets one answer per probe, in the order of `from`, and never throws.
 */
export interface FactDefinition<N extends string = string, V = unknown> {
  readonly name: N;
  readonly from: readonly Probe[];
  /** Judges the answers, one for each of `from`; `undefined` where a probe was not asked. */
  readonly parse: (answers: readonly (Answer | undefined)[], asked: Asked) => Known<V>;
  /** The command line that a person would type for it, where that is not the one of its first probe. */
  readonly source?: string;
  /**
   * The value on the screen of `facts`, unescaped: one line, or several; `none` where there is not a word. `plusMinus` is ±,
   * or what stands for it in ASCII.
   */
  text(value: V, plusMinus: string): string | readonly FactLine[];
}

/** A line of text, or a list whose items stay whole when it needs several lines. */
export type FactLine = string | readonly string[];

/** Makes a fact: its name and the type of its value follow from what is given here. */
export const defineFact = <const N extends string, V>(fact: FactDefinition<N, V>): FactDefinition<N, V> => fact;

/** Every item as it is read; `garbled` as soon as one cannot be read. */
export function readEach<T, U>(
  items: readonly T[],
  readOne: (item: T) => U | undefined,
  garbled: Known<never>,
): Known<readonly U[]> {
  const found = items.map((item) => readOne(item));
  return found.includes(undefined) ? garbled : known(found.filter((one) => one !== undefined));
}

/** The items, where each has a key of its own; else `garbled`. */
export const eachOnce = <T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  garbled: Known<never>,
): Known<readonly T[]> => (new Set(items.map(keyOf)).size === items.length ? known(items) : garbled);

/** The fact of this name, whatever its value is. @throws Error for a name that is in no observation */
export function factNamed(facts: Facts, name: string): Known<unknown> {
  const found = facts[name];
  if (found === undefined) throw new Error(`an observation without the fact ${name}`);
  return found;
}

/** What an observation says about a fact; undefined without an observation. */
export function read<V>(facts: Facts, fact: FactDefinition<string, V>): Known<V>;
export function read<V>(facts: Facts | undefined, fact: FactDefinition<string, V>): Known<V> | undefined;
export function read<V>(facts: Facts | undefined, { name }: FactDefinition<string, V>): Known<V> | undefined {
  return facts && (factNamed(facts, name) as Known<V>);
}

/** The value of a fact; undefined where it is unknown. */
export function readValue<V>(facts: Facts | undefined, fact: FactDefinition<string, V>): V | undefined {
  const seen = read(facts, fact);
  return seenValue(seen);
}

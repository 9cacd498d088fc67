import type { Facts } from '../model/facts/fact-values.ts';
import { type Known, known, seenValue } from '../model/known.ts';
import type { Answer, Asked, Probe } from '../model/probe.ts';

/**
 * One observed property of a node: the probes that it reads and the pure function that interprets their answers.
 * `parse` gets one answer per probe, in the order of `from`, and never throws.
 */
export interface FactDefinition<N extends string = string, V = unknown> {
  readonly name: N;
  readonly from: readonly Probe[];
  /** Interprets the answers, one for each probe in `from`; `undefined` if a probe was not sent. */
  readonly parse: (answers: readonly (Answer | undefined)[], asked: Asked) => Known<V>;
  /** The command line that a person would type, if it differs from the first probe's. */
  readonly source?: string;
  /**
   * The value on the `facts` screen, unescaped: one or more lines; the screen shows `none` if they are empty. `plusMinus`
   * is ± or its ASCII substitute.
   */
  text(value: V, plusMinus: string): string | readonly FactLine[];
}

/** A line of text, or a list whose items are never broken across lines. */
export type FactLine = string | readonly string[];

export const defineFact = <const N extends string, V>(fact: FactDefinition<N, V>): FactDefinition<N, V> => fact;

export function readEach<T, U>(
  items: readonly T[],
  readOne: (item: T) => U | undefined,
  garbled: Known<never>,
): Known<readonly U[]> {
  const found = items.map((item) => readOne(item));
  return found.includes(undefined) ? garbled : known(found.filter((one) => one !== undefined));
}

export const eachOnce = <T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  garbled: Known<never>,
): Known<readonly T[]> => (new Set(items.map(keyOf)).size === items.length ? known(items) : garbled);

/** Returns the fact with this name, whatever its value type. @throws Error if no observation has such a fact */
export function factNamed(facts: Facts, name: string): Known<unknown> {
  const found = facts[name];
  if (found === undefined) throw new Error(`an observation without the fact ${name}`);
  return found;
}

/** The observed fact; undefined without an observation. */
export function read<V>(facts: Facts, fact: FactDefinition<string, V>): Known<V>;
export function read<V>(facts: Facts | undefined, fact: FactDefinition<string, V>): Known<V> | undefined;
export function read<V>(facts: Facts | undefined, { name }: FactDefinition<string, V>): Known<V> | undefined {
  return facts && (factNamed(facts, name) as Known<V>);
}

export const readValue = <V>(facts: Facts | undefined, fact: FactDefinition<string, V>): V | undefined =>
  seenValue(read(facts, fact));

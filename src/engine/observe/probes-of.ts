import type { Probe } from '../../model/probe.ts';
import { type FactName, registry, unaskingProbes } from './facts.ts';

/**
 * Only what these facts read, and no endpoint is asked for a token. Every other fact of such a look is unknown, since
 * nobody asked.
 */
export function probesOf(names: readonly FactName[]): readonly Probe[] {
  const wanted = new Set(names.flatMap((name) => registry[name].from.map((probe) => probe.name)));
  return unaskingProbes().filter((probe) => wanted.has(probe.name));
}

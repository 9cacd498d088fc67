import { type Known, type UnknownReason, unknown } from '../../model/known.ts';
import type { Answer, Asked } from '../../model/probe.ts';
import { type EveryFact, type FactName, factNames, registry } from './facts.ts';

/** All facts of one node from the answers of one observation; a probe without an answer makes its facts unknown. */
export function parseFacts(answers: readonly Answer[], asked: Asked): EveryFact {
  const byProbe = new Map(answers.map((answer) => [answer.probe, answer]));
  return factsOf((name) => parseFact(name, byProbe, asked));
}

/** All facts of a node that could not be observed, for one and the same reason. */
export const factsWithoutAnswer = (reason: UnknownReason, detail: string): EveryFact =>
  factsOf(() => unknown(reason, detail));

function parseFact(name: FactName, byProbe: ReadonlyMap<string, Answer>, asked: Asked): Known<unknown> {
  const { from, parse } = registry[name];
  return parse(
    from.map((probe) => byProbe.get(probe.name)),
    asked,
  );
}

const factsOf = (judge: (name: FactName) => Known<unknown>): EveryFact =>
  Object.fromEntries(factNames.map((name) => [name, judge(name)])) as EveryFact;

import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { makePlan as make } from '../../../src/engine/plan/make-plan.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { subjectText } from '../../../src/model/subject.ts';
import { jsonText, say } from '../one-page.ts';

/** The plan, which also stands on the page of the test file. */
export function makePlan(...about: Parameters<typeof make>): Plan {
  const plan = make(...about);
  // A digest changes with whatever is digested.
  for (const line of linesOf(plan)) say(line.replaceAll(/\b[0-9a-f]{16}\b/g, '<digest>'));
  return plan;
}

const linesOf = ({ changes, steps, waiting, blockers, effects, diagnostics }: Plan): readonly string[] => [
  ...changes.map(({ id, from, to }) => `change ${id}: ${from} -> ${to}`),
  ...steps.map(({ id, class: kind, effect, act }) => `step ${id}: ${kind} ${act.kind} ${JSON.stringify(effect)}`),
  ...waiting.map(
    (one) =>
      `waiting ${one.node} ${one.resource}${one.isUnknown ? ' (unknown)' : ''}: ${one.for.map(({ text }) => text).join('; ')}`,
  ),
  ...blockers.map((one) => `blocker ${jsonText(one)}`),
  ...effects.map((one) => `effect ${JSON.stringify(one)}`),
  ...diagnostics.map(({ severity, code, subject, detail, hint }) =>
    [`${severity} ${code}`, subjectText(subject), plainText(detail), plainText(hint)].join(' | '),
  ),
];

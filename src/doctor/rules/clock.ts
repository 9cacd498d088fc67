import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';
import { durationText } from '../units.ts';

const toleratedMs = 5_000;

/** Nodes whose clock is off by more than five seconds beyond what the observation can resolve. */
export const clock: Rule = ({ nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = facts.clock;
    if (seen.kind === 'unknown' || Math.abs(seen.value.offsetMs) <= toleratedMs + seen.value.uncertaintyMs) {
      return [];
    }
    const side = seen.value.offsetMs > 0 ? 'ahead of' : 'behind';
    return [
      diagnose('clock/offset', {
        subject: nodeSubject(name),
        detail: `Its clock is ${durationText(seen.value.offsetMs)} ${side} this computer.`,
        hint: `On ${name}: sudo sntp -sS time.apple.com`,
      }),
    ];
  });

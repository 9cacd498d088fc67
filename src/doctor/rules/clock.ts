import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClockOffset } from '../../model/fact-values.ts';
import { withCommands } from '../hint-lines.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject, nodesSubject } from '../subject.ts';
import { durationText } from '../units.ts';

const toleratedMs = 5_000;

interface Seen extends ClockOffset {
  readonly name: string;
}

const isOff = ({ offsetMs, uncertaintyMs }: Seen): boolean => Math.abs(offsetMs) > toleratedMs + uncertaintyMs;

/** Whether one true time can lie within what each node says: then it is this computer that differs. */
function agree(seen: readonly Seen[]): boolean {
  const latestStart = Math.max(...seen.map(({ offsetMs, uncertaintyMs }) => offsetMs - uncertaintyMs));
  const earliestEnd = Math.min(...seen.map(({ offsetMs, uncertaintyMs }) => offsetMs + uncertaintyMs));
  return latestStart <= earliestEnd;
}

function ownClock(seen: readonly Seen[]): Diagnostic {
  const offsetMs = seen.reduce((sum, one) => sum + one.offsetMs, 0) / seen.length;
  const side = offsetMs > 0 ? 'behind' : 'ahead of';
  return diagnose('clock/this-computer', {
    subject: nodesSubject(seen.map(({ name }) => name)),
    detail: `The clock of this computer is ${durationText(offsetMs)} ${side} all of them, and they agree with each other.`,
  });
}

function nodeClock({ name, offsetMs }: Seen): Diagnostic {
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return diagnose('clock/offset', {
    subject: nodeSubject(name),
    detail: `Its clock is ${durationText(offsetMs)} ${side} this computer.`,
    hint: withCommands(`On ${name}:`, ['sudo sntp -sS time.apple.com']),
  });
}

/**
 * Nodes whose clock is off by more than five seconds beyond what the observation can resolve. When all of two or more
 * are off together, the clock that is wrong is that of this computer.
 */
export const clock: Rule = ({ nodes }) => {
  const seen = nodes.flatMap(({ name, facts }): readonly Seen[] =>
    facts.clock.kind === 'known' ? [{ name, ...facts.clock.value }] : [],
  );
  return seen.length >= 2 && seen.every(isOff) && agree(seen) ? [ownClock(seen)] : seen.filter(isOff).map(nodeClock);
};

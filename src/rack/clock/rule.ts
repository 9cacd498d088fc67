import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject, nodesSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import { defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { judgeClocks, type SeenClock } from './clocks.ts';
import { clockFact } from './fact.ts';

const codes = {
  'clock/offset': {
    severity: 'warning',
    summary: 'The clock of this node is wrong.',
    cause: 'It differs from the clock of this computer by more than 5 seconds and what one observation can resolve.',
    hint: 'sudo sntp -sS time.apple.com',
    role: 'converged-by-clock',
    facts: [clockFact],
  },
  'clock/this-computer': {
    severity: 'warning',
    summary: 'The clock of this computer differs from that of all nodes.',
    cause: 'Two or more nodes were asked, they agree with each other, and this computer is the odd one.',
    hint: 'Set the clock of this computer, the one on which you run meshwright, and let it follow a time server.',
    role: 'told',
    facts: [clockFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

function ownClock(seen: readonly SeenClock[]): Found {
  const offsetMs = seen.reduce((sum, one) => sum + one.offsetMs, 0) / seen.length;
  const side = offsetMs > 0 ? 'behind' : 'ahead of';
  return {
    code: 'clock/this-computer',
    subject: nodesSubject(seen.map(({ name }) => name)),
    detail: `The clock of this computer is ${durationText(offsetMs)} ${side} all of them, and they agree with each other.`,
  };
}

function nodeClock({ name, offsetMs }: SeenClock, isSet: boolean): Found {
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return {
    code: 'clock/offset',
    subject: nodeSubject(name),
    detail: `Its clock is ${durationText(offsetMs)} ${side} this computer.`,
    hint: withCommands(
      isSet ? prose`Set it with ${meshwright('apply')}, or on ${named(name)}` : prose`On ${named(name)}`,
      ['sudo sntp -sS time.apple.com'],
    ),
  };
}

/** Nodes whose clock is wrong, or this computer where all of them agree that it is. */
export const clock = defineRule(codes, ({ desired, nodes }) => {
  const { kind, off } = judgeClocks(nodes);
  return kind === 'this-computer' ? [ownClock(off)] : off.map((one) => nodeClock(one, desired.system.clock === 'set'));
});

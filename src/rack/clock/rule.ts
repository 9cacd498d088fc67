import { withCommands } from '../../diagnostics/prose-text.ts';
import { nodeSubject, nodesSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import { durationText } from '../../model/text/units.ts';
import { defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { clockFact } from './fact.ts';
import { judgeClocks, type SeenClock } from './reading.ts';

const codes = {
  'clock/offset': {
    severity: 'warning',
    summary: "This node's clock is wrong.",
    cause: "It differs from this computer's clock by more than 5 seconds beyond the precision of an observation.",
    hint: 'Run `sudo sntp -sS time.apple.com` on the node.',
    role: 'converged-by-clock',
    facts: [clockFact],
  },
  'clock/this-computer': {
    severity: 'warning',
    summary: "This computer's clock differs from the clocks of all nodes.",
    cause: 'Two or more nodes answered, and their clocks agree with each other but not with this computer.',
    hint: 'Set the clock of the computer that runs meshwright, and synchronize it with a time server.',
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
    detail: `This computer's clock is ${durationText(offsetMs)} ${side} all nodes, which agree with each other.`,
  };
}

function nodeClock({ name, offsetMs }: SeenClock, isSet: boolean): Found {
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return {
    code: 'clock/offset',
    subject: nodeSubject(name),
    detail: `This node's clock is ${durationText(offsetMs)} ${side} this computer.`,
    hint: withCommands(
      isSet ? prose`Set it with ${meshwright('apply')}, or on ${named(name)}` : prose`On ${named(name)}`,
      ['sudo sntp -sS time.apple.com'],
    ),
  };
}

export const clock = defineRule(codes, ({ desired, nodes }) => {
  const { kind, off } = judgeClocks(nodes);
  return kind === 'this-computer' ? [ownClock(off)] : off.map((one) => nodeClock(one, desired.system.clock === 'set'));
});

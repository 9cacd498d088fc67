import { everyNode } from '../../desired/layouts.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { subjectNames } from '../../model/subject.ts';
import { aside, type Command, commandKey } from '../../model/text/command.ts';
import { commandsIn, joinProse, prose, withoutLines } from '../../model/text/prose.ts';
import type { Goal } from '../../rack/goal.ts';
import type { Trouble } from '../diagnose/troubles.ts';
import { makePlan, type PlanRequest } from './make-plan.ts';
import type { Plan } from './plan.ts';

export type CommandScope = Pick<PlanRequest, 'desired' | 'observation'>;

/** The goals of a command in order, and its placements; empty for commands that are not checked. */
function goalsOf({ verb, words: typed, tail }: Command, { desired }: CommandScope) {
  const { placements } = desired;
  const words = typed.filter((word) => typeof word === 'string');
  const none = { goals: [] as readonly Goal[], concerned: [] as readonly DesiredPlacement[] };
  if (words.length === 0 || tail.length > 0 || words.some((word) => word.startsWith('-'))) return none;
  if (verb === 'reboot') {
    const concerned = placements.filter(
      (one) => one.state === 'serving' && everyNode(one).some((node) => words.includes(node)),
    );
    const nodes = desired.nodes.map(({ name }) => name).filter((name) => words.includes(name));
    const goal: Goal = { kind: 'reboot', nodes, back: concerned.map(({ name }) => name) };
    return { goals: [goal], concerned };
  }
  const concerned = placements.filter(({ name }) => words.includes(name));
  const start: Goal = { kind: 'start', placements: words };
  if (verb === 'start') return { goals: [start], concerned };
  if (verb === 'restart')
    return { goals: [{ kind: 'stop', placements: words, back: words } satisfies Goal, start], concerned };
  return none;
}

const hasWork = ({ steps }: Plan): boolean => steps.some(({ act }) => act.kind !== 'hands');

/** Why `reboot`, `restart` or `start` would do nothing now. Undefined for useful commands, and for all others. */
function vainReason(command: Command, scope: CommandScope): string | undefined {
  const { goals, concerned } = goalsOf(command, scope);
  const [first] = goals;
  if (first === undefined) return undefined;
  const nodes = [...concerned.flatMap(everyNode), ...(first.kind === 'reboot' ? first.nodes : [])];
  const targets = scope.desired.nodes.map(({ name }) => name).filter((name) => nodes.includes(name));
  const plans = goals.map((goal) => makePlan({ ...scope, goal, targets }));
  // A blocker of the first goal stops the command, because no start follows a refused stop.
  const refused = plans.findIndex((plan) => !hasWork(plan) && plan.waiting.length > 0);
  if (plans.slice(0, refused === -1 ? undefined : refused).some(hasWork)) return undefined;
  const blocker = plans.flatMap(({ blockers }) => blockers)[0];
  return blocker === undefined ? undefined : `${blocker.code} on ${blocker.node}`;
}

/** Replaces restarts and starts in hints that a plan would refuse until something else is fixed, such as macOS. */
export function withoutVainCommands(troubles: readonly Trouble[], scope: CommandScope): readonly Trouble[] {
  const reasons = new Map<string, string | undefined>();
  const reasonOf = (command: Command): string | undefined => {
    const key = commandKey(command);
    if (!reasons.has(key)) reasons.set(key, vainReason(command, scope));
    return reasons.get(key);
  };
  return troubles.map((trouble) => {
    const { finding } = trouble;
    const refused = commandsIn(finding.hint, subjectNames(finding.subject)).filter(
      (one) => reasonOf(one) !== undefined,
    );
    if (refused.length === 0) return trouble;
    const why = refused.map(
      (one) => prose`First resolve ${reasonOf(one) ?? ''} (until then ${aside(one)} is refused).`,
    );
    const hint = joinProse([...why, withoutLines(finding.hint, refused)], ' ');
    return { ...trouble, finding: { ...finding, hint }, refused };
  });
}

import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { FactName, FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { makePlan } from '../../../rack/plans.ts';
import { observedFleet, settledFleet, settledValues } from '../../../rack/rack.ts';

/** A case: the differences from a rack that matches its file, and the resulting plan. */
export interface ResourceFile {
  readonly title: string;
  /** Keys of the fleet that differ; the keys of `thunderbolt` and `system` are merged individually. */
  readonly file?: Record<string, object>;
  /** The observed cables. */
  readonly cables?: readonly string[];
  readonly unreachable?: readonly string[];
  /** By node and fact. For a list, an object changes entries by name; null removes one. */
  readonly seen?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly unknown?: Readonly<Record<string, Partial<Record<FactName, UnknownReason>>>>;
  readonly goal?: Goal;
  readonly targets?: readonly string[];
  readonly changes?: readonly string[];
  readonly steps?: readonly string[];
  readonly waiting?: readonly string[];
  readonly blockers?: readonly string[];
  readonly effects?: readonly string[];
  /** Codes that the plan only reports. */
  readonly reported?: readonly string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name of a list entry. */
const keyOf = (entry: Record<string, unknown>): string => String(entry['device'] ?? entry['name'] ?? entry['port']);

function mergeList(list: readonly unknown[], changes: Record<string, unknown>): readonly unknown[] {
  const old = list.filter(isObject);
  const kept = old.flatMap((entry) => {
    const change = changes[keyOf(entry)];
    return change === null ? [] : [isObject(change) ? { ...entry, ...change } : entry];
  });
  const added = Object.entries(changes).filter(
    ([key, change]) => change !== null && !old.some((one) => keyOf(one) === key),
  );
  return [...kept, ...added.map(([, change]) => change)];
}

function mergeFacts(facts: FactValues, changes: Readonly<Record<string, unknown>>): FactValues {
  const merged = Object.entries(changes).map(([name, change]) => {
    const old: unknown = facts[name as FactName];
    return [name, Array.isArray(old) && isObject(change) ? mergeList(old, change) : change];
  });
  return { ...facts, ...Object.fromEntries(merged) };
}

function fleetOf({ file = {} }: ResourceFile): DesiredFleet {
  const fleet = settledFleet();
  const { thunderbolt, system, ...rest } = file;
  return {
    ...fleet,
    ...rest,
    thunderbolt: { ...fleet.thunderbolt, ...thunderbolt },
    system: { ...fleet.system, ...system },
  };
}

/** The plan of a case. */
export function planOf(one: ResourceFile): Plan {
  const desired = fleetOf(one);
  const values = Object.entries(settledValues(one.cables)).map(([name, facts]) => [
    name,
    mergeFacts(facts, one.seen?.[name] ?? {}),
  ]);
  const observation = observedFleet({
    values: Object.fromEntries(values),
    ...(one.unknown === undefined ? {} : { unknown: one.unknown }),
    ...(one.unreachable === undefined ? {} : { unreachable: one.unreachable }),
  });
  const targets = one.targets?.map(nodeName) ?? desired.nodes.map(({ name }) => name);
  return makePlan({ goal: one.goal ?? { kind: 'converge' }, desired, observation, targets });
}

function actText({ act }: Step): string {
  switch (act.kind) {
    case 'script':
      return `${act.name} ${JSON.stringify(act.args)}`;
    case 'transaction':
      return `transaction ${act.name} ${JSON.stringify(act.args)}`;
    case 'job':
      return `job ${act.name} ${JSON.stringify(act.args)}`;
    case 'send':
      return `send ${act.source} to ${act.to.path} (${act.sizeBytes} bytes)`;
    case 'gate':
      return `gate ${act.expect.map(({ address, value }) => `${address} ${JSON.stringify(value)}`).join(', ')}`;
    case 'reboot':
      return `reboot to ${act.to} from ${act.from.kind === 'known' ? act.from.value : 'unknown'}`;
    default:
      return act.kind;
  }
}

function stepLine(step: Step): string {
  const effect = step.effect.kind === 'none' ? '' : ` [${step.effect.kind}]`;
  const after = step.needs.length === 0 ? '' : ` after ${step.needs.join(' ')}`;
  return `${step.id}: ${actText(step)}${effect}${after}`;
}

/** The plan in lines that a person can review. */
export function planLines(
  plan: Plan,
): Required<Pick<ResourceFile, 'changes' | 'steps' | 'waiting' | 'blockers' | 'effects' | 'reported'>> {
  return {
    changes: plan.changes.map(({ id, from, to }) => `${id}: ${from} -> ${to}`),
    steps: plan.steps.map(stepLine),
    waiting: plan.waiting.map(
      (one) =>
        `${one.node} ${one.resource}: ${one.for.map(({ text }) => text).join('; ')}${one.isUnknown ? ' (unknown)' : ''}`,
    ),
    blockers: plan.blockers.map((one) => {
      const nodes = [one.node, ...one.peers].join(' ');
      return `${one.isHands ? 'hands' : 'other'} ${one.code} on ${nodes}: ${plainText(one.action)}${one.blocks.length === 0 ? '' : ` (blocks ${one.blocks.join(', ')})`}`;
    }),
    effects: plan.effects.map(({ kind, nodes }) => `${kind} on ${nodes.join(' ')}`),
    reported: plan.diagnostics.map(({ code, subject }) => `${code} ${subjectText(subject)}`),
  };
}

import type { StopOrder } from '../../../drivers/contract/driver.ts';
import type { StopDialogue } from '../../../model/endpoint-calls.ts';
import type { NodeName } from '../../../model/node.ts';
import type { ScriptCall } from '../../../model/node-script.ts';
import {
  type Act,
  type Effect,
  type Patch,
  type Step,
  type StepClass,
  type StepId,
  stepId,
} from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import type { RankSight } from './member.ts';

/** What all steps of one placement have in common. */
export interface MeshWork {
  readonly placement: string;
  /** Every node that it is on, in rank order. */
  readonly nodes: readonly NodeName[];
  /** Ids of the changes that these steps make. */
  readonly changes: readonly string[];
  /** How long its ranks are waited for after INT; absent where a stop begins with TERM. */
  readonly interruptMs?: number;
  /** How long its ranks need at least to end in order after TERM. */
  readonly graceMs?: number;
  /** As its driver wants it; absent where nobody knows its driver: the leader first. */
  readonly stopOrder?: StopOrder;
  /** What is talked over with its leader before it is stopped, at the port of its endpoint; absent for nothing. */
  readonly farewell?: { readonly name: StopDialogue['name']; readonly port: number };
  /** Absent where the failure of one step leaves the others to go on. */
  readonly group?: string;
}

/** The part of a step that its work does not say. */
export interface MeshStepParts {
  readonly node: NodeName;
  /** Unique within the placement on its node: `kick`. */
  readonly verb: string;
  readonly class: StepClass;
  readonly act: Act;
  readonly needs: readonly Step[];
  /** What it begins behind, whatever came of it; absent or empty for nothing. */
  readonly after?: readonly Step[];
  readonly effect?: Effect;
  readonly establishes?: readonly Patch[];
  readonly deadlineMs: number;
}

/** One step on a member; the other members are its peers, so that everything is in place on all of them before it. */
export function meshStep(work: MeshWork, { node, verb, effect, after = [], ...parts }: MeshStepParts): Step {
  const isGate = parts.act.kind === 'gate';
  return {
    id: stepId(`${node}/placement/${work.placement}/${verb}`),
    node,
    resource: 'placement',
    class: parts.class,
    act: parts.act,
    effect: effect ?? { kind: 'none' },
    changes: isGate ? [] : work.changes,
    needs: idsOf(parts.needs),
    ...(after.length === 0 ? {} : { after: idsOf(after) }),
    ...(work.group === undefined ? {} : { group: work.group }),
    peers: work.nodes.filter((other) => other !== node),
    establishes: parts.establishes ?? [],
    deadlineMs: parts.deadlineMs,
  };
}

const idsOf = (steps: readonly Step[]): readonly StepId[] => [...new Set(steps.map(({ id }) => id))];

/** A script of ours as the act of a step. */
export const scriptAct = (call: ScriptCall): Act => ({ kind: 'script', ...call });

/** `rank/<placement>` of a node, as gates expect it. */
export const rankPatch = (placement: string, node: NodeName, sight: RankSight): Patch => ({
  node,
  ...rankAddress(placement),
  value: { generation: sight.generation, state: sight.state },
});

/** The address of what one member does. */
export const rankAddress = (placement: string): Addressed => addressed({ kind: 'rank', placement });

/** The address of a placement, on the node of its leader. */
export const placementAddress = (placement: string): Addressed => addressed({ kind: 'placement', placement });

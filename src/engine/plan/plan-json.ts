import { diagnosticJson } from '../../diagnostics/json.ts';
import { proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Json } from '../../model/digest.ts';
import type { PlanDocument } from '../../model/documents.generated.ts';
import { nodeFitJson } from '../../model/fit.ts';
import { given } from '../../model/given.ts';
import type { Act, Change, Patch, Step } from '../../model/step.ts';
import type { Blocker } from '../../rack/resource.ts';
import type { Plan, Waiting } from './plan.ts';

/** Values that are known only after the step, because a restarted Mac has a new boot session. */
const knownAfter = ({ kind }: Act) => (kind === 'reboot' ? { knownAfter: ['boot-session'] } : {});

const changeJson = ({ id: _, about: __, ...change }: Change) => change;

/** Omits `about`, because the address contains all its parts. */
const patchJson = ({ node, address, value }: Patch) => ({ node, address, value });

const actJson = (act: Act) =>
  act.kind === 'gate' ? { ...act, expect: act.expect.map(patchJson), aborts: act.aborts.map(patchJson) } : act;

const stepJson = (step: Step) => ({
  id: step.id,
  node: step.node,
  resource: step.resource,
  class: step.class,
  act: actJson(step.act),
  effect: step.effect,
  change: step.changes[0] ?? null,
  changes: step.changes,
  needs: step.needs,
  ...given({ after: step.after, group: step.group }),
  peers: step.peers,
  establishes: step.establishes.map(patchJson),
  ...knownAfter(step.act),
  deadlineMs: step.deadlineMs,
});

const waitingJson = ({ resource, node, for: reasons, isUnknown }: Waiting) => ({
  resource,
  node,
  for: reasons.map(({ text }) => text),
  unknown: isUnknown,
});

const blockerJson = ({ code, node, resource, action, isHands, peers, blocks }: Blocker, reader: Reader) => ({
  code,
  node,
  resource,
  action: proseText(action, reader),
  hands: isHands,
  peers,
  blocks,
});

/** A plan as JSON for programs and for saving (`schemas/plan.schema.json`). */
export function planJson(plan: Plan, reader: Reader): Json {
  const document: PlanDocument = {
    formatVersion: plan.formatVersion,
    cluster: plan.cluster,
    configHash: plan.configHash,
    observed: plan.observed,
    ...given({ unreached: plan.unreached }),
    changes: plan.changes.map(changeJson),
    steps: plan.steps.map(stepJson),
    rescues: plan.rescues.map(({ group, steps }) => ({ group, steps: steps.map(stepJson) })),
    waiting: plan.waiting.map(waitingJson),
    blockers: plan.blockers.map((one) => blockerJson(one, reader)),
    effects: plan.effects,
    ...given({ later: plan.later, updates: plan.updates, undo: plan.undo && proseText(plan.undo, reader) }),
    ...(plan.memory === undefined ? {} : { memory: plan.memory.map(nodeFitJson) }),
    diagnostics: plan.diagnostics.map((one) => diagnosticJson(one, reader)),
  };
  const json: Json = JSON.parse(JSON.stringify(document));
  return json;
}

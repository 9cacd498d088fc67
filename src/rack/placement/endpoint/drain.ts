import { leadersOf } from '../../../desired/layouts.ts';
import { nameInFile } from '../../../desired/replicas.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import { mayRun } from '../../../model/facts/daemons.ts';
import { type Known, mapKnown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Step } from '../../../model/step.ts';
import { type Addressed, addressed, nodeSubject } from '../../../model/subject.ts';
import { aside, meshwright } from '../../../model/text/command.ts';
import { named, prose } from '../../../model/text/prose.ts';
import { gatewayPort } from '../../../node/paths/own-paths.ts';
import { buildStep, gateStep } from '../../build-step.ts';
import { knownWords } from '../../compare-values.ts';
import { read } from '../../fact.ts';
import type { GoalOf } from '../../goal.ts';
import { servicesFact } from '../../records/services-fact.ts';
import {
  type Blocker,
  blocker,
  changedProperties,
  type ObservedTarget,
  type Property,
  type Resource,
  type View,
} from '../../resource.ts';
import { closedAct, inFlightAddress, stateAddress } from '../mesh/gateway-steps.ts';
import { isRunning, seeRank } from '../mesh/rank-states.ts';
import { wantedGateways } from './gateways.ts';
import { putDeadlineMs } from './read-again-resource.ts';
import { gatewaysOn, inFlightAt, leftGatewaysOn, missingGateway } from './seen-gateways.ts';

type DrainGoal = GoalOf<'drain'>;

interface Drained {
  readonly target: ObservedTarget;
  readonly port: number;
  readonly placement: string;
}

/** Possible gateways of an earlier file: their requests in flight are unknown, and they cannot be closed. */
const possibleOf = (view: View, { placements }: DrainGoal): readonly Property[] =>
  view.targets.flatMap((target) =>
    placements.flatMap((placement) =>
      possibleGateways(placement, target, view).map(
        ({ address, about, why }): Property => ({
          node: target.desired.name,
          address,
          about,
          desired: 0,
          observed: why,
          from: 'unknown',
          to: 'closed, nothing in flight',
          reason: 'drain',
          why: why.detail,
        }),
      ),
    ),
  );

const unaskedOf = (view: View, { placements }: DrainGoal): readonly Diagnostic[] =>
  view.desired.placements
    .filter(({ name }) => placements.includes(name))
    .flatMap((placement) =>
      gatewayNodes(view, [placement.name])
        .filter((node) => view.asked.includes(node) && !view.targets.some(({ desired }) => desired.name === node))
        .map((node) => unaskedGateway(placement, node)),
    );

const drainedOf = ({ desired, targets }: View, { placements }: DrainGoal): readonly Drained[] =>
  targets.flatMap((target) =>
    gatewaysOn(desired, target)
      .filter(({ placement }) => placements.includes(placement))
      .map(({ port, placement }) => ({ target, port, placement })),
  );

function propertyOf({ target, port, placement }: Drained): Property {
  const seen = inFlightAt(target, port, placement);
  // The exact number is only for the reader and the gate: the plan must stay the same while requests finish.
  const observed = mapKnown(seen, (count) => (count === 'open' || count === 0 ? count : 'in-flight'));
  return {
    node: target.desired.name,
    ...inFlightAddress(port, placement),
    desired: 0,
    observed,
    from: knownWords(seen, (count) => (count === 'open' ? 'open' : `closed, ${count} in flight`)),
    to: 'closed, nothing in flight',
    reason: 'drain',
    ...(observed.kind === 'unknown' ? { why: observed.detail } : {}),
  };
}

/** If the placement has no gateway, clients reach it another way, which closing would not stop. */
function blockersOf({ target, port, placement }: Drained): readonly Blocker[] {
  const missing = missingGateway(target, port, placement);
  if (missing === undefined) return [];
  return [
    blocker({
      code: 'plan/not-converged',
      node: target.desired.name,
      resource: 'gateway',
      property: inFlightAddress(port, placement),
      action: prose`${missing}: ${meshwright('apply')}, then ${aside(meshwright('drain', placement))}`,
    }),
  ];
}

function stepsOf(one: Drained, made: Property, { waitMs }: DrainGoal): readonly Step[] {
  const { node } = made;
  const { port, placement } = one;
  const state = stateAddress(port, placement);
  const close = buildStep({
    name: `${state.address}/close`,
    class: 'converge',
    act: closedAct(port, placement, 'it was drained by its operator.'),
    towards: [made],
    effect: { kind: 'interrupt', placement, seconds: 0 },
    deadlineMs: putDeadlineMs,
  });
  const isOpen = made.observed.kind === 'known' && made.observed.value === 'open';
  const closing = isOpen ? [{ ...close, establishes: [{ node, ...state, value: 'closed' }] }] : [];
  const wait = gateStep({ name: `${made.address}/wait`, needs: closing, awaits: [made], deadlineMs: waitMs });
  return [...closing, wait];
}

/** The only property that `drain` changes: the requests in flight, which reach 0 after the gateway is closed. */
export const drainGateways = (goal: DrainGoal): Resource => ({
  kind: 'gateway',
  after: ['identity', 'sudo'],
  properties: (view) => [...drainedOf(view, goal).map(propertyOf), ...possibleOf(view, goal)],
  steps: (changes, view) => ({
    steps: drainedOf(view, goal).flatMap((one) =>
      changedProperties(changes, [propertyOf(one)]).flatMap((made) => stepsOf(one, made, goal)),
    ),
  }),
  blockers: (view) => drainedOf(view, goal).flatMap(blockersOf),
  notices: (view) => unaskedOf(view, goal),
});

export type DrainView = Pick<View, 'desired' | 'observation'>;

/** A possible gateway of a placement, left by an earlier file, that could not be checked. */
interface PossibleGateway extends Addressed {
  readonly why: Extract<Known<unknown>, { kind: 'unknown' }>;
}

/**
 * True if clients of a node's gateway may reach the placement: a gateway forwards to the first rank on its own node.
 * For an unobserved node, this is false only if the first rank is observed running on another node.
 */
function mayLead(placement: string, node: NodeName, { desired: fleet, observation: seen }: DrainView): boolean {
  const own = seeRank(node, placement, seen.nodes[node]?.facts).seen;
  if (own.kind === 'known') return own.value.record?.rank === 0 && own.value.mayRun;
  return !fleet.nodes.some(({ name }) => {
    const other = seeRank(name, placement, seen.nodes[name]?.facts).seen;
    return other.kind === 'known' && other.value.record?.rank === 0 && isRunning(other.value);
  });
}

/** Possible gateways of a placement on a node that answered, except those that report the placement. */
export function possibleGateways(
  placement: string,
  { desired: { name }, facts }: ObservedTarget,
  view: DrainView,
): readonly PossibleGateway[] {
  const own = wantedGateways(view.desired, name).filter((one) => one.placements.some((it) => it.name === placement));
  if (!mayLead(placement, name, view)) return [];
  const services = read(facts, servicesFact);
  if (services.kind === 'unknown') return own.length > 0 ? [] : [{ ...addressed({ kind: 'gateway' }), why: services }];
  return services.value.flatMap((service): readonly PossibleGateway[] => {
    const port = gatewayPort(service.label);
    if (port === undefined || !mayRun(service) || service.behind !== undefined) return [];
    if (own.some((one) => one.port === port)) return [];
    const detail = `The gateway at port ${port} does not report which placements it serves.`;
    return [{ ...inFlightAddress(port, placement), why: { kind: 'unknown', reason: 'failed', detail } }];
  });
}

function hasGateway(placement: DesiredPlacement, node: NodeName, view: DrainView): boolean {
  if (leadersOf(placement).includes(node)) return true;
  const desired = view.desired.nodes.find(({ name }) => name === node);
  const facts = view.observation.nodes[node]?.facts;
  if (desired === undefined) return false;
  if (facts === undefined) return mayLead(placement.name, node, view);
  const target = { desired, facts };
  const isLeft = leftGatewaysOn(view.desired, target).some((one) => one.placement === placement.name);
  return isLeft || possibleGateways(placement.name, target, view).length > 0;
}

/**
 * The nodes with gateways of these placements: the leader of each layout, and every node where an earlier file left a
 * gateway or may have left one. Macs that are no longer in the file are unknown and not included.
 */
export function gatewayNodes(view: DrainView, placements: readonly string[]): readonly NodeName[] {
  const drained = view.desired.placements.filter(({ name }) => placements.includes(name));
  return view.desired.nodes
    .map(({ name }) => name)
    .filter((node) => drained.some((one) => hasGateway(one, node, view)));
}

export function unaskedGateway(placement: DesiredPlacement, node: NodeName): Diagnostic {
  const isOfFile = leadersOf(placement).includes(node);
  const { name } = placement;
  const asked = isOfFile
    ? `whether its gateway for ${name} is closed and has requests in flight`
    : `whether an earlier file left a gateway for ${name} there`;
  const leaving = isOfFile ? `nodes of ${nameInFile(placement)} in the file` : 'file';
  return diagnose('endpoint/not-asked', {
    subject: nodeSubject(node),
    detail: prose`Could not ask ${named(node)} ${asked}. It may still accept requests, now or as soon as that Mac is back.`,
    hint: prose`Bring ${named(node)} back, then: ${meshwright('drain', name)}. If it is gone for good, remove it from the ${leaving}.`,
  });
}

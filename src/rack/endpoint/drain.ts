import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Step } from '../../model/step.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { closedFile } from '../../node/paths/own-paths.ts';
import { buildStep, gateStep } from '../build-step.ts';
import { changedProperties, patchesOf } from '../change.ts';
import { doorsOn, insideSeen, missingDoor } from '../placement/doors/door-sights.ts';
import { doorAddress, drainedReason, insideAddress } from '../placement/doors/doors.ts';
import { closedText } from '../placement/doors/gateway-files.ts';
import type { Blocker, ObservedTarget, Property, Resource, View } from '../resource.ts';
import { knownWords, mapKnown } from '../seen-fact.ts';
import { type DoorLook, doorNodes, unaskedDoor, untoldDoors } from './door-nodes.ts';

/** Placements to which nobody is let in any more, and how long those inside may take. */
export interface DrainWish {
  readonly placements: readonly string[];
  readonly waitMs: number;
}

const putDeadlineMs = 30_000;

/** A door of a published placement that is to be drained, on the node of its doorman. */
interface Drained {
  readonly target: ObservedTarget;
  readonly port: number;
  readonly placement: string;
}

/** Something that may be such a door, put there by an earlier file: who is inside is not known, nor can it be closed. */
const untoldOf = (view: View, { placements }: DrainWish): readonly Property[] =>
  view.targets.flatMap((target) =>
    placements.flatMap((placement) =>
      untoldDoors(placement, target, lookOf(view)).map(
        ({ address, about, why }): Property => ({
          node: target.desired.name,
          address,
          about,
          desired: 0,
          observed: why,
          from: 'unknown',
          to: 'closed, nobody inside',
          reason: 'drain',
          why: why.detail,
        }),
      ),
    ),
  );

const lookOf = ({ desired, observation }: View): DoorLook => ({ fleet: desired, seen: observation });

/** Macs that nobody could ask, for each placement that may have a door there. */
const unaskedOf = (view: View, { placements }: DrainWish): readonly Diagnostic[] =>
  view.desired.placements
    .filter(({ name }) => placements.includes(name))
    .flatMap((placement) =>
      doorNodes(lookOf(view), [placement.name])
        .filter((node) => view.asked.includes(node) && !view.targets.some(({ desired }) => desired.name === node))
        .map((node) => unaskedDoor(placement, node)),
    );

const drainedOf = ({ desired, targets }: View, { placements }: DrainWish): readonly Drained[] =>
  targets.flatMap((target) =>
    doorsOn(desired, target)
      .filter(({ placement }) => placements.includes(placement))
      .map(({ port, placement }) => ({ target, port, placement })),
  );

function propertyOf({ target, port, placement }: Drained): Property {
  const seen = insideSeen(target, port, placement);
  // A plan stays the same plan while clients leave: how many are inside is for its reader and for the gate alone.
  const observed = mapKnown(seen, (count) => (count === 'open' || count === 0 ? count : 'inside'));
  return {
    node: target.desired.name,
    ...insideAddress(port, placement),
    desired: 0,
    observed,
    from: knownWords(seen, (count) => (count === 'open' ? 'open' : `closed, ${count} inside`)),
    to: 'closed, nobody inside',
    reason: 'drain',
    ...(observed.kind === 'unknown' ? { why: observed.detail } : {}),
  };
}

/** Where no doorman has the placement behind it, clients come in by another way, which its closed door would not end. */
function blockersOf({ target, port, placement }: Drained): readonly Blocker[] {
  const missing = missingDoor(target, port, placement);
  if (missing === undefined) return [];
  return [
    {
      code: 'plan/not-converged',
      node: target.desired.name,
      resource: 'doorman',
      property: insideAddress(port, placement),
      action: prose`${missing}: ${meshwright('apply')}, then ${aside(meshwright('drain', placement))}`,
      isHands: false,
      peers: [],
      blocks: [],
    },
  ];
}

function stepsOf(one: Drained, made: Property, { waitMs }: DrainWish): readonly Step[] {
  const { node } = made;
  const { port, placement } = one;
  const door = doorAddress(port, placement);
  const close = buildStep({
    node,
    resource: 'doorman',
    name: `${door.address}/close`,
    class: 'converge',
    act: { kind: 'put', path: closedFile(port, placement), mode: 0o644, content: closedText(drainedReason) },
    towards: [made],
    effect: { kind: 'interrupt', placement, seconds: 0 },
    deadlineMs: putDeadlineMs,
  });
  const isOpen = made.observed.kind === 'known' && made.observed.value === 'open';
  const closing = isOpen ? [{ ...close, establishes: [{ node, ...door, value: 'closed' }] }] : [];
  const wait = gateStep({
    node,
    resource: 'doorman',
    name: `${made.address}/wait`,
    needs: closing,
    expect: patchesOf([made]),
    deadlineMs: waitMs,
  });
  return [...closing, wait];
}

/** The one thing that the verb `drain` changes: who is inside, which is nobody when the door is closed for long enough. */
export const drainDoors = (wish: DrainWish): Resource => ({
  kind: 'doorman',
  after: ['identity', 'sudo'],
  properties: (view) => [...drainedOf(view, wish).map(propertyOf), ...untoldOf(view, wish)],
  steps: (changes, view) => ({
    steps: drainedOf(view, wish).flatMap((one) =>
      changedProperties(changes, [propertyOf(one)]).flatMap((made) => stepsOf(one, made, wish)),
    ),
    rescues: [],
  }),
  blockers: (view) => drainedOf(view, wish).flatMap(blockersOf),
  notices: (view) => unaskedOf(view, wish),
});

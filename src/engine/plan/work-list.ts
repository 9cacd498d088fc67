import { plainText } from '../../diagnostics/prose-text.ts';
import { compareText } from '../../model/lists.ts';
import { type Blocker, propertyKey } from '../../rack/resource.ts';
import type { Goal } from '../goals/goal.ts';
import { type Assessed, convergeFirst, type Held } from './judge.ts';
import type { Waiting } from './plan.ts';
import { byNode, byResource } from './step-order.ts';

/**
 * A goal that is not the whole file speaks only of what stands in its way; sudo is missed, and a hold in the way, only
 * where something waits for it.
 */
const isListed = (goal: Goal, { blocks, code, resource }: Blocker): boolean =>
  blocks.length > 0 ||
  code === 'reboot/session-unknown' ||
  (goal.kind === 'converge' && resource !== 'sudo' && resource !== 'hold');

/** A ring of bridged Macs floods the office network, so that it comes before all else. */
const isRing = ({ code }: Pick<Blocker, 'code'>): boolean => code === 'bridge/loop';

/** The address of a property that the next apply brings by itself; undefined for any other blocker. */
const addressToBring = ({ property, isBroughtByApply }: Blocker): string | undefined =>
  isBroughtByApply === true ? property?.address : undefined;

/** One apply brings all that is missing on a node: one work, in which each of them is named. */
function gathered(blockers: readonly Blocker[]): readonly Blocker[] {
  const [first] = blockers;
  if (first === undefined || blockers.length === 1) return blockers;
  const once = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted(compareText);
  const addresses = blockers.flatMap((one) => addressToBring(one) ?? []);
  const peers = first.peers.filter((peer) => blockers.every((one) => one.peers.includes(peer)));
  return [
    { ...first, peers, action: convergeFirst(addresses), blocks: once(blockers.flatMap(({ blocks }) => blocks)) },
  ];
}

const gatheredByNode = (blockers: readonly Blocker[]): readonly Blocker[] => {
  const toBring = blockers.filter((one) => addressToBring(one) !== undefined);
  return blockers.flatMap((one) => {
    const alike = toBring.filter(({ node }) => node === one.node);
    if (!alike.includes(one)) return [one];
    return alike[0] === one ? gathered(alike) : [];
  });
};

/** The blockers with all that they keep waiting, in the order in which they should be cleared. */
export function workList(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Blocker[] {
  const listed = assessed
    .flatMap((one) => one.blockers)
    .map((blocker): Blocker => {
      const own = held.filter(({ reasons }) => reasons.some((reason) => reason.blocker === blocker));
      return { ...blocker, blocks: own.map(({ property }) => propertyKey(property)).toSorted(compareText) };
    })
    .filter((blocker) => isListed(goal, blocker))
    .toSorted(
      (a, b) =>
        Number(isRing(b)) - Number(isRing(a)) ||
        byResource(a, b) ||
        compareText(a.code, b.code) ||
        compareText(plainText(a.action), plainText(b.action)),
    );
  return gatheredByNode(listed);
}

/** What is unknown by itself, whether or not anything has to wait for it. */
function openWaiting(goal: Goal, assessed: readonly Assessed[]): readonly Waiting[] {
  const gaps = goal.kind === 'converge' ? assessed.flatMap((one) => one.gaps) : [];
  return gaps
    .filter(({ resource }) => resource !== 'sudo')
    .map(({ node, resource, text }) => ({
      resource,
      about: { kind: resource },
      node,
      for: [{ text: `${text} is unknown`, isUnknown: true }],
      isUnknown: true,
    }));
}

/** Everything that cannot be brought to its desired state now, with its reasons. */
export function waitingAll(goal: Goal, assessed: readonly Assessed[], held: readonly Held[]): readonly Waiting[] {
  const waiting = held.map(
    ({ property: { address, about, node }, reasons }): Waiting => ({
      resource: address,
      about,
      node,
      for: reasons.filter(({ text }, at) => reasons.findIndex((one) => one.text === text) === at),
      isUnknown: reasons.some(({ isUnknown }) => isUnknown),
    }),
  );
  return [...openWaiting(goal, assessed), ...waiting].toSorted(byNode);
}

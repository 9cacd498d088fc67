import type { LinkEnd } from '../../model/link.ts';
import { linkEndText } from '../../model/link.ts';
import type { Prose } from '../../model/text/prose.ts';
import { cableAt, isFree } from '../model/cables/cables.ts';
import { macNamed, receptacleOf, type SimulatedFleet } from '../model/fleet.ts';
import type { MacState } from '../model/mac.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { type Aimed, badTarget } from './fault.ts';

const refused = (detail: string, hint?: Prose): Aimed<never> => ({
  kind: 'refused',
  diagnostic: badTarget(detail, hint),
});

/** `NODE`: one Mac of the rack. */
export function aimAtNode(fleet: SimulatedFleet, target: string): Aimed<MacState> {
  const mac = macNamed(fleet, target);
  if (mac !== undefined) return { kind: 'aimed', at: mac, text: target };
  const names = fleet.macs.map(({ name }) => name);
  const near = nearestWord(target, names);
  const hint = near === undefined ? `The nodes are ${names.join(', ')}.` : `Did you mean ${near}?`;
  return refused(`There is no node ${JSON.stringify(target)} in this rack.`, hint);
}

/** `NODE:RECEPTACLE`: one receptacle of one Mac, with or without a cable. */
export function aimAtReceptacle(fleet: SimulatedFleet, target: string): Aimed<LinkEnd> {
  const [, name = '', digits = ''] = /^(.*):(\d{1,2})$/.exec(target) ?? [];
  if (digits === '') {
    return refused(`${JSON.stringify(target)} is not of the form NODE:RECEPTACLE.`, exampleHint(fleet));
  }
  const aimed = aimAtNode(fleet, name);
  if (aimed.kind === 'refused') return aimed;
  const receptacle = receptacleOf(aimed.at, Number(digits));
  if (receptacle === undefined) {
    return refused(
      `${name} has no receptacle ${digits}.`,
      `A ${aimed.at.model.id} has receptacles 1 to ${aimed.at.receptacles.length}.`,
    );
  }
  const end = { node: aimed.at.name, receptacle: receptacle.number };
  return { kind: 'aimed', at: end, text: linkEndText(end) };
}

/** `NODE:RECEPTACLE` where a cable is plugged in. */
export function aimAtCable(fleet: SimulatedFleet, target: string): Aimed<LinkEnd> {
  const aimed = aimAtReceptacle(fleet, target);
  if (aimed.kind === 'refused' || cableAt(fleet.cables, aimed.at) !== undefined) return aimed;
  return refused(`No cable is plugged into ${aimed.text}.`, cabledHint(fleet, aimed.at.node));
}

/** The receptacles of this Mac that have a cable, lowest first. */
const cabledEnds = (fleet: SimulatedFleet, mac: MacState): readonly LinkEnd[] =>
  mac.receptacles
    .map(({ number }) => ({ node: mac.name, receptacle: number }))
    .filter((end) => cableAt(fleet.cables, end) !== undefined);

function cabledHint(fleet: SimulatedFleet, node: string): string {
  const mac = macNamed(fleet, node);
  const ends = mac === undefined ? [] : cabledEnds(fleet, mac);
  return ends.length === 0 ? `${node} has no cable at all.` : `Cables are in ${ends.map(linkEndText).join(', ')}.`;
}

function exampleHint(fleet: SimulatedFleet): string {
  const end = fleet.cables[0]?.ends[0];
  return end === undefined ? 'This rack has no cables.' : `Say it like ${linkEndText(end)}.`;
}

/** `NODE:R1,NODE:R2`, or `NODE` for its first two receptacles with a cable. */
export function aimAtTwoReceptacles(fleet: SimulatedFleet, target: string): Aimed<readonly [LinkEnd, LinkEnd]> {
  const [one, other] = target.includes(':') ? target.split(',') : firstTwo(fleet, target);
  if (one === undefined || other === undefined || target.split(',').length > 2) {
    const known = target.includes(':') ? undefined : aimAtNode(fleet, target);
    if (known?.kind === 'refused') return known;
    return refused(
      `${JSON.stringify(target)} does not name two receptacles.`,
      'Say NODE:R1,NODE:R2 or a NODE with two cables.',
    );
  }
  const first = aimAtReceptacle(fleet, one);
  if (first.kind === 'refused') return first;
  const second = aimAtReceptacle(fleet, other);
  if (second.kind === 'refused') return second;
  return { kind: 'aimed', at: [first.at, second.at], text: `${first.text},${second.text}` };
}

/** The last receptacle of a Mac in which nothing is plugged in: the first ones are those that files prefer. */
export function lastFree(fleet: SimulatedFleet, node: string): LinkEnd | undefined {
  const mac = macNamed(fleet, node);
  return mac?.receptacles
    .map(({ number }) => ({ node: mac.name, receptacle: number }))
    .findLast((end) => isFree(fleet, end));
}

/** `NODE:R1,OTHER:R2`, or `NODE` for the last free receptacles of it and of the one after it in the rack. */
export function aimAtFreePair(fleet: SimulatedFleet, target: string): Aimed<readonly [LinkEnd, LinkEnd]> {
  if (target.includes(':')) return aimAtTwoReceptacles(fleet, target);
  const nodes = aimAtTwoNodes(fleet, target);
  if (nodes.kind === 'refused') return nodes;
  const [one, other] = nodes.at.map(({ name }) => lastFree(fleet, name));
  return one === undefined || other === undefined
    ? refused(`${nodes.text} have no free receptacle each.`, 'Say NODE:R1,OTHER:R2 with two free receptacles.')
    : { kind: 'aimed', at: [one, other], text: `${linkEndText(one)},${linkEndText(other)}` };
}

function firstTwo(fleet: SimulatedFleet, target: string): readonly string[] {
  const mac = macNamed(fleet, target);
  return mac === undefined ? [] : cabledEnds(fleet, mac).slice(0, 2).map(linkEndText);
}

/** `NODE:RECEPTACLE` where a cable is plugged in, or `NODE` for all of those. */
export function aimAtCables(fleet: SimulatedFleet, target: string): Aimed<readonly LinkEnd[]> {
  if (target.includes(':')) {
    const aimed = aimAtCable(fleet, target);
    return aimed.kind === 'refused' ? aimed : { ...aimed, at: [aimed.at] };
  }
  const aimed = aimAtNode(fleet, target);
  return aimed.kind === 'refused' ? aimed : { ...aimed, at: cabledEnds(fleet, aimed.at) };
}

/** `NODE,OTHER`, or `NODE` for it and the one after it in the rack. */
export function aimAtTwoNodes(fleet: SimulatedFleet, target: string): Aimed<readonly [MacState, MacState]> {
  const [one = '', named, ...more] = target.split(',');
  if (more.length > 0)
    return refused(`${JSON.stringify(target)} names more than two nodes.`, 'Say NODE or NODE,OTHER.');
  const first = aimAtNode(fleet, one);
  if (first.kind === 'refused') return first;
  const next = fleet.macs[(fleet.macs.indexOf(first.at) + 1) % fleet.macs.length]?.name;
  const second = aimAtNode(fleet, named ?? next ?? '');
  return second.kind === 'refused'
    ? second
    : { kind: 'aimed', at: [first.at, second.at], text: `${first.text},${second.text}` };
}

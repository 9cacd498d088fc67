import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import type { Prose } from '../../model/text/prose.ts';
import { cableAt, isFree } from '../model/cables.ts';
import { type MacState, macNamed, receptacleOf, type SimulatedFleet, withMac } from '../model/fleet.ts';

/** A parsed target, or why it is invalid. `text` is its canonical form, which `sim fault` shows and accepts. */
export type Aimed<T> =
  | { readonly kind: 'aimed'; readonly at: T; readonly text: string }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** The result of applying a fault; `target` is the target's canonical text. */
type FaultResult =
  | { readonly kind: 'applied'; readonly fleet: SimulatedFleet; readonly target: string }
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** One named fault of a rack. A fault changes only the model, from which the nodes' output follows. */
export interface Fault {
  /** One line for `sim fault --list`: the effect and the symptoms. */
  readonly summary: string;
  /** The form of the target, such as `NODE` or `NODE:RECEPTACLE`. */
  readonly targets: string;
  readonly apply: (fleet: SimulatedFleet, target: string) => FaultResult;
  /** The part of the fleet that shows the fault, which is fixed once this part is as before. Absent: all of it. */
  readonly symptoms?: (fleet: SimulatedFleet, target: string) => unknown;
}

interface Aim<T> {
  readonly targets: string;
  readonly aim: (fleet: SimulatedFleet, target: string) => Aimed<T>;
}

/** The diagnostic for an invalid target; `detail` consists of whole sentences. */
const badTarget = (detail: string, hint?: Prose): Diagnostic =>
  diagnose('sim/bad-fault-target', { detail, ...given({ hint }) });

/**
 * Defines a fault. Its key in its file's table is its name in `sim fault`. A fault that would change nothing is
 * refused, so that every active fault has an effect.
 *
 * @param change returns the changed fleet, or the reason why nothing would change
 */
export const defineFault = <T>(
  summary: string,
  { targets, aim }: Aim<T>,
  change: (fleet: SimulatedFleet, at: T) => SimulatedFleet | string,
  symptoms?: Fault['symptoms'],
): Fault => ({
  summary,
  targets,
  apply: (fleet, target) => {
    const aimed = aim(fleet, target);
    if (aimed.kind === 'refused') return aimed;
    const changed = change(fleet, aimed.at);
    return typeof changed === 'string'
      ? { kind: 'refused', diagnostic: badTarget(`The fault would change nothing at ${aimed.text}: ${changed}.`) }
      : { kind: 'applied', fleet: changed, target: aimed.text };
  },
  ...given({ symptoms }),
});

/** Defines a fault of a whole Mac; `shown` selects the part that shows the fault (default: the whole Mac). */
export const defineMacFault = (
  summary: string,
  change: (mac: MacState) => MacState | string,
  shown?: (mac: MacState) => unknown,
): Fault =>
  defineFault(
    summary,
    aims.node,
    (fleet, mac) => {
      const changed = change(mac);
      return typeof changed === 'string' ? changed : withMac(fleet, mac.name, () => changed);
    },
    shown && ((fleet, target) => fleet.macs.filter(({ name }) => name === target).map(shown)),
  );

const refused = (detail: string, hint?: Prose): Aimed<never> => ({
  kind: 'refused',
  diagnostic: badTarget(detail, hint),
});

function aimAtNode(fleet: SimulatedFleet, target: string): Aimed<MacState> {
  const mac = macNamed(fleet, target);
  if (mac !== undefined) return { kind: 'aimed', at: mac, text: target };
  const names = fleet.macs.map(({ name }) => name);
  const near = nearestWord(target, names);
  const hint = near === undefined ? `Nodes: ${names.join(', ')}` : `Did you mean ${near}?`;
  return refused(`This rack has no node ${JSON.stringify(target)}.`, hint);
}

/** `NODE:RECEPTACLE`: one receptacle of one Mac, with or without a cable. */
function aimAtReceptacle(fleet: SimulatedFleet, target: string): Aimed<LinkEnd> {
  const [, name = '', digits = ''] = /^(.*):(\d{1,2})$/.exec(target) ?? [];
  if (digits === '')
    return refused(`${JSON.stringify(target)} is not of the form NODE:RECEPTACLE.`, exampleHint(fleet));
  const aimed = aimAtNode(fleet, name);
  if (aimed.kind === 'refused') return aimed;
  const receptacle = receptacleOf(aimed.at, Number(digits));
  if (receptacle === undefined) {
    const hint = `A ${aimed.at.model.id} has receptacles 1 to ${aimed.at.receptacles.length}.`;
    return refused(`${name} has no receptacle ${digits}.`, hint);
  }
  const end = { node: aimed.at.name, receptacle: receptacle.number };
  return { kind: 'aimed', at: end, text: linkEndText(end) };
}

/** `NODE:RECEPTACLE` where a cable is plugged in. */
function aimAtCable(fleet: SimulatedFleet, target: string): Aimed<LinkEnd> {
  const aimed = aimAtReceptacle(fleet, target);
  if (aimed.kind === 'refused' || cableAt(fleet.cables, aimed.at) !== undefined) return aimed;
  return refused(`No cable is plugged into ${aimed.text}.`, cabledHint(fleet, aimed.at.node));
}

/** In ascending order. */
function endsOf(fleet: SimulatedFleet, node: string): readonly LinkEnd[] {
  const mac = macNamed(fleet, node);
  return mac === undefined ? [] : mac.receptacles.map(({ number }) => ({ node: mac.name, receptacle: number }));
}

const cabledEnds = (fleet: SimulatedFleet, node: string): readonly LinkEnd[] =>
  endsOf(fleet, node).filter((end) => cableAt(fleet.cables, end) !== undefined);

function cabledHint(fleet: SimulatedFleet, node: string): string {
  const ends = cabledEnds(fleet, node);
  return ends.length === 0
    ? `${node} has no cables.`
    : `Receptacles with a cable: ${ends.map(linkEndText).join(', ')}.`;
}

function exampleHint(fleet: SimulatedFleet): string {
  const end = fleet.cables[0]?.ends[0];
  return end === undefined ? 'This rack has no cables.' : `Example: ${linkEndText(end)}`;
}

/** `NODE:R1,NODE:R2`, or `NODE` for its first two receptacles with a cable. */
function aimAtTwoReceptacles(fleet: SimulatedFleet, target: string): Aimed<readonly [LinkEnd, LinkEnd]> {
  const [one, other] = target.includes(':') ? target.split(',') : cabledEnds(fleet, target).map(linkEndText);
  if (one === undefined || other === undefined || target.split(',').length > 2) {
    const known = target.includes(':') ? undefined : aimAtNode(fleet, target);
    if (known?.kind === 'refused') return known;
    const hint = 'Use NODE:R1,NODE:R2, or a NODE with two cables.';
    return refused(`${JSON.stringify(target)} does not name two receptacles.`, hint);
  }
  return aimAtBoth(aimAtReceptacle, fleet, one, other);
}

function aimAtBoth<T>(aim: Aim<T>['aim'], fleet: SimulatedFleet, one: string, other: string): Aimed<readonly [T, T]> {
  const first = aim(fleet, one);
  if (first.kind === 'refused') return first;
  const second = aim(fleet, other);
  if (second.kind === 'refused') return second;
  return { kind: 'aimed', at: [first.at, second.at], text: `${first.text},${second.text}` };
}

/** A Mac's last free receptacle. Cluster files usually use the first receptacles. */
export const lastFree = (fleet: SimulatedFleet, node: string): LinkEnd | undefined =>
  endsOf(fleet, node).findLast((end) => isFree(fleet, end));

/** `NODE:R1,OTHER:R2`, or `NODE` for the last free receptacles of this Mac and of the next Mac in the rack. */
function aimAtFreePair(fleet: SimulatedFleet, target: string): Aimed<readonly [LinkEnd, LinkEnd]> {
  if (target.includes(':')) return aimAtTwoReceptacles(fleet, target);
  const nodes = aimAtTwoNodes(fleet, target);
  if (nodes.kind === 'refused') return nodes;
  const [one, other] = nodes.at.map(({ name }) => lastFree(fleet, name));
  if (one !== undefined && other !== undefined)
    return { kind: 'aimed', at: [one, other], text: `${linkEndText(one)},${linkEndText(other)}` };
  const hint = 'Use NODE:R1,OTHER:R2 with two free receptacles.';
  return refused(`At least one of ${nodes.text} has no free receptacle.`, hint);
}

/** `NODE:RECEPTACLE` with a cable, or `NODE` for all of its receptacles with a cable. */
function aimAtCables(fleet: SimulatedFleet, target: string): Aimed<readonly LinkEnd[]> {
  if (target.includes(':')) {
    const aimed = aimAtCable(fleet, target);
    return aimed.kind === 'refused' ? aimed : { ...aimed, at: [aimed.at] };
  }
  const aimed = aimAtNode(fleet, target);
  return aimed.kind === 'refused' ? aimed : { ...aimed, at: cabledEnds(fleet, aimed.at.name) };
}

/** `NODE,OTHER`, or `NODE` for this Mac and the next one in the rack. */
function aimAtTwoNodes(fleet: SimulatedFleet, target: string): Aimed<readonly [MacState, MacState]> {
  const [one = '', named, ...more] = target.split(',');
  if (more.length > 0)
    return refused(`${JSON.stringify(target)} names more than two nodes.`, 'Use NODE or NODE,OTHER.');
  const next = fleet.macs[(fleet.macs.findIndex(({ name }) => name === one) + 1) % fleet.macs.length]?.name;
  return aimAtBoth(aimAtNode, fleet, one, named ?? next ?? '');
}

export const aims = {
  node: { targets: 'NODE', aim: aimAtNode },
  receptacle: { targets: 'NODE:RECEPTACLE', aim: aimAtReceptacle },
  cable: { targets: 'NODE:RECEPTACLE', aim: aimAtCable },
  cables: { targets: 'NODE:RECEPTACLE | NODE (all its cabled receptacles)', aim: aimAtCables },
  twoReceptacles: { targets: 'NODE:R1,NODE:R2 | NODE (its first two cabled receptacles)', aim: aimAtTwoReceptacles },
  freePair: {
    targets: 'NODE:R1,OTHER:R2 | NODE (the last free receptacles of it and of the next node)',
    aim: aimAtFreePair,
  },
  twoNodes: { targets: 'NODE (the next one answers) | NODE,OTHER', aim: aimAtTwoNodes },
} as const;

/** Edit distance: the number of letters to add, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [column, against] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** Longer words are not compared. */
const longest = 64;

/** The most similar word; undefined if none is similar. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  if (typed.length > longest) return undefined;
  const ranked = words.map((word) => ({ word, away: distance(typed, word) }));
  const [best] = ranked.sort((one, other) => one.away - other.away);
  return best !== undefined && best.away <= Math.max(2, Math.floor(best.word.length / 3)) ? best.word : undefined;
}

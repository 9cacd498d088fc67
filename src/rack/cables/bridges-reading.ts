import { listText } from '../../model/lists.ts';
import type { Link, LinkEnd } from '../../model/node.ts';
import { type FirstPart, type Prose, prose, upperFirst } from '../../model/text/prose.ts';
import { type BridgeState, bridgeLayers, bridgeState, isBridged, madeBridges } from '../bridge/reading.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import type { Examination, ExaminedNode } from '../examination.ts';
import { thunderboltInterfaces } from '../network/interfaces-reading.ts';

type Ends = Link['ends'];

const nodeOf = ({ nodes }: Examination, name: string): ExaminedNode | undefined =>
  nodes.find((node) => node.name === name);

function stateOf(examination: Examination, name: string): BridgeState {
  const node = nodeOf(examination, name);
  return node === undefined ? 'unknown' : bridgeState(examination.desired, node.facts);
}

/** Counts a bridge that only the preferences still have, because macOS rebuilds it when a cable is plugged in. */
function mayBeBridged(examination: Examination, end: LinkEnd): boolean {
  const facts = nodeOf(examination, end.node)?.facts;
  const state = stateOf(examination, end.node);
  const name = thunderboltInterfaces(facts)?.get(end.receptacle);
  const isOutside = facts !== undefined && name !== undefined && !isBridged(facts, name);
  return state !== 'none' && !(state === 'active' && isOutside);
}

/** All cables that remain plugged in at the end: the links, and present cables that occupy no link's receptacle. */
function finalCables({ cabling }: Examination): readonly Ends[] {
  const staying = cabling.cables.filter(({ ends }) => ends.every((end) => linkAt(cabling.links, end) === undefined));
  return [...cabling.links.map(({ link }) => link.ends), ...staying.map(({ ends }) => ends)];
}

/** True if the two nodes of a link are already connected through other cables between bridged receptacles. */
function closesRing(examination: Examination, { ends }: Link): boolean {
  const isBridgedCable = (cable: Ends): boolean => cable.every((end) => mayBeBridged(examination, end));
  const others = finalCables(examination).filter((cable) => isBridgedCable(cable) && !isSameEnd(cable[0], ends[0]));
  const reached = new Set([ends[0].node]);
  for (let size = 0; size !== reached.size; ) {
    size = reached.size;
    for (const [a, b] of others) {
      if (reached.has(a.node) || reached.has(b.node)) reached.add(a.node).add(b.node);
    }
  }
  return isBridgedCable(ends) && reached.has(ends[1].node);
}

/** True if a person made every bridge with receptacles of this node; then no hint asks to remove one. */
function isMadeOnly(examination: Examination, name: string): boolean {
  const facts = nodeOf(examination, name)?.facts;
  const layers = facts && bridgeLayers(examination.desired, facts);
  return layers !== undefined && layers.present.length + layers.unknown.length === 0 && madeBridges(layers).length > 0;
}

/** `remove the Thunderbolt Bridge on studio-1`; empty if no node has a bridge that macOS made. */
function ownWords(examination: Examination, bridged: readonly string[]): string {
  const own = bridged
    .filter((name) => !isMadeOnly(examination, name))
    .map((name) => (stateOf(examination, name) === 'unknown' ? `${name} (its presence is unknown)` : name));
  return own.length === 0 ? '' : `remove the Thunderbolt Bridge on ${listText(own)}`;
}

/** `remove the Thunderbolt Bridge on studio-1 and remove the receptacles of studio-2 from their bridge`. */
function removalWords(examination: Examination, bridged: readonly string[]): string {
  const made = bridged.filter((name) => isMadeOnly(examination, name));
  const byHand = made.length === 0 ? '' : `remove the receptacles of ${listText(made)} from their bridge`;
  return [ownWords(examination, bridged), byHand].filter((words) => words !== '').join(' and ');
}

function bridgedNodes(examination: Examination, links: readonly Link[]): readonly string[] {
  const names = [...new Set(links.flatMap(({ ends }) => ends.map(({ node }) => node)))].toSorted();
  return names.filter((name) => stateOf(examination, name) !== 'none');
}

/**
 * The bridge work to do before the cables of these links may be plugged in, in the imperative (`remove the Thunderbolt
 * Bridge on studio-1`); empty if there is none. Frames circle in a ring of bridged Macs and take down the office
 * network, so bridges are removed before any cable is plugged in. Where the file keeps the bridges, only cables that
 * close a ring are held back.
 * @see dnet issue 69, exo issue 1222
 */
export function bridgesBefore(examination: Examination, links: readonly Link[]): string {
  const isStaying = examination.desired.thunderbolt.bridge === 'keep';
  const risky = isStaying ? links.filter((link) => closesRing(examination, link)) : links;
  const bridged = bridgedNodes(examination, risky);
  if (bridged.length === 0) return '';
  const why = isStaying
    ? ', or leave this cable unplugged: it closes a ring of bridged Macs, in which frames circle'
    : '';
  return `${removalWords(examination, bridged)}${why}`;
}

/** The part of {@link bridgesBefore} that apply does if the file allows it; otherwise empty. */
export const appliedBefore = (examination: Examination, links: readonly Link[]): string =>
  examination.desired.thunderbolt.bridge === 'remove' ? ownWords(examination, bridgedNodes(examination, links)) : '';

/** {@link bridgesBefore} as the start of a sentence: `First remove the Thunderbolt Bridge on studio-1; then `. */
function bridgesFirst(examination: Examination, links: readonly Link[]): FirstPart | undefined {
  const before = bridgesBefore(examination, links);
  if (before === '') return undefined;
  const own = appliedBefore(examination, links);
  const applied: Prose = own === '' ? '' : [{ kind: 'applied', text: own, isLeft: false }];
  return { kind: 'first', act: prose`${applied}${before.slice(own.length)}` };
}

/** An imperative sentence that begins with the bridge work to do before any cable is plugged in. */
export function afterBridges(examination: Examination, links: readonly Link[], words: string): Prose {
  const first = bridgesFirst(examination, links);
  return first === undefined ? `${upperFirst(words)}.` : prose`${first}${words}.`;
}

import type { DesiredFleet } from '../../model/desired.ts';
import { macModel } from '../../model/macs.ts';
import type { LinkEnd, NodeName } from '../../model/node.ts';
import { modelAt, placeAt } from '../../rack/cables/receptacle-place.ts';
import { listWords } from '../../rack/cabling/cabling-text.ts';
import { caseFaces, facesWords } from '../../rack/cabling/receptacle-view.ts';
import { type Examination, examine } from '../../rack/examination.ts';
import { type GraphAct, type GraphCable, graphCables } from './graph-cables.ts';
import { type GraphReceptacle, type GraphStray, graphReceptacles, graphStrays } from './graph-receptacles.ts';

/** One Mac of the drawing, with its receptacles in the order of their numbers. */
export interface GraphNode {
  readonly name: NodeName;
  /** Whether its receptacles were looked at. */
  readonly isSeen: boolean;
  /** Apple's identifier: as seen, else as the file has it. */
  readonly model?: string;
  /** `Mac Studio (M3 Ultra)`; absent for a model that is not known. */
  readonly modelName?: string;
  /** `4 on the back, 2 on the front`; absent for a model that is not known. */
  readonly faces?: string;
  readonly receptacles: readonly GraphReceptacle[];
}

/** One act of hands, numbered in the order in which it should be done. */
export interface GraphMove {
  /** From 1. */
  readonly number: number;
  /** In the imperative. Names that come from nodes are not escaped in it. */
  readonly text: string;
  /** What has to be done before it, in the imperative; absent when nothing. */
  readonly first?: string;
}

/** The rack as it is drawn: declared and seen at once. */
export interface RackGraph {
  readonly cluster: string;
  /** Whether only the file was read: then nothing is known of any node. */
  readonly isDeclaredOnly: boolean;
  /** Sorted by name. */
  readonly nodes: readonly GraphNode[];
  /** Sorted by their ends; every declared link and every cable that is seen. */
  readonly cables: readonly GraphCable[];
  /** Macs at the end of a cable that are no node of the file, as far as anybody can say. */
  readonly strays: readonly GraphStray[];
  readonly moves: readonly GraphMove[];
}

function namesOf(desired: DesiredFleet): readonly NodeName[] {
  const linked = desired.thunderbolt.links.flatMap((link) => link.ends.map((end) => end.node));
  return [...new Set([...desired.nodes.map((node) => node.name), ...linked])].toSorted();
}

/** The numbers of receptacles that a node has as far as anybody knows, for one that nobody looked at. */
function expectedNumbers(name: NodeName, model: string | undefined, ends: readonly LinkEnd[]): readonly number[] {
  const count = model === undefined ? 0 : (macModel(model)?.receptacles ?? 0);
  const declared = ends.filter((end) => end.node === name).map((end) => end.receptacle);
  return [...new Set([...Array.from({ length: count }, (_, index) => index + 1), ...declared])];
}

function graphNode(examination: Examination, name: NodeName, isDeclaredOnly: boolean): GraphNode {
  const { cabling, desired } = examination;
  const model = modelAt(examination, name);
  const faces = model === undefined ? undefined : caseFaces(model);
  const known = model === undefined ? undefined : macModel(model);
  const ends = desired.thunderbolt.links.flatMap((link) => link.ends);
  return {
    name,
    isSeen: cabling.rack.seenNodes.includes(name),
    ...(model === undefined ? {} : { model }),
    ...(known === undefined ? {} : { modelName: known.name }),
    ...(faces === undefined ? {} : { faces: facesWords(faces) }),
    receptacles: graphReceptacles({
      cabling,
      name,
      numbers: expectedNumbers(name, model, ends),
      placeOf: (receptacle) => placeAt(examination, { node: name, receptacle }),
      isDeclaredOnly,
    }),
  };
}

/** `stop chat and remove the Thunderbolt Bridge on studio-1`; undefined when nothing stands before it. */
function firstOf({ stopFirst, bridgesFirst }: GraphAct): string | undefined {
  const words = [...(stopFirst.length === 0 ? [] : [`stop ${listWords(stopFirst)}`]), bridgesFirst];
  const told = words.filter((one) => one !== '');
  return told.length === 0 ? undefined : listWords(told);
}

function drawn(examination: Examination, acts: readonly GraphAct[], isDeclaredOnly: boolean): RackGraph {
  const { cabling, desired } = examination;
  return {
    cluster: desired.name,
    isDeclaredOnly,
    nodes: namesOf(desired).map((name) => graphNode(examination, name, isDeclaredOnly)),
    cables: graphCables(cabling, acts, isDeclaredOnly),
    strays: graphStrays(cabling, acts),
    moves: acts.map((act, index) => {
      const first = firstOf(act);
      return { number: index + 1, text: act.shortText, ...(first === undefined ? {} : { first }) };
    }),
  };
}

/**
 * What is to be drawn of a rack that was looked at; `acts` are what hands have to do, in their order. Texts that come
 * from nodes are not escaped.
 */
export const rackGraph = (examination: Examination, acts: readonly GraphAct[]): RackGraph =>
  drawn(examination, acts, false);

/** The same of the file alone: links as they should be, and nothing of how they are. */
export const declaredGraph = (desired: DesiredFleet): RackGraph =>
  drawn(examine(desired, { nodes: {}, failures: {} }), [], true);

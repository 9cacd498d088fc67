import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { StatusNode } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import type { Link, NodeName } from '../../model/node.ts';
import { type BridgeState, bridgeState } from '../../rack/bridge/reading.ts';
import { thunderboltFact } from '../../rack/cables/fact.ts';
import { viewText } from '../../rack/cabling/cabling-text.ts';
import { type LinkJudgement, linkAt, type SeenCable, undeclaredCables } from '../../rack/cabling/judge-cabling.ts';
import { type ReceptacleSight, sightOf } from '../../rack/cabling/receptacle-reading.ts';
import { type Examination, type ExaminedNode, examine, type FleetObservation } from '../../rack/examination.ts';
import { read, readValue } from '../../rack/fact.ts';
import { hardwareFact } from '../../rack/identity/fact.ts';
import { versionText } from '../../rack/macos/fact.ts';
import { macosOf } from '../../rack/macos/reading.ts';
import { type NodeRdma, nodeRdma } from '../../rack/rdma/receptacle-reading.ts';

export interface ReceptacleSurvey {
  readonly receptacle: number;
  readonly sight: ReceptacleSight;
  /** What the receptacle sees: `studio-2:2`, `nothing`, or the name of a dock (unescaped). */
  readonly sees: string;
  /** True if both ends see each other. `cables` then contains the cable. */
  readonly isInCable: boolean;
  readonly bitsPerSecond?: number;
}

/** One node; absent fields are unknown. */
export interface NodeSurvey extends Pick<StatusNode, 'macos' | 'build' | 'model' | 'memoryBytes'> {
  readonly name: NodeName;
  /** False if the node was not reached; see `failure`. */
  readonly isReached: boolean;
  readonly failure?: Diagnostic;
  readonly rdma: NodeRdma;
  readonly bridge: BridgeState;
  /** In number order; undefined if the node was not observed. */
  readonly receptacles?: readonly ReceptacleSurvey[];
}

/** One declared link and its check. */
export interface LinkSurvey {
  readonly ends: Link['ends'];
  readonly judgement: LinkJudgement['kind'];
  readonly bitsPerSecond?: number;
}

/** A cable that both its ends see, declared or not. */
export interface CableSurvey extends Pick<SeenCable, 'ends' | 'bitsPerSecond'> {
  readonly sight: ReceptacleSight;
}

export interface FleetSurvey {
  /** The observed nodes, in file order. */
  readonly nodes: readonly NodeSurvey[];
  /** Nodes in the file that this run did not ask. */
  readonly notAsked: readonly NodeName[];
  readonly links: readonly LinkSurvey[];
  readonly cables: readonly CableSurvey[];
}

function surveyReceptacles(examination: Examination, node: ExaminedNode): readonly ReceptacleSurvey[] | undefined {
  if (read(node.facts, thunderboltFact).kind === 'unknown') return undefined;
  const { cabling } = examination;
  return cabling.rack.views
    .filter((view) => view.at.node === node.name)
    .map((view) => ({
      receptacle: view.at.receptacle,
      sight: sightOf(view, linkAt(cabling.links, view.at)),
      sees: viewText(view),
      isInCable: view.peers.length > 0 && view.peers.every((peer) => peer.kind === 'node' && peer.isMutual),
      ...given({ bitsPerSecond: view.linkBitsPerSecond }),
    }));
}

function surveyNode(examination: Examination, node: ExaminedNode): NodeSurvey {
  const macos = macosOf(node);
  const hardware = readValue(node.facts, hardwareFact);
  const receptacles = surveyReceptacles(examination, node);
  return {
    name: node.name,
    isReached: true,
    ...(macos === undefined ? {} : { macos: versionText(macos), build: macos.build }),
    ...given({ model: hardware?.model, memoryBytes: hardware?.memoryBytes }),
    rdma: nodeRdma(node),
    bridge: bridgeState(examination.desired, node.facts),
    ...given({ receptacles }),
  };
}

function surveyCable(examination: Examination, cable: SeenCable, undeclared: readonly SeenCable[]): CableSurvey {
  const { links } = examination.cabling;
  const own = linkAt(links, cable.ends[0]);
  const isTaken = cable.ends.some((end) => linkAt(links, end) !== undefined);
  const strange: ReceptacleSight = isTaken ? 'wrong' : 'undeclared';
  const kind = own?.judgement.kind;
  const declared: ReceptacleSight = kind === 'slow' || kind === 'through-hub' ? kind : 'as-declared';
  return { ...cable, sight: undeclared.includes(cable) ? strange : declared };
}

/** Summarizes every node, link and cable, with the results of all checks. */
export function surveyFleet(desired: DesiredFleet, observation: FleetObservation): FleetSurvey {
  const examination = examine(desired, observation);
  const undeclared = undeclaredCables(examination.cabling);
  const isAsked = (name: NodeName): boolean =>
    Object.hasOwn(observation.nodes, name) || Object.hasOwn(observation.failures, name);
  const asked = desired.nodes.filter((node) => isAsked(node.name));
  return {
    nodes: asked.map(({ name }) => {
      const node = examination.nodes.find((one) => one.name === name);
      const failure = given({ failure: observation.failures[name]?.[0] });
      return node === undefined
        ? { name, isReached: false, rdma: 'unknown', bridge: 'unknown', ...failure }
        : { ...surveyNode(examination, node), ...failure };
    }),
    notAsked: desired.nodes.map((node) => node.name).filter((name) => !isAsked(name)),
    links: examination.cabling.links.map(({ link, judgement }) => ({
      ends: link.ends,
      judgement: judgement.kind,
      ...given({ bitsPerSecond: 'bitsPerSecond' in judgement ? judgement.bitsPerSecond : undefined }),
    })),
    cables: examination.cabling.cables.map((cable) => surveyCable(examination, cable, undeclared)),
  };
}

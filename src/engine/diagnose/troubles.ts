import { type Diagnostic, hasTrait, isHandsWork } from '../../diagnostics/diagnostic.ts';
import type { DesiredPlacement } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import type { Word } from '../../model/probe.ts';
import { isPlacement, type Subject, subjectEnds, subjectNodes } from '../../model/subject.ts';
import { aside, type Command, meshwright } from '../../model/text/command.ts';
import type { Prose } from '../../model/text/prose.ts';
import { thunderboltFact } from '../../rack/cables/fact.ts';
import { type Examination, type ExaminedNode, examine } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import { farEndOf, lostPorts, type ReceptacleRdma, receptacleRdma } from '../../rack/rdma/receptacle-reading.ts';
import type { View } from '../../rack/resource.ts';
import { type FactName, isFactName, registry } from '../observe/facts.ts';
import { type Area, areaOf, entryOf } from './rules.ts';
import { unknownFacts } from './unknown-facts.ts';

/**
 * The repair order: first a ring that floods the network, then one visit to each Mac for RDMA, then bridges, then
 * cables, and the rest once the cables are right.
 */
export const stages = ['ring', 'rdma-switch', 'unlock', 'bridges', 'cables', 'nodes', 'reported'] as const;

export type Stage = (typeof stages)[number];

/** One problem: its finding, the evidence, and everything that it blocks. */
export interface Trouble {
  readonly finding: Diagnostic;
  readonly stage: Stage;
  readonly evidence: readonly Evidence[];
  /** Items that become right once this problem is fixed: `RDMA port at studio-1:3`, `placement chat`. */
  readonly hanging: readonly string[];
  /** Placements that still run without an answer, and need a restart after the manual step. */
  readonly restarts?: readonly string[];
  /** Commands in the hint that meshwright would refuse now, or that would do nothing. */
  readonly refused?: readonly Command[];
}

/** The part of a placement that a problem can block. */
export interface HeldPlacement extends Pick<DesiredPlacement, 'name' | 'nodes' | 'transport'> {
  readonly standing: string;
  readonly state?: string;
}

/** The findings with the observation behind them. */
interface TroubleInput extends Pick<View, 'desired' | 'observation'> {
  /** As returned by `diagnoseFleet` and the placement checks. */
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly HeldPlacement[];
}

function stageOf(one: Diagnostic): Stage {
  if (hasTrait(one, 'urgent')) return 'ring';
  if (hasTrait(one, 'locked')) return 'unlock';
  if (one.severity === 'notice') return 'reported';
  if (hasTrait(one, 'rdma-switch')) return 'rdma-switch';
  const area = areaOf(one);
  if (area === 'bridge') return 'bridges';
  return area === 'cabling' || area === 'cables' || hasTrait(one, 'wrong-port') ? 'cables' : 'nodes';
}

/** Areas whose errors are enough to prevent placements from starting on their nodes. */
const holding: readonly Area[] = ['address', 'bridge', 'cabling', 'identity', 'macos', 'rdma', 'ssh'];

const holds = (one: Diagnostic): boolean =>
  hasTrait(one, 'holds-starts') || (one.severity === 'error' && holding.includes(areaOf(one)));

/** Ports of other nodes that are down because of this node. */
function darkenedBy(examination: Examination, finding: Diagnostic): readonly string[] {
  const own = subjectNodes(finding.subject);
  if (!hasTrait(finding, 'darkens')) return [];
  const portsOf = (node: ExaminedNode): readonly string[] =>
    lostPorts(examination, node).flatMap(({ end, far }) => (own.includes(far.node) ? [linkEndText(end)] : []));
  const ends = examination.nodes.flatMap(portsOf);
  return ends.length === 0 ? [] : [`${ends.length === 1 ? 'RDMA port' : 'RDMA ports'} at ${ends.join(', ')}`];
}

/** Links that cannot be checked while one of their nodes is unobserved. */
function unjudgedBy({ cabling }: Examination, finding: Diagnostic): readonly string[] {
  if (areaOf(finding) !== 'ssh') return [];
  const own = subjectNodes(finding.subject);
  const links = cabling.links.filter(
    ({ judgement, link }) => judgement.kind === 'unknown' && link.ends.some(({ node }) => own.includes(node)),
  );
  return links.length === 0 ? [] : [`the check of ${links.length === 1 ? 'a link' : `${links.length} links`}`];
}

/** Placements that cannot serve until the problem is fixed. */
function heldBy(finding: Diagnostic, placements: readonly HeldPlacement[]): readonly HeldPlacement[] {
  const own = subjectNodes(finding.subject);
  if (!holds(finding)) return [];
  const isOnLink = subjectEnds(finding.subject).length > 0;
  const isAboutRdma = areaOf(finding) === 'rdma';
  return placements.filter(({ nodes, standing, transport }) => {
    if (isAboutRdma && transport === 'tcp') return false;
    const among = own.filter((name) => nodes.some((node) => node === name));
    // A cable affects only placements that use both of its Macs.
    return (
      (standing === 'differs' || standing === 'unknown') &&
      (isOnLink && own.length > 1 ? among.length === own.length : among.length > 0)
    );
  });
}

/** Drops findings that another finding explains. Their hints cannot help before the cause is fixed. */
export function withoutConsequences(
  findings: readonly Diagnostic[],
  placements: readonly HeldPlacement[],
): readonly Diagnostic[] {
  const isHeld = (subject: Subject | undefined): boolean =>
    findings.some((cause) => heldBy(cause, placements).some(({ name }) => isPlacement(subject, name)));
  return findings.filter((one) => one.severity === 'notice' || areaOf(one) !== 'mesh' || !isHeld(one.subject));
}

/** Ranks that lost a cable hang, also once it is plugged in again. */
function restartsAfter(finding: Diagnostic, placements: readonly HeldPlacement[]): readonly string[] | undefined {
  const hung = heldBy(finding, placements).filter(({ state }) => state === 'hung' || state === 'partial');
  return isHandsWork(finding) && hung.length > 0 ? hung.map(({ name }) => name) : undefined;
}

/** All problems in repair order, each with its evidence. Consequences are listed only below their cause. */
export function troublesOf({ desired, observation, findings, placements }: TroubleInput): readonly Trouble[] {
  const examination = examine(desired, observation);
  return withoutConsequences(findings, placements)
    .map((finding) => ({
      finding,
      ...given({ restarts: restartsAfter(finding, placements) }),
      stage: stageOf(finding),
      evidence: evidenceFor(examination, finding),
      hanging: [
        ...darkenedBy(examination, finding),
        ...unjudgedBy(examination, finding),
        ...heldBy(finding, placements).map(({ name }) => `placement ${name}`),
      ],
    }))
    .toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
}

/** One fact of one node that supports a finding. */
export interface Evidence {
  readonly node: NodeName;
  readonly fact: FactName;
  /** The command line on the node that returned it: `rdma_ctl status`. */
  readonly source: Prose;
  /** The affected receptacles; empty if the fact is about the whole node. */
  readonly receptacles: readonly number[];
}

/** The facts behind codes that no rule produces: codes for placements and endpoints. */
const factsByArea: Readonly<Partial<Record<Area, readonly FactName[]>>> = {
  cables: ['thunderbolt', 'rdma-ports'],
  endpoint: ['files', 'services', 'gateways'],
  mesh: ['placements', 'services'],
};

function factsOf(finding: Diagnostic): readonly FactName[] {
  const { facts, evidence } = entryOf(finding.code) ?? {};
  const names: readonly string[] | undefined = facts?.map(({ name }) => name) ?? evidence;
  return names?.filter(isFactName) ?? factsByArea[areaOf(finding)] ?? [];
}

const wordText = (word: Word): string =>
  typeof word === 'string' ? word : word.path.slice(word.path.lastIndexOf('/') + 1);

/** The command line that reads a fact; for our own scripts, the meshwright command that shows the fact. */
function sourceOf(fact: FactName): Prose {
  const { from, source } = registry[fact];
  if (source !== undefined) return source;
  const [probe] = from;
  const [program = '', ...words] = (probe?.ask ?? []).map(wordText);
  return program === 'sh' || program === ''
    ? [aside(meshwright('facts', '--fact', fact))]
    : [program, ...words].join(' ');
}

/** The ends on this node that a finding's subject names, if the node has them. */
function namedEnds({ subject }: Diagnostic, node: ExaminedNode): readonly LinkEnd[] {
  const named = subjectEnds(subject).map(linkEndText);
  const receptacles = readValue(node.facts, thunderboltFact) ?? [];
  return receptacles
    .map(({ receptacle }): LinkEnd => ({ node: node.name, receptacle }))
    .filter((end) => named.includes(linkEndText(end)));
}

/** The node's link ends that a finding concerns: the named ones, or those whose RDMA state matches the code. */
function endsOf(examination: Examination, finding: Diagnostic, node: ExaminedNode): readonly LinkEnd[] {
  const named = namedEnds(finding, node);
  if (named.length > 0) return named;
  const isOnRung = ({ kind }: ReceptacleRdma): boolean =>
    kind !== 'ready' && kind !== 'unknown' && hasTrait(finding, kind);
  const onRung = node.ends.filter((end) => isOnRung(receptacleRdma(examination, node, end)));
  return onRung.length > 0 ? onRung : node.ends;
}

const ofPlaces: readonly FactName[] = ['thunderbolt', 'interfaces', 'rdma-ports', 'rdma-devices'];

const evidence = (node: NodeName, fact: FactName, ends: readonly LinkEnd[]): Evidence => ({
  node,
  fact,
  source: sourceOf(fact),
  receptacles: ofPlaces.includes(fact) ? ends.map(({ receptacle }) => receptacle) : [],
});

/** Evidence from neighbors that RDMA is off here, because an enabled Mac advertises RDMA over the cable. */
function seenByNeighbors(examination: Examination, node: ExaminedNode): readonly Evidence[] {
  return node.ends.flatMap((end) => {
    const far = farEndOf(examination, end);
    const next = examination.nodes.find(({ name }) => name === far?.node);
    if (far === undefined) return [];
    const receptacle = readValue(next?.facts, thunderboltFact)?.find((one) => one.receptacle === far.receptacle);
    const isSilent = receptacle?.peers.some(({ advertisesRdma }) => advertisesRdma === false) === true;
    return isSilent ? [evidence(far.node, 'thunderbolt', [far])] : [];
  });
}

/** The supporting facts in node order; empty for unobserved nodes. */
export function evidenceFor(examination: Examination, finding: Diagnostic): readonly Evidence[] {
  const names = subjectNodes(finding.subject);
  const nodes = examination.nodes.filter(({ name }) => names.includes(name));
  if (hasTrait(finding, 'unknown-facts')) {
    return nodes.flatMap((node) => unknownFacts(node).map(({ name }) => evidence(node.name, name, [])));
  }
  const own = nodes.flatMap((node) => {
    const ends = endsOf(examination, finding, node);
    return factsOf(finding).map((fact) => evidence(node.name, fact, ends));
  });
  if (hasTrait(finding, 'rdma-switch')) return [...own, ...nodes.flatMap((node) => seenByNeighbors(examination, node))];
  if (!hasTrait(finding, 'port-down')) return own;
  const far = nodes
    .flatMap((node) => lostPorts(examination, node))
    .map((lost) => evidence(lost.far.node, 'rdma-state', []));
  // Two cables between the same Macs produce one entry, so that each Mac is listed once.
  return [...own, ...far];
}

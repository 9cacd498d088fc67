import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { FactsRdmaObjects } from '../../model/documents.generated.ts';
import { andThen } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { nodeSubject, nodesSubject, placementSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, prose } from '../../model/text/prose.ts';
import { modelAt } from '../../rack/cables/receptacle-place-reading.ts';
import type { Examination, ExaminedNode, FleetObservation } from '../../rack/examination.ts';
import { read, readValue } from '../../rack/fact.ts';
import { macosOf } from '../../rack/macos/reading.ts';
import { interfaceAt } from '../../rack/network/interfaces-reading.ts';
import { runningPlacements } from '../../rack/placement/mesh/rank-states.ts';
import { rdmaPortsFact } from '../../rack/rdma/devices-fact.ts';
import { rdmaObjectsFact, rdmaObjectWords } from '../../rack/rdma/kernel-fact.ts';
import { budgetWords, isSpent, launchBudget } from '../../rack/rdma/launch-budget-reading.ts';
import type { CableMacs } from './cable-ratings.ts';

/** One end of a cable to measure. */
export interface MeasuredEnd {
  readonly end: LinkEnd;
  /** The receptacle's interface, RDMA device and IPv4 address. */
  readonly device: string;
  readonly address: string;
  /** The index of the GID with this address. */
  readonly gidIndex: number;
}

/** A declared cable that can be measured, or why it cannot. */
export interface CableTest {
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly macs: CableMacs;
  readonly plan:
    | { readonly kind: 'measure'; readonly ends: readonly [MeasuredEnd, MeasuredEnd] }
    | { readonly kind: 'skip'; readonly reason: string };
}

/** The declared cables in file order. Only a cable that connects its two receptacles directly can be measured. */
export const cableTests = (examination: Examination): readonly CableTest[] =>
  examination.cabling.links.map(({ link: { ends }, judgement }): CableTest => {
    const about = { ends, macs: ends.map(({ node }) => macOf(examination, node)) };
    const isPlugged = judgement.kind === 'as-declared' || judgement.kind === 'slow';
    if (!isPlugged) return { ...about, plan: { kind: 'skip', reason: notPluggedWords[judgement.kind] } };
    const [a, b] = ends.map((end) => endOf(examination, end));
    if (typeof a === 'object' && typeof b === 'object') return { ...about, plan: { kind: 'measure', ends: [a, b] } };
    return { ...about, plan: { kind: 'skip', reason: [a, b].filter((one) => typeof one === 'string').join('; ') } };
  });

const notPluggedWords = {
  'through-hub': 'a dock or hub is between its ends',
  'one-sided': 'only one end sees the other',
  missing: 'no cable is plugged in',
  elsewhere: 'the receptacles are not connected to each other',
  'no-receptacle': 'a Mac has no such receptacle',
  unknown: 'its ends could not be observed',
} as const;

function macOf(examination: Examination, name: NodeName): CableMacs[number] {
  const node = examination.nodes.find((one) => one.name === name);
  const model = modelAt(examination, name);
  const macos = node && macosOf(node)?.version;
  return model === undefined || macos === undefined ? undefined : { model, macos };
}

/** The reason is a clause that follows a semicolon. */
function endOf({ nodes }: Examination, end: LinkEnd): MeasuredEnd | string {
  const facts = nodes.find(({ name }) => name === end.node)?.facts;
  const port = facts && interfaceAt(facts, end.receptacle);
  if (facts === undefined || port === undefined) return `the interface of ${linkEndText(end)} is unknown`;
  const device = `rdma_${port.name}`;
  const ports = read(facts, rdmaPortsFact);
  if (ports.kind === 'unknown') return `the RDMA devices of ${end.node} are unknown`;
  const gids = ports.value.find((one) => one.device === device)?.gids;
  if (gids === undefined) return `${linkEndText(end)} has no RDMA device`;
  const own = gids.find(({ ipv4 }) => ipv4 !== undefined && port.ipv4.some(({ address }) => address === ipv4));
  if (own?.ipv4 === undefined) return `${linkEndText(end)} has no address for RDMA`;
  return { end, device, address: own.ipv4, gidIndex: own.index };
}

/** The nodes whose cables are measured, each once. */
export const nodesToMeasure = (tests: readonly CableTest[]): readonly NodeName[] => [
  ...new Set(tests.flatMap(({ plan }) => (plan.kind === 'measure' ? plan.ends.map(({ end }) => end.node) : []))),
];

/** A failed measurement can leave an object behind, and two starts must still fit after it. */
const reservedStarts = 2;

/**
 * Why nothing may be measured now: a placement runs on a Mac, its RDMA devices have no room for two more starts, or the
 * kernel's objects cannot be counted.
 */
export function measureRefusals(
  { desired, nodes }: Examination,
  observation: FleetObservation,
  measured: readonly NodeName[],
): readonly Diagnostic[] {
  const running = runningPlacements(desired.placements, observation.nodes).flatMap(({ name, nodes: all, isGuess }) => {
    const there = all.filter((node) => measured.includes(node)).toSorted();
    return there.length === 0 ? [] : [{ name, there, isGuess }];
  });
  // The slots in use may belong to these placements.
  if (running.length === 0) return nodes.filter(({ name }) => measured.includes(name)).flatMap(roomRefusals);
  const uses = running.map(
    ({ name, there, isGuess }) => prose`${named(name)} ${isGuess ? 'may run' : 'runs'} on ${listText(there)}`,
  );
  const names = running.map(({ name }) => name);
  const [first] = names;
  return [
    diagnose('cables/in-use', {
      subject:
        first === undefined || names.length > 1
          ? nodesSubject([...new Set(running.flatMap(({ there }) => there))].toSorted())
          : placementSubject(first),
      detail: prose`${joinProse(uses, '; ')}. Nothing was measured.`,
      hint: prose`Stop ${names.length === 1 ? 'it' : 'them'} first: ${meshwright('stop', ...names)}`,
    }),
  ];
}

function roomRefusals({ name, facts }: ExaminedNode): readonly Diagnostic[] {
  const subject = nodeSubject(name);
  const budget = andThen(read(facts, rdmaObjectsFact), () => launchBudget(facts));
  if (budget.kind === 'unknown') {
    const detail = prose`${named(name)}: ${escapeText(budget.detail)} Nothing was measured.`;
    return [diagnose('cables/kernel-unseen', { subject, detail })];
  }
  if (!isSpent(budget.value, reservedStarts)) return [];
  const detail = prose`${named(name)}: ${budgetWords(budget.value)}, so two starts would not fit. Nothing was measured.`;
  return [diagnose('cables/no-reserve', { subject, detail })];
}

/** The RDMA objects of the kernel, by node; a node whose objects are unknown is missing. */
export type KernelCounts = ReadonlyMap<NodeName, FactsRdmaObjects>;

export const kernelCounts = ({ nodes }: FleetObservation, names: readonly NodeName[]): KernelCounts =>
  new Map(
    names.flatMap((name) => {
      const count = readValue(nodes[name]?.facts, rdmaObjectsFact);
      return count === undefined ? [] : [[name, count] as const];
    }),
  );

/** Compares the kernel's objects after the measurement with those before it. */
export const leftObjects = (before: KernelCounts, after: KernelCounts): readonly Diagnostic[] =>
  [...before].flatMap(([node, was]) => {
    const is = after.get(node);
    const subject = nodeSubject(node);
    if (is === undefined) {
      const detail = prose`${named(node)}: the RDMA objects in the kernel could not be counted after the measurement.`;
      return [diagnose('cables/objects-unseen', { subject, detail })];
    }
    if (is.domains === was.domains && is.queuePairs === was.queuePairs) return [];
    const detail = prose`${named(node)}: the kernel has ${rdmaObjectWords(is)} after the measurement, and had ${rdmaObjectWords(was)} before it.`;
    return [diagnose('cables/objects-left', { subject, detail })];
  });

import { onFallback, withFallbacks } from '../../../desired/layouts.ts';
import { codes, diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import { exoShape } from '../../../drivers/exo/check.ts';
import { fitPlacements, type SeenMemories } from '../../../drivers/fit-placements.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { Facts, NodeObservation } from '../../../model/facts/fact-values.ts';
import type { NodeFit } from '../../../model/fit.ts';
import type { NodeName } from '../../../model/node.ts';
import { placementSubject, subjectNodes } from '../../../model/subject.ts';
import { joinProse, mapWords, prose } from '../../../model/text/prose.ts';
import { layoutText } from '../../../model/text/units.ts';
import { bootSessionFact } from '../../boot/boot-session-fact.ts';
import { judgeProperty } from '../../change.ts';
import { read } from '../../fact.ts';
import type { FleetObservation } from '../../fleet-observation.ts';
import { hardwareFact } from '../../identity/hardware-fact.ts';
import { wiredLimitFact } from '../../memory/fact.ts';
import type { Blocker, View } from '../../resource.ts';
import { placementAddress } from '../members/mesh-step.ts';
import { placementsFact } from '../observed/fact.ts';
import { placementCases } from '../state/placement-cases.ts';
import { placementProperty } from '../state/placement-properties.ts';
import { checkedMac, namesBy } from '../state/seen-names.ts';
import { fleetAsItStays, roomWords } from '../state/staying.ts';
import { bridgedLinks } from './bridged-links.ts';
import { memoryFindings } from './memory-findings.ts';
import { mixedMacosFindings } from './mixed-macos.ts';
import { queuePairFindings } from './queue-pair-findings.ts';
import { tensorFindings } from './tensor-findings.ts';

/** What was seen of a node; undefined where nobody looked. */
type FactsOf = (node: NodeName) => Facts | undefined;

const nobodyLooked: FactsOf = () => undefined;

/** What ranks that were started in this boot session said that the GPU may use: the least of it. */
function reportedBudget(facts: Facts): { readonly reportedBytes?: number } {
  const placements = read(facts, placementsFact);
  const session = read(facts, bootSessionFact);
  if (placements.kind === 'unknown' || session.kind === 'unknown') return {};
  const said = placements.value.flatMap(({ startedIn, gpuBytes }) =>
    startedIn === session.value.uuid && gpuBytes !== undefined ? [gpuBytes] : [],
  );
  return said.length === 0 ? {} : { reportedBytes: Math.min(...said) };
}

/** How much memory nodes have and their GPUs may use, as far as it was seen. */
function seenMemories({ nodes }: DesiredFleet, factsOf: FactsOf): SeenMemories {
  const entries = nodes.map(({ name }) => {
    const facts = factsOf(name);
    const hardware = read(facts, hardwareFact);
    const wired = read(facts, wiredLimitFact);
    const seen = {
      ...(hardware?.kind === 'known' ? { memoryBytes: hardware.value.memoryBytes } : {}),
      ...(wired?.kind === 'known' ? { wiredMegabytes: wired.value.megabytes } : {}),
      ...(facts === undefined ? {} : reportedBudget(facts)),
    };
    return [name, seen] as const;
  });
  return Object.fromEntries(entries);
}

/** The memory of every node that carries a placement, with what was seen of it. */
export const fleetMemory = (fleet: DesiredFleet, observation?: FleetObservation): readonly NodeFit[] =>
  fitPlacements(
    fleet,
    seenMemories(fleet, (node) => observation?.nodes[node]?.facts),
  );

const isError = ({ severity }: PlacementFinding): boolean => severity === 'error';

/**
 * Everything that speaks against starting a placement: memory, and what its driver knows; from the file alone where
 * nobody looked at its nodes.
 */
export function checkPlacement(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  factsOf: FactsOf = nobodyLooked,
): readonly PlacementFinding[] {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const model = fleet.models.find(({ name }) => name === placement.model);
  if (runtime === undefined || model === undefined) return [];
  const nodes = placement.nodes.map((node) => {
    const desired = fleet.nodes.find(({ name }) => name === node);
    return { node, ...(desired === undefined ? {} : { desired }), mac: checkedMac(factsOf(node)) };
  });
  const seen = placement.nodes.flatMap((node): readonly NodeObservation[] => {
    const facts = factsOf(node);
    return facts === undefined ? [] : [{ node, facts }];
  });
  const own = driverOf(runtime).check?.({ placement, runtime, model, nodes, fleet, names: namesBy(factsOf) }) ?? [];
  const shape = runtime.driver === 'exo' ? exoShape(runtime, model) : model.shape;
  const split = tensorFindings(placement, runtime.driver, shape);
  const mixed = mixedMacosFindings(placement, seen);
  const pairs = queuePairFindings(placement, fleet, seen);
  const bridged = bridgedLinks(placement, fleet, seen);
  return [
    ...own,
    ...mixed,
    ...split,
    ...pairs,
    ...bridged,
    ...memoryFindings(placement, fleet, seenMemories(fleet, factsOf)),
  ];
}

/** The same of the fallback of a placement, in its stead beside all others; nothing where it has none. */
export function checkFallback(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  factsOf: FactsOf = nobodyLooked,
): readonly PlacementFinding[] {
  const there = onFallback(placement);
  if (there === placement) return [];
  const whole = withFallbacks(fleet, ({ name }) => name === placement.name);
  const findings = checkPlacement(there, whole, factsOf).filter(({ severity }) => severity !== 'notice');
  return findings.map((one) => ({ ...one, detail: `On its fallback (${layoutText(there)}): ${one.detail}` }));
}

/** The same of a placement as diagnostics about it. */
export const checkDiagnostic = ({ name }: DesiredPlacement, { code, ...words }: PlacementFinding): Diagnostic =>
  diagnose(code, { ...words, detail: escapeText(words.detail), subject: placementSubject(name) });

/** Whether the doctor tells it of these nodes with the same weight: versions that differ stop what needs their macOS. */
function isToldAlready({ findings }: View, { nodes }: DesiredPlacement, { code, severity }: PlacementFinding): boolean {
  if (code !== 'placement/mixed-macos') return false;
  const same = ['macos/versions-differ', ...(severity === 'error' ? [] : ['macos/builds-differ'])];
  return findings.some(
    (one) => same.includes(one.code) && subjectNodes(one.subject).some((name) => nodes.some((node) => node === name)),
  );
}

/**
 * What speaks against starting a placement beside all others: as the file has them, and beside all that goes on against
 * the file. A fallback may be moved back only once both have their memory.
 */
function besideOthers(placement: DesiredPlacement, view: View, factsOf: FactsOf): readonly PlacementFinding[] {
  const findings = checkPlacement(placement, view.desired, factsOf);
  if (findings.some(isError)) return findings;
  const room = roomWords(view, placement.nodes, placement.name);
  if (room.length === 0) return findings;
  const hint = prose`It fits once ${joinProse(room, ' and ')}, which this plan does not do.`;
  return checkPlacement(placement, fleetAsItStays(view, placement.name), factsOf).map((one) =>
    isError(one) ? { ...one, hint } : one,
  );
}

/**
 * Placements that are to be started, and what speaks against them, and against all fallbacks, which may be needed when
 * nobody can help any more. What runs as the file says has shown that it can, and so has a fallback that runs.
 */
function checkedCases(view: View) {
  return placementCases(view)
    .filter(({ placement }) => placement.state === 'serving')
    .map((one) => {
      const { placement, leader, elsewhere } = one;
      const factsOf: FactsOf = (node) => view.observation.nodes[node]?.facts;
      const isMet = judgeProperty(placementProperty(one)) === 'met';
      const own = isMet ? [] : besideOthers(placement, view, factsOf);
      const there = elsewhere === undefined ? checkFallback(placement, view.desired, factsOf) : [];
      const findings = [...own, ...there].filter((found) => !isToldAlready(view, placement, found));
      return { placement, leader, findings };
    });
}

/**
 * What will speak against starting again what this plan stops. Of a Mac that is restarted only the file counts: what was
 * seen of it does not outlast the restart.
 */
function returningCases(view: View) {
  const isBack = ({ name }: DesiredPlacement): boolean => view.comingBack.includes(name);
  const served = (one: DesiredPlacement): DesiredPlacement => ({ ...one, state: 'serving' });
  const desired = {
    ...view.desired,
    placements: view.desired.placements.map((one) => (isBack(one) ? served(one) : one)),
  };
  const factsOf: FactsOf = (node) => (view.restarting.includes(node) ? undefined : view.observation.nodes[node]?.facts);
  return placementCases(view)
    .filter(({ comesBack }) => comesBack !== undefined)
    .map(({ placement, leader }) => {
      const findings = besideOthers(served(placement), { ...view, desired }, factsOf);
      return { placement, leader, findings: findings.filter((found) => !isToldAlready(view, placement, found)) };
    });
}

/** What keeps placements from being started, or from being stopped for a start. */
export const checkBlockers = (view: View): readonly Blocker[] =>
  [...checkedCases(view), ...returningCases(view)].flatMap(({ placement, leader, findings }) =>
    findings
      .filter(({ severity }) => severity === 'error')
      .map(({ code, detail, hint }) => ({
        code,
        node: leader,
        resource: 'placement' as const,
        property: placementAddress(placement.name),
        action: mapWords(prose`placement ${placement.name}: ${detail} ${hint ?? codes[code].hint}`, escapeText),
        isHands: false,
        peers: placement.nodes.filter((node) => node !== leader),
        blocks: [],
      })),
  );

/** What is only told of placements that are to be started. */
export const checkNotices = (view: View): readonly Diagnostic[] =>
  checkedCases(view).flatMap(({ placement, findings }) =>
    findings.filter(({ severity }) => severity !== 'error').map((finding) => checkDiagnostic(placement, finding)),
  );

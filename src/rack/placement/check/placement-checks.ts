import { loadedModels, needsRdma, onFallback, withFallbacks } from '../../../desired/layouts.ts';
import { tensorAdvice, tensorProblems } from '../../../desired/tensor-limits.ts';
import { codes, diagnose } from '../../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { configurePlacement } from '../../../drivers/configure-placement.ts';
import { endTowards } from '../../../drivers/contract/addresses.ts';
import { lastingNames, type PlacementFinding } from '../../../drivers/contract/driver.ts';
import { nearestFit, nearestText, needSentence } from '../../../drivers/fit-nearest.ts';
import { fitPlacements, type SeenMemories, worstVerdict } from '../../../drivers/fit-placements.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { Facts, NodeObservation } from '../../../model/facts/fact-values.ts';
import type { FitVerdict, NodeFit } from '../../../model/fit.ts';
import { given } from '../../../model/given.ts';
import { listText } from '../../../model/lists.ts';
import type { ModelShape } from '../../../model/model-shape.ts';
import type { NodeName } from '../../../model/node.ts';
import { placementSubject, subjectNodes } from '../../../model/subject.ts';
import { joinProse, mapWords, type Prose, prose } from '../../../model/text/prose.ts';
import { layoutText } from '../../../model/text/units.ts';
import { receptacleDevices } from '../../addresses/reading.ts';
import { isInStayingBridge } from '../../addresses/resource.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import type { FleetObservation } from '../../examination.ts';
import { readValue } from '../../fact.ts';
import { restartedNodes, returningPlacements } from '../../goal.ts';
import { hardwareFact } from '../../identity/fact.ts';
import { macosVersionFact, versionText } from '../../macos/fact.ts';
import { wiredLimitFact } from '../../memory/fact.ts';
import { readLimit } from '../../rdma/launch-budget-reading.ts';
import { type Blocker, blocker, judgeProperty, type View, viewWith } from '../../resource.ts';
import { placementAddress } from '../mesh/rank-states.ts';
import { placementsFact } from '../observed/fact.ts';
import { placementCases, takesOfDevice } from '../state/placement-cases.ts';
import { placementProperty } from '../state/placement-properties.ts';
import { checkedMac, namesBy } from '../state/seen-names.ts';
import { fleetAsItStays, roomWords } from '../state/staying.ts';
import { gidFindings } from './gid-index.ts';

type FactsOf = (node: NodeName) => Facts | undefined;

const noFacts: FactsOf = () => undefined;

/** The lowest GPU limit that ranks of this boot session reported, in bytes. */
function reportedBytes(facts: Facts | undefined): number | undefined {
  const session = readValue(facts, bootSessionFact);
  const ranks = readValue(facts, placementsFact)?.filter(({ startedIn }) => startedIn === session?.uuid) ?? [];
  const said = ranks.flatMap(({ gpuBytes }) => gpuBytes ?? []);
  return said.length === 0 ? undefined : Math.min(...said);
}

function seenMemories({ nodes }: DesiredFleet, factsOf: FactsOf): SeenMemories {
  const entries = nodes.map(({ name }) => {
    const facts = factsOf(name);
    const seen = given({
      memoryBytes: readValue(facts, hardwareFact)?.memoryBytes,
      wiredMegabytes: readValue(facts, wiredLimitFact)?.megabytes,
      reportedBytes: reportedBytes(facts),
    });
    return [name, seen] as const;
  });
  return Object.fromEntries(entries);
}

export const fleetMemory = (fleet: DesiredFleet, observation?: FleetObservation): readonly NodeFit[] =>
  fitPlacements(
    fleet,
    seenMemories(fleet, (node) => observation?.nodes[node]?.facts),
  );

const isError = ({ severity }: PlacementFinding): boolean => severity === 'error';

/** All reasons against a start, from memory and the driver's checks. Nodes without facts are checked from the file. */
export function checkPlacement(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  factsOf: FactsOf = noFacts,
): readonly PlacementFinding[] {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const model = fleet.models.find(({ name }) => name === placement.model);
  if (runtime === undefined || model === undefined) return [];
  const nodes = placement.nodes.map((node) => ({ node, mac: checkedMac(factsOf(node)) }));
  const seen = placement.nodes.flatMap((node): readonly NodeObservation[] => {
    const facts = factsOf(node);
    return facts === undefined ? [] : [{ node, facts }];
  });
  const driver = driverOf(runtime);
  const own = driver.check?.({ placement, runtime, model, nodes, fleet, names: namesBy(factsOf) }) ?? [];
  return [
    ...own,
    ...mixedMacosFindings(placement, seen),
    ...tensorFindings(placement, driver.tensorShape?.(runtime, model)),
    ...gidFindings(placement, fleet, seen),
    ...queuePairFindings(placement, fleet, seen),
    ...bridgedLinks(placement, fleet, seen),
    ...memoryFindings(placement, fleet, seenMemories(fleet, factsOf)),
  ];
}

/** Checks a placement's fallback in the same way, in place of the placement itself; empty if it has none. */
export function checkFallback(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  factsOf: FactsOf = noFacts,
): readonly PlacementFinding[] {
  const there = onFallback(placement);
  if (there === placement) return [];
  const whole = withFallbacks(fleet, ({ name }) => name === placement.name);
  const findings = checkPlacement(there, whole, factsOf).filter(({ severity }) => severity !== 'notice');
  return findings.map((one) => ({ ...one, detail: `On its fallback (${layoutText(there)}): ${one.detail}` }));
}

export const checkDiagnostic = ({ name }: DesiredPlacement, { code, ...words }: PlacementFinding): Diagnostic =>
  diagnose(code, { ...words, detail: escapeText(words.detail), subject: placementSubject(name) });

/** True if a finding about these nodes already reports this with the same severity. */
function isReportedAlready(
  { findings }: View,
  { nodes }: DesiredPlacement,
  { code, severity }: PlacementFinding,
): boolean {
  if (!hasTrait(codes[code], 'mixed-macos')) return false;
  const isSame = (one: Diagnostic): boolean =>
    hasTrait(one, 'mixed-macos') || (severity !== 'error' && hasTrait(one, 'mixed-builds'));
  return findings.some((one) => isSame(one) && nodes.some((node) => subjectNodes(one.subject).includes(node)));
}

/** Reasons against a start next to all others: as in the file, then as they keep running. */
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
 * Placements to start, with the reasons against them and against their fallbacks, which may be needed when it is too
 * late to fix anything. A placement that matches the file needs no check, and neither does a running fallback.
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
      const findings = [...own, ...there].filter((found) => !isReportedAlready(view, placement, found));
      return { placement, leader, findings };
    });
}

/** Reasons against restarting what this plan stops. On a Mac that restarts, only the file counts: facts expire. */
function returningCases(view: View) {
  const isBack = ({ name }: DesiredPlacement): boolean => returningPlacements(view.goal).includes(name);
  const served = (one: DesiredPlacement): DesiredPlacement => ({ ...one, state: 'serving' });
  const placements = view.desired.placements.map((one) => (isBack(one) ? served(one) : one));
  const desired = { ...view.desired, placements };
  const factsOf: FactsOf = (node) =>
    restartedNodes(view.goal).includes(node) ? undefined : view.observation.nodes[node]?.facts;
  return placementCases(view)
    .filter(({ comesBack }) => comesBack !== 'no')
    .map(({ placement, leader }) => {
      const findings = besideOthers(served(placement), viewWith(view, { desired }), factsOf);
      return { placement, leader, findings: findings.filter((found) => !isReportedAlready(view, placement, found)) };
    });
}

export const checkBlockers = (view: View): readonly Blocker[] =>
  [...checkedCases(view), ...returningCases(view)].flatMap(({ placement, leader, findings }) =>
    findings
      .filter(({ severity }) => severity === 'error')
      .map(({ code, detail, hint }) => {
        const action = prose`placement ${placement.name}: ${detail} ${hint ?? codes[code].hint}`;
        return startBlocker(placement, { code, node: leader, action: mapWords(action, escapeText) });
      }),
  );

export const startBlocker = <Code extends string>(
  { name, nodes }: DesiredPlacement,
  { code, node, action }: Pick<Blocker, 'node' | 'action'> & { readonly code: Code },
): Blocker & { readonly code: Code } => ({
  ...blocker({ code, node, resource: 'placement', property: placementAddress(name), action }),
  peers: nodes.filter((other) => other !== node),
});

export const checkNotices = (view: View): readonly Diagnostic[] =>
  checkedCases(view).flatMap(({ placement, findings }) =>
    findings.filter(({ severity }) => severity !== 'error').map((finding) => checkDiagnostic(placement, finding)),
  );

function tensorFindings(
  { sharding, nodes, roles }: DesiredPlacement,
  shape: ModelShape | undefined,
): readonly PlacementFinding[] {
  if (sharding !== 'tensor' || shape === undefined) return [];
  // A rank with a role has the whole model.
  const problems = tensorProblems(shape, nodes.filter((node) => node !== roles?.prefill).length);
  if (problems.length === 0) return [];
  return [
    { code: 'placement/not-divisible', severity: 'error', detail: problems.join(' '), hint: tensorAdvice(shape) },
  ];
}

/** Reports a start that needs more of an RDMA device than a boot session offers. Unknown limits block nothing. */
export function queuePairFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  if (placement.transport !== 'rdma') return [];
  const takes = takesOfDevice({ configuration: configurePlacement(placement, fleet, 0, lastingNames) });
  const short = nodes.flatMap(({ node, facts }) => {
    const limit = readLimit(facts);
    return limit === undefined || takes <= limit ? [] : [{ node, limit }];
  });
  if (short.length === 0) return [];
  const rooms = short.map(({ node, limit }) => `the devices of ${node} have ${limit}`).join(', ');
  const detail = `Each rank needs ${takes} queue pairs on every device that it uses. In one boot session, ${rooms}.`;
  return [{ code: 'placement/too-few-queue-pairs', severity: 'error', detail }];
}

interface Seen {
  readonly node: string;
  /** Includes the suffix of a Background Security Improvement. */
  readonly version: string;
  readonly build: string;
  readonly model: string | undefined;
}

function seenOn({ node, facts }: NodeObservation): readonly Seen[] {
  const macos = readValue(facts, macosVersionFact);
  if (macos === undefined) return [];
  const model = readValue(facts, hardwareFact)?.model;
  return [{ node, version: versionText(macos), build: macos.build, model }];
}

/** Some builds of a macOS version exist only for some models, so only Macs of one model are compared. */
const areOdd = (a: Seen, b: Seen): boolean =>
  a.version !== b.version || (a.build !== b.build && a.model !== undefined && a.model === b.model);

/** Different macOS versions or builds in one placement: an error over RDMA, a warning over TCP. */
export function mixedMacosFindings(
  { transport }: DesiredPlacement,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  const seen = nodes.flatMap(seenOn);
  if (!seen.some((one) => seen.some((other) => areOdd(one, other)))) return [];
  const detail = `${seen.map(({ node, version, build }) => `${node} has macOS ${version} (${build})`).join(', ')}.`;
  return [{ code: 'placement/mixed-macos', severity: transport === 'rdma' ? 'error' : 'warning', detail }];
}

/** The receptacles of a node that its ranks use and that are in a bridge which the file keeps. */
function heldReceptacles(
  { nodes }: DesiredPlacement,
  fleet: DesiredFleet,
  { node, facts }: NodeObservation,
): readonly number[] {
  const devices = receptacleDevices(facts);
  if (devices.kind !== 'known') return [];
  const ends = nodes.flatMap((other) => endTowards(fleet.thunderbolt, node, other) ?? []);
  return ends
    .map(({ receptacle }) => receptacle)
    .filter((receptacle) => {
      const device = devices.value.get(receptacle);
      return device !== undefined && isInStayingBridge(fleet, facts, device);
    })
    .toSorted((a, b) => a - b);
}

/** Nodes without addresses for their ranks, because the file keeps their bridge. RDMA checks report it themselves. */
export function bridgedLinks(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  if (fleet.thunderbolt.bridge !== 'keep') return [];
  const held = nodes
    .filter(({ node }) => !needsRdma(fleet, node))
    .map((one) => ({ node: one.node, receptacles: heldReceptacles(placement, fleet, one) }))
    .filter(({ receptacles }) => receptacles.length > 0);
  if (held.length === 0) return [];
  const where = held.map(({ node, receptacles }) => {
    const word = receptacles.length === 1 ? 'receptacle' : 'receptacles';
    return `${word} ${listText(receptacles.map(String))} of ${node}`;
  });
  const names = listText(held.map(({ node }) => node));
  return [
    {
      code: 'placement/bridged-link',
      severity: 'error',
      detail: `Its ranks connect over ${listText(where)}, but the file keeps a bridge there, so they have no address.`,
      hint: `Set bridge: remove under thunderbolt and apply again. Or remove ${names} from the placement's nodes, or these links from the file.`,
    },
  ];
}

/** Reports a placement that does not fit next to all that serve there, with the variant that would, or unknown. */
function memoryFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  seen: SeenMemories,
): readonly PlacementFinding[] {
  const fits = fitPlacements(fleet, seen).filter(({ node }) => placement.nodes.includes(node));
  const unread = unreadShape(placement, fleet);
  const blind = fits.filter(({ verdict }) => verdict === undefined).map(({ node }) => node);
  const verdict = worstVerdict(placement, fits);
  if (unread !== undefined) return [unknownMemory(unread)];
  const unseen = blind.length === 0 ? [] : [unknownMemory(`the memory of ${blind.join(', ')} was not observed`)];
  if (verdict === undefined || verdict === 'fits') return unseen;
  const worst = fits.filter((fit) => fit.verdict === verdict);
  const nearest = nearestFit(placement, { fleet, links: fleet.thunderbolt.links, seen });
  const driver = fleet.runtimes.find(({ name }) => name === placement.runtime)?.driver;
  const isRefused = verdict === 'tight' || verdict === 'does-not-fit';
  const hint = isRefused || nearest !== undefined ? nearestText(nearest, driver) : undefined;
  return [findingOf(placement, verdict, needSentence(worst, verdict), hint), ...unseen];
}

/** Why the memory of the model or its drafter cannot be computed; undefined if it can. */
function unreadShape(placement: DesiredPlacement, { models }: DesiredFleet): string | undefined {
  for (const wanted of loadedModels(placement)) {
    const { shape, shapeUnknown = 'its files were not read yet' } = models.find(({ name }) => name === wanted) ?? {};
    if (shape === undefined)
      return wanted === placement.model ? shapeUnknown : `for drafter ${wanted}, ${shapeUnknown}`;
  }
  return undefined;
}

const unknownMemory = (why: string): PlacementFinding => ({
  code: 'placement/memory-unknown',
  severity: 'notice',
  detail: `Its memory could not be checked: ${why}.`,
});

const verdictFindings = {
  'does-not-fit': { code: 'placement/does-not-fit', severity: 'error' },
  degraded: { code: 'placement/degraded', severity: 'warning' },
  'near-degraded': { code: 'placement/near-degraded', severity: 'notice' },
} as const;

function findingOf(
  { allow = [] }: DesiredPlacement,
  verdict: Exclude<FitVerdict, 'fits'>,
  detail: string,
  hint: Prose | undefined,
): PlacementFinding {
  if (verdict !== 'tight') return { ...verdictFindings[verdict], detail, ...given({ hint }) };
  const code = 'placement/tight';
  return allow.includes('tight')
    ? { code, severity: 'warning', detail, hint: hint ?? 'The file accepts this: allow: [tight].' }
    : { code, severity: 'error', detail, hint: prose`${hint ?? ''} Or accept it: allow: [tight].` };
}

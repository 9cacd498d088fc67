import type { CommandOutcome } from '../../apply/reach/session.ts';
import { type UpdateUnit, updateUnits } from '../../desired/update-units.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type UpdateState, updateState } from '../../engine/diagnose/update-states.ts';
import type { EffectTotal } from '../../engine/plan/plan.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { type MacosUpdate, withMinor } from '../../model/facts/mac.ts';
import { given } from '../../model/given.ts';
import { type Known, unknown } from '../../model/known.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { Secret } from '../../model/secret.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { readValue } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { hardwareFact } from '../../rack/identity/fact.ts';
import { softwareUpdatesFact } from '../../rack/macos/fact.ts';
import { updateListCommand } from '../../rack/macos/update-scripts.ts';
import { printedText } from '../../remote/remote.ts';
import type { UnitView } from '../../report/upgrade-text.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { askNodes, observeNodes, shownOnly } from '../look/observe-fleet.ts';
import { unlockReadiness } from '../unlock/unlock-by-itself.ts';
import { type Run, textOption, usageError } from '../verb.ts';
import type { RunUpdateProgram } from './update-drivers.ts';

/** A scan of the update server takes longer than an observation. */
const scanMs = 180_000;

/** What all parts of the command need. */
export interface Upgrade {
  readonly run: Run;
  readonly cluster: SettledCluster;
  readonly ways: SshTargets;
  readonly fleet: DesiredFleet;
  readonly to: string;
  readonly units: readonly UpdateUnit[];
  readonly isByHand: boolean;
  /** The digest of the reviewed plan, if one is named. */
  readonly reviewed?: string;
  /** Set once the user has agreed to the whole update, with its effects. */
  readonly agreed?: readonly EffectTotal[];
  /** The program that installs, and the password with which `softwareupdate` does; both absent before the consent. */
  readonly program?: RunUpdateProgram;
  readonly passwords?: ReadonlyMap<string, Secret>;
}

/** @throws FleetError `cli/usage` */
export function wantedVersion(run: Run, { macos: { version } }: DesiredFleet): string {
  const typed = textOption(run, 'to');
  if (version === undefined) {
    throw usageError(
      'The file does not say which macOS the Macs should run.',
      `Add to the file: macos: { version: "${typed ?? '26.7'}" }`,
    );
  }
  if (typed !== undefined && withMinor(typed) !== version) {
    throw usageError(
      `The file wants macOS ${version}, not ${typed}.`,
      `The file decides. To change it, set in the file: macos: { version: "${typed}" }`,
    );
  }
  return version;
}

/**
 * The units of the named nodes.
 * @throws FleetError `cli/usage` for a part of a unit, because its Macs must run the same version
 */
export function chosenUnits(run: Run, fleet: DesiredFleet): readonly UpdateUnit[] {
  const names = namedNodes(run, fleet).map(({ name }) => name);
  const units = updateUnits(fleet).filter(({ nodes }) => nodes.some((node) => names.includes(node)));
  const partial = units.find(({ nodes }) => nodes.some((node) => !names.includes(node)));
  if (partial === undefined) return units;
  const named = partial.nodes.filter((node) => names.includes(node));
  const others = partial.nodes.filter((node) => !names.includes(node));
  throw usageError(
    `${listText(named)} must run the same macOS as ${listText(others)}: they are cabled or share a placement.`,
    prose`Update them together: ${meshwright('upgrade macos', ...partial.nodes)}`,
  );
}

export type Offers = ReadonlyMap<string, Known<readonly MacosUpdate[]>>;

/** Observes the Macs. With `offers`, a Mac without an entry is not updated by this command. */
export async function measure({ run, ways, fleet, to, units }: Upgrade, offers: Offers): Promise<readonly UnitView[]> {
  const nodes = fleet.nodes.filter(({ name }) => units.some((unit) => unit.nodes.includes(name)));
  const observation = await observeNodes(run, nodes, ways, {
    ...shownOnly(run),
    facts: ['macos-version', 'jobs', 'filevault', 'hardware'],
  });
  const stateAt = (node: NodeName): UpdateState => {
    const seen = { node, facts: observation.nodes[node]?.facts, offers: offers.get(node) };
    return withReason(updateState(to, seen), observation.failures[node] ?? []);
  };
  return units.map((unit) => ({
    nodes: unit.nodes.map((node) => ({
      node,
      state: stateAt(node),
      ...given({ model: readValue(observation.nodes[node]?.facts, hardwareFact)?.model }),
      ...(mayLock(observation.nodes[node]?.facts) ? { hasFileVault: true } : {}),
    })),
    placements: unit.placements.filter(({ state }) => state === 'serving').map(({ name }) => name),
  }));
}

const mayLock = (facts: Facts | undefined): boolean => !['off', undefined].includes(readValue(facts, filevaultFact));

/** The Macs that wait for their FileVault password after the update, because this run cannot unlock them. */
export async function staysLocked(
  { run, fleet, ways, isByHand }: Upgrade,
  views: readonly UnitView[],
): Promise<readonly NodeName[]> {
  const nodes = views
    .flatMap((view) => view.nodes)
    .flatMap(({ node, state, hasFileVault }) => (hasFileVault && state.kind !== 'done' ? node : []));
  if (isByHand || nodes.length === 0) return [];
  const { unlocks = {} } = await unlockReadiness(run, { fleet, ways });
  return nodes.filter((node) => unlocks[node] !== 'ready');
}

/** Observes the Macs, and asks those that need an update what they are offered. */
export async function firstMeasure(upgrade: Upgrade) {
  const seen = await measure(upgrade, new Map());
  if (upgrade.isByHand) return { offers: new Map(), views: seen };
  const wanted = seen.flatMap(({ nodes }) => nodes).filter(({ state }) => state.kind === 'by-hand');
  const asked = upgrade.fleet.nodes.filter(({ name }) => wanted.some(({ node }) => node === name));
  if (asked.length === 0) return { offers: new Map(), views: seen };
  const offers = await readOffers(upgrade.run, asked, upgrade.ways);
  return { offers, views: await measure(upgrade, offers) };
}

/** Why a Mac was not reached says more than that its version is unknown. */
const withReason = (state: UpdateState, related: readonly Diagnostic[]): UpdateState =>
  state.kind === 'blocked' ? { ...state, diagnostic: { ...state.diagnostic, related } } : state;

async function readOffers(run: Run, nodes: readonly DesiredNode[], ways: SshTargets): Promise<Offers> {
  const { deadline } = run.options;
  const patient: Run = { ...run, options: { ...run.options, deadline: Math.max(deadline, scanMs) } };
  const outcomes = await askNodes(patient, { nodes, ways }, (_, rootPrefix) => ({
    name: 'software-updates',
    command: updateListCommand(rootPrefix),
  }));
  return new Map(outcomes.map((one) => [one.node, offersIn(one)]));
}

function offersIn(outcome: CommandOutcome): Known<readonly MacosUpdate[]> {
  if (outcome.kind === 'unreached') return unknown('unreachable', outcome.diagnostics[0]?.summary ?? '');
  const { isTruncated } = outcome.result;
  const answer = { probe: 'softwareupdate', ...printedText(outcome.result), isTruncated, isLate: false, isUtf8: true };
  return softwareUpdatesFact.parse([answer], { sentAtEpochMs: 0, receivedAtEpochMs: 0 });
}

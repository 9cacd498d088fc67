import type { FactsNode } from '../../model/documents.generated.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { type Known, type UnknownReason, unknown } from '../../model/known.ts';
import type { Answer, Asked, Probe } from '../../model/probe.ts';
import { modelCopies, modelCopiesOf, type SoughtModel } from '../../node/probes/model-copies.ts';
import { placementRanks, unaskedRanks } from '../../node/probes/placement-ranks.ts';
import { storedRecords, storedRecordsWith } from '../../node/probes/stored-records-scripts.ts';
import { loginFact, searchPathFact, sudoFact, sudoProbe } from '../../rack/access/fact.ts';
import { accountsFact } from '../../rack/accounts/fact.ts';
import { modelCopiesFact } from '../../rack/artifacts/sources/model-copies-fact.ts';
import { bootSessionFact, diskSpaceFact, panicReportsFact } from '../../rack/boot/fact.ts';
import { bridgePreferencesFact } from '../../rack/bridge/fact.ts';
import { thunderboltFact } from '../../rack/cables/fact.ts';
import { receptaclePlacesFact } from '../../rack/cables/receptacle-places-fact.ts';
import { clockFact } from '../../rack/clock/fact.ts';
import { type FactDefinition, factNamed } from '../../rack/fact.ts';
import { filevaultFact } from '../../rack/filevault/fact.ts';
import { foreignDaemonsFact } from '../../rack/foreign-daemon/fact.ts';
import { holdFact } from '../../rack/hold/hold-fact.ts';
import { hardwareFact, identityFact } from '../../rack/identity/fact.ts';
import { keeperFact } from '../../rack/keeper/fact.ts';
import { macosVersionFact, softwareUpdateList, softwareUpdatesFact } from '../../rack/macos/fact.ts';
import { swapFact, wiredLimitFact } from '../../rack/memory/fact.ts';
import { dhcpLeasesFact, interfacesFact, routesFact } from '../../rack/network/interfaces-fact.ts';
import { serviceAddressesFact } from '../../rack/network/service-addresses-fact.ts';
import { hardwarePortsFact, networkServicesFact } from '../../rack/network/services-fact.ts';
import { transactionsFact } from '../../rack/network/transaction/fact.ts';
import { placementsFact, rdmaStartsFact, rebootMarkFact } from '../../rack/placement/observed/fact.ts';
import {
  ibvDevices,
  ibvDevinfo,
  otherRdmaDevicesFact,
  rdmaDevicesFact,
  rdmaPortsFact,
} from '../../rack/rdma/devices-fact.ts';
import { rdmaHoldersFact, rdmaKernel, rdmaObjectsFact } from '../../rack/rdma/kernel-fact.ts';
import { rdmaStateFact, rdmaSwitchFact } from '../../rack/rdma/state-fact.ts';
import { filesFact } from '../../rack/records/files-fact.ts';
import { gatewaysFact } from '../../rack/records/gateways-fact.ts';
import { jobsFact } from '../../rack/records/jobs-fact.ts';
import { leasesFact } from '../../rack/records/leases-fact.ts';
import { servicesFact } from '../../rack/records/services-fact.ts';
import { treesFact } from '../../rack/records/trees-fact.ts';
import { loginWindow } from '../../rack/settings/login-window.ts';
import { names } from '../../rack/settings/names.ts';
import { power } from '../../rack/settings/power.ts';
import { settings } from '../../rack/settings/settings.ts';
import { updates } from '../../rack/settings/updates.ts';
import { baselineFact, comparedKeys } from '../../rack/uninstall/baseline-setting.ts';
import { tracesFact } from '../../rack/uninstall/traces-fact.ts';

/** All facts in display order. Some settings are also in the list of settings; their first position counts. */
const listed = [
  macosVersionFact,
  hardwareFact,
  identityFact,
  thunderboltFact,
  receptaclePlacesFact,
  hardwarePortsFact,
  interfacesFact,
  dhcpLeasesFact,
  routesFact,
  bridgePreferencesFact,
  networkServicesFact,
  rdmaStateFact,
  rdmaSwitchFact,
  rdmaDevicesFact,
  otherRdmaDevicesFact,
  rdmaPortsFact,
  rdmaObjectsFact,
  rdmaHoldersFact,
  filevaultFact,
  power.fact,
  wiredLimitFact,
  swapFact,
  bootSessionFact,
  diskSpaceFact,
  serviceAddressesFact,
  filesFact,
  treesFact,
  modelCopiesFact,
  placementsFact,
  servicesFact,
  gatewaysFact,
  rdmaStartsFact,
  rebootMarkFact,
  foreignDaemonsFact,
  updates.fact,
  softwareUpdatesFact,
  loginWindow.fact,
  names.fact,
  ...settings.map(({ fact }) => fact),
  panicReportsFact,
  jobsFact,
  leasesFact,
  holdFact,
  transactionsFact,
  keeperFact,
  baselineFact,
  tracesFact,
  loginFact,
  accountsFact,
  searchPathFact,
  sudoFact,
  clockFact,
] as const;

type Listed = (typeof listed)[number];

/** The name of a fact. */
export type FactName = Listed['name'];

/** The value type of each fact, by fact name. */
export type FactValues = {
  readonly [F in Listed as F['name']]: F extends FactDefinition<string, infer V> ? V : never;
};

/** All facts by name. A new fact needs its definition and one line in the list above or in the list of settings. */
export const registry = Object.fromEntries(listed.map((fact) => [fact.name, fact])) as Readonly<
  Record<FactName, FactDefinition>
>;

/** The facts by name, as a type that can be iterated. */
export type EveryFact = { readonly [K in FactName]: Known<FactValues[K]> };

/** The observed value of the named fact, or why it is unknown. */
export const readFact = <K extends FactName>(facts: Facts, name: K): Known<FactValues[K]> =>
  factNamed(facts, name) as Known<FactValues[K]>;

export const isFactName = (name: string): name is FactName => Object.hasOwn(registry, name);

/** All fact names in display order. */
export const factNames = Object.keys(registry) as readonly FactName[];

/**
 * All probes of a full observation, each once. RDMA kernel objects come first and the verbs tools last, because the
 * tools must not run before the objects are read. {@link searchingFor} adds the search for copies of models.
 */
export function allProbes(): readonly Probe[] {
  const verbs = [ibvDevices, ibvDevinfo];
  const apart = [...verbs, modelCopies];
  const others = factNames.flatMap((name) => registry[name].from).filter((probe) => !apart.includes(probe));
  return [...new Set([rdmaKernel, ...others, ...verbs])].map((probe) =>
    probe === storedRecords ? storedRecordsWith(comparedKeys) : probe,
  );
}

/** All probes except token requests. */
export const unaskingProbes = (): readonly Probe[] =>
  allProbes().map((probe) => (probe === placementRanks ? unaskedRanks : probe));

/**
 * The probes for observations during a start: without token requests, the update list and the sudo check. The sudo
 * check already ran before the start, and each check starts a root shell or logs a refusal on the Mac.
 */
export const quietProbes = (): readonly Probe[] =>
  unaskingProbes().filter((probe) => probe !== softwareUpdateList && probe !== sudoProbe);

/** These probes, and the search for copies of models if there are models to search for. */
export const searchingFor = (models: readonly SoughtModel[] | undefined, probes: readonly Probe[]): readonly Probe[] =>
  models === undefined ? probes : [...probes, modelCopiesOf(models)];

/** The probes of the fact `placements`, including the token request that `unaskingProbes` omits. */
export const tokenProbes = (): readonly Probe[] => placementsFact.from;

/** The probes that these facts need. All other facts in such an observation are unknown ("not asked"). */
export function probesOf(names: readonly FactName[], probes = unaskingProbes()): readonly Probe[] {
  const wanted = new Set(names.flatMap((name) => registry[name].from.map((probe) => probe.name)));
  return probes.filter((probe) => wanted.has(probe.name));
}

/** A node's facts, parsed from the answers of one observation; a missing answer makes its facts unknown. */
export function parseFacts(answers: readonly Answer[], asked: Asked): EveryFact {
  const byProbe = new Map(answers.map((answer) => [answer.probe, answer]));
  return factsOf((name) => parseFact(name, byProbe, asked));
}

/** All facts of an unobserved node, which share one reason. */
export const factsWithoutAnswer = (reason: UnknownReason, detail: string): EveryFact =>
  factsOf(() => unknown(reason, detail));

function parseFact(name: FactName, byProbe: ReadonlyMap<string, Answer>, asked: Asked): Known<unknown> {
  const { from, parse } = registry[name];
  return parse(
    from.map((probe) => byProbe.get(probe.name)),
    asked,
  );
}

const factsOf = (judge: (name: FactName) => Known<unknown>): EveryFact =>
  Object.fromEntries(factNames.map((name) => [name, judge(name)])) as EveryFact;

/** One fact in `facts --json`. */
type FactJson<T> = { readonly value: T } | { readonly unknown: UnknownReason; readonly detail: string };

/** The JSON of one node's facts; the compiler compares it with schemas/facts.schema.json. */
type FactsJson = { readonly [K in FactName]?: FactJson<FactValues[K]> };

export function factsJson(facts: Facts, names: readonly FactName[] = factNames): FactsNode {
  const entries = names.map((name) => {
    const fact = factNamed(facts, name);
    return [name, fact.kind === 'known' ? { value: fact.value } : { unknown: fact.reason, detail: fact.detail }];
  });
  const node: FactsJson = Object.fromEntries(entries);
  return node;
}

import type { DesiredFleet } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { Facts, KeptTree } from '../../model/facts/fact-values.ts';
import type { StoppedDaemon, Traces } from '../../model/facts/node-records.ts';
import { type Known, mapKnown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { rankServiceLabel } from '../../node/paths/own-paths.ts';
import { accountsFact } from '../accounts/fact.ts';
import { isOwnAddress } from '../addresses/resource.ts';
import { read } from '../fact.ts';
import { foreignDaemonsFact } from '../foreign-daemon/fact.ts';
import { jobsFact } from '../records/jobs-fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import type { ObservedTarget, Property } from '../resource.ts';
import { knownWords } from '../seen-fact.ts';
import { baselineFact, baselineValues } from './baseline.ts';
import { hasNetworkBefore, networkDifference } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';

/** What to remove from some nodes. */
export interface UninstallWish {
  readonly nodes: readonly NodeName[];
  /** Whether to restore the values from before the first change. */
  readonly restore: boolean;
  /** Whether to remove the models, too. */
  readonly models: boolean;
}

const reason = 'uninstall';

/** The addresses of the properties that concern a whole node. */
export const uninstallAddress = {
  services: addressed({ kind: 'uninstall', part: 'services' }),
  jobs: addressed({ kind: 'uninstall', part: 'jobs' }),
  trees: addressed({ kind: 'uninstall', part: 'trees' }),
  accounts: addressed({ kind: 'uninstall', part: 'accounts' }),
  network: addressed({ kind: 'uninstall', part: 'network' }),
  access: addressed({ kind: 'uninstall', part: 'access' }),
} as const;

/** `uninstall/value/power`. */
export const valueAddress = (key: string): Addressed => addressed({ kind: 'uninstall', part: 'value', name: key });

/** `uninstall/daemon/io.exo.networksetup`. */
export const daemonAddress = (label: string): Addressed =>
  addressed({ kind: 'uninstall', part: 'daemon', name: label });

const orNone = (words: readonly string[]): string => (words.length === 0 ? 'none' : words.join(', '));

type About = Pick<Property, 'node' | 'reason'>;

/** A property that should be empty. */
function emptied(about: About, address: Addressed, observed: Known<readonly string[]>): Property {
  return { ...about, ...address, desired: [], observed, from: knownWords(observed, orNone), to: 'none' };
}

/** Our services without the ranks, which are removed with their placements. */
export const otherServices = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, servicesFact), (all) =>
    all.map(({ label }) => label).filter((label) => !label.startsWith(rankServiceLabel(''))),
  );

const runningJobs = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, jobsFact), (all) =>
    all.filter(({ fields }) => fields['state'] === 'running').map(({ key }) => key.slice(0, 8)),
  );

/** Our accounts that still have files on the node. An account whose record macOS keeps has no files. */
export const keptAccounts = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, accountsFact), ({ made, begun }) =>
    [...new Set([...made.map(({ name }) => name), ...begun])].toSorted(),
  );

/** Published models of a node, in any state. */
export const modelTrees = (trees: readonly KeptTree[]): readonly KeptTree[] =>
  trees.filter(({ kind, state }) => kind === 'model' && state !== 'staged');

const treeWords: Readonly<Record<Traces['trees'], string>> = {
  none: 'none',
  theirs: 'none of ours',
  models: 'models',
  some: 'runtimes, or remains of jobs',
};

function treesProperty(about: About, facts: Facts, { models }: UninstallWish): Property {
  const traces = read(facts, tracesFact);
  const trees = read(facts, treesFact);
  // Files of others among the models are left alone.
  const observed = mapKnown(traces, (seen) => (seen.trees === 'theirs' ? 'none' : seen.trees));
  const hasModels = trees.kind === 'known' && modelTrees(trees.value).length > 0;
  const isModelsLeft = observed.kind === 'known' && observed.value === 'models';
  const desired = !models && (hasModels || isModelsLeft) ? 'models' : 'none';
  return {
    ...about,
    ...uninstallAddress.trees,
    kind: 'remove',
    desired,
    observed: trees.kind === 'unknown' ? trees : observed,
    from: trees.kind === 'unknown' ? knownWords(trees, () => '') : knownWords(observed, (one) => treeWords[one]),
    to: desired === 'models' ? 'models stay' : 'none',
  };
}

type DaemonState = 'moved' | 'there' | 'loaded' | 'gone';

function daemonState({ label, isMoved }: StoppedDaemon, facts: Facts): Known<DaemonState> {
  return mapKnown(read(facts, foreignDaemonsFact), (all) => {
    const one = all.find((daemon) => daemon.label === label);
    if (one === undefined) return isMoved ? 'moved' : 'gone';
    return one.isLoaded ? 'loaded' : 'there';
  });
}

/** The plist is always restored. The daemon runs again only if it ran before and values are restored. */
function daemonProperty(about: About, daemon: StoppedDaemon, facts: Facts, { restore }: UninstallWish): Property {
  const observed = daemonState(daemon, facts);
  const isFine = observed.kind === 'known' && observed.value !== 'moved';
  const desired = restore && daemon.wasLoaded ? 'loaded' : isFine ? observed.value : 'there';
  return {
    ...about,
    ...daemonAddress(daemon.label),
    desired: observed.kind === 'known' && observed.value === 'gone' ? 'gone' : desired,
    observed,
    from: knownWords(observed, (state) => (state === 'there' ? 'installed' : state)),
    to: desired === 'there' ? 'installed, disabled' : desired,
  };
}

const oneLine = (text: string): string => text.split('\n').join(', ');

function valueProperties(about: About, facts: Facts): readonly Property[] {
  const baseline = read(facts, baselineFact);
  if (baseline.kind === 'unknown') return [];
  return baseline.value.values.flatMap(({ key, text }): readonly Property[] => {
    const value = baselineValues.find((one) => one.key === key);
    if (text === undefined || value?.restore === undefined || value.now === undefined) return [];
    const observed = value.now(facts, text);
    const words = { from: knownWords(observed, oneLine), to: oneLine(text) };
    return [{ ...about, ...valueAddress(key), desired: text, observed, ...words }];
  });
}

function networkProperties(about: About, target: ObservedTarget, fleet: DesiredFleet): readonly Property[] {
  const baseline = read(target.facts, baselineFact);
  if (baseline.kind === 'unknown' || !hasNetworkBefore(baseline.value)) return [];
  const observed = mapKnown(networkDifference(target, baseline.value, isOwnAddress(fleet)), ({ words }) => words);
  return [
    {
      ...about,
      ...uninstallAddress.network,
      kind: 'change',
      desired: [],
      observed,
      from: knownWords(observed, orNone),
      to: 'as before the first change',
    },
  ];
}

const traceWords = ({ hasFolder, hasSudoers, hasKey }: Traces): readonly string[] => [
  ...(hasFolder ? ['folder'] : []),
  ...(hasSudoers ? ['line of sudoers'] : []),
  ...(hasKey ? ['key'] : []),
];

/** The properties of the baseline. Unknown values do not affect the others. */
function restored(about: About, target: ObservedTarget, fleet: DesiredFleet): readonly Property[] {
  return [...valueProperties(about, target.facts), ...networkProperties(about, target, fleet)];
}

/** Everything to remove or restore on one node, with the access last. */
export function uninstallProperties(
  fleet: DesiredFleet,
  target: ObservedTarget,
  wish: UninstallWish,
): readonly Property[] {
  const { desired, facts } = target;
  const about = { node: desired.name, reason };
  const baseline = read(facts, baselineFact);
  const traces = read(facts, tracesFact);
  const daemons = baseline.kind === 'known' ? baseline.value.daemons : [];
  const access: Known<Json> = baseline.kind === 'unknown' ? baseline : mapKnown(traces, traceWords);
  return [
    ...daemons.map((daemon) => daemonProperty(about, daemon, facts, wish)),
    ...(wish.restore ? restored(about, target, fleet) : []),
    emptied(about, uninstallAddress.services, otherServices(facts)),
    emptied(about, uninstallAddress.jobs, runningJobs(facts)),
    treesProperty(about, facts, wish),
    emptied(about, uninstallAddress.accounts, keptAccounts(facts)),
    {
      ...about,
      ...uninstallAddress.access,
      desired: [],
      observed: access,
      from: traces.kind === 'known' ? orNone(traceWords(traces.value)) : knownWords(traces, () => ''),
      to: 'gone',
    },
  ];
}

/** The properties of every node for gates. The observed values do not depend on what is desired. */
export const uninstallSights = (fleet: DesiredFleet, targets: readonly ObservedTarget[]): readonly Property[] =>
  targets.flatMap((target) => uninstallProperties(fleet, target, { nodes: [], restore: true, models: true }));

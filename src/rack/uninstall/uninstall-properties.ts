import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts, ObservedTree } from '../../model/facts/fact-values.ts';
import type { StoppedDaemon, Traces } from '../../model/facts/node-records.ts';
import { andThen, type Known, mapKnown, seenValue } from '../../model/known.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { rankServiceLabel } from '../../node/paths/own-paths.ts';
import { accountsFact } from '../accounts/fact.ts';
import { isOwnAddress } from '../addresses/resource.ts';
import { compared, knownWords } from '../compare-values.ts';
import { read, readValue } from '../fact.ts';
import { foreignDaemonsFact } from '../foreign-daemon/fact.ts';
import type { GoalOf } from '../goal.ts';
import { jobsFact } from '../records/jobs-fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import type { ObservedTarget, Property } from '../resource.ts';
import { baselineFact, baselineValues } from './baseline-setting.ts';
import { hasNetworkBefore, networkDifference } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';

type Extent = Pick<GoalOf<'uninstall'>, 'restore' | 'models'>;

const reason = 'uninstall';

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

function emptied(about: About, address: Addressed, observed: Known<readonly string[]>): Property {
  return { ...about, ...address, ...compared([], observed, orNone) };
}

/** Our services except the ranks, which are removed with their placements. */
export const otherServices = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, servicesFact), (all) =>
    all.map(({ label }) => label).filter((label) => !label.startsWith(rankServiceLabel(''))),
  );

const runningJobs = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, jobsFact), (all) =>
    all.filter(({ fields }) => fields['state'] === 'running').map(({ key }) => key.slice(0, 8)),
  );

/** Our accounts that still have files on the node. An account whose record macOS keeps has no files. */
export const remainingAccounts = (facts: Facts): Known<readonly string[]> =>
  mapKnown(read(facts, accountsFact), ({ made, begun }) =>
    [...new Set([...made.map(({ name }) => name), ...begun])].toSorted(),
  );

export const modelTrees = (trees: readonly ObservedTree[]): readonly ObservedTree[] =>
  trees.filter(({ kind, state }) => kind === 'model' && state !== 'staged');

const treeWords: Readonly<Record<Traces['trees'], string>> = {
  none: 'none',
  theirs: 'none of ours',
  models: 'models',
  some: 'runtimes, or remains of jobs',
};

function treesProperty(about: About, facts: Facts, { models }: Extent): Property {
  const trees = read(facts, treesFact);
  // Other people's files among the models are not removed.
  const left = mapKnown(read(facts, tracesFact), (seen) => (seen.trees === 'theirs' ? 'none' : seen.trees));
  const hasModels = modelTrees(seenValue(trees) ?? []).length > 0 || seenValue(left) === 'models';
  const desired = !models && hasModels ? 'models' : 'none';
  const observed = andThen(trees, () => left);
  return {
    ...about,
    ...uninstallAddress.trees,
    kind: 'remove',
    ...compared(desired, observed, (one) => treeWords[one], desired === 'models' ? 'models stay' : 'none'),
  };
}

function daemonState({ label, isMoved }: StoppedDaemon, facts: Facts): Known<'moved' | 'there' | 'loaded' | 'gone'> {
  return mapKnown(read(facts, foreignDaemonsFact), (all) => {
    const one = all.find((daemon) => daemon.label === label);
    if (one === undefined) return isMoved ? 'moved' : 'gone';
    return one.isLoaded ? 'loaded' : 'there';
  });
}

/** The plist is always restored. The daemon runs again only if it ran before and values are restored. */
function daemonProperty(about: About, daemon: StoppedDaemon, facts: Facts, { restore }: Extent): Property {
  const observed = daemonState(daemon, facts);
  const seen = seenValue(observed) ?? 'moved';
  const desired = restore && daemon.wasLoaded ? 'loaded' : seen === 'moved' ? 'there' : seen;
  return {
    ...about,
    ...daemonAddress(daemon.label),
    ...compared(
      seenValue(observed) === 'gone' ? 'gone' : desired,
      observed,
      (state) => (state === 'there' ? 'installed' : state),
      desired === 'there' ? 'installed, disabled' : desired,
    ),
  };
}

const oneLine = (text: string): string => text.split('\n').join(', ');

function valueProperties(about: About, facts: Facts): readonly Property[] {
  return (readValue(facts, baselineFact)?.values ?? []).flatMap(({ key, text }): readonly Property[] => {
    const value = baselineValues.find((one) => one.key === key);
    if (text === undefined || value?.restore === undefined || value.now === undefined) return [];
    const observed = value.now(facts, text);
    return [{ ...about, ...valueAddress(key), ...compared(text, observed, oneLine) }];
  });
}

function networkProperties(about: About, target: ObservedTarget, fleet: DesiredFleet): readonly Property[] {
  const baseline = readValue(target.facts, baselineFact);
  if (baseline === undefined || !hasNetworkBefore(baseline)) return [];
  const observed = mapKnown(networkDifference(target, baseline, isOwnAddress(fleet)), ({ words }) => words);
  return [
    {
      ...about,
      ...uninstallAddress.network,
      kind: 'change',
      ...compared([], observed, orNone, 'as before the first change'),
    },
  ];
}

const traceWords = ({ hasFolder, hasSudoers, hasKey }: Traces): readonly string[] => [
  ...(hasFolder ? ['folder'] : []),
  ...(hasSudoers ? ['sudoers line'] : []),
  ...(hasKey ? ['key'] : []),
];

/** Everything to remove or restore on one node, with the access last. */
export function uninstallProperties(fleet: DesiredFleet, target: ObservedTarget, extent: Extent): readonly Property[] {
  const { desired, facts } = target;
  const about = { node: desired.name, reason };
  const baseline = read(facts, baselineFact);
  const traces = read(facts, tracesFact);
  const daemons = seenValue(baseline)?.daemons ?? [];
  const access = andThen(baseline, () => mapKnown(traces, traceWords));
  return [
    ...daemons.map((daemon) => daemonProperty(about, daemon, facts, extent)),
    ...(extent.restore ? [...valueProperties(about, facts), ...networkProperties(about, target, fleet)] : []),
    emptied(about, uninstallAddress.services, otherServices(facts)),
    emptied(about, uninstallAddress.jobs, runningJobs(facts)),
    treesProperty(about, facts, extent),
    emptied(about, uninstallAddress.accounts, remainingAccounts(facts)),
    {
      ...about,
      ...uninstallAddress.access,
      desired: [],
      observed: access,
      from: knownWords(traces, (seen) => orNone(traceWords(seen))),
      to: 'gone',
    },
  ];
}

/** Every node's properties, for gates. The observed values do not depend on the desired values. */
export const uninstallReadings = (fleet: DesiredFleet, targets: readonly ObservedTarget[]): readonly Property[] =>
  targets.flatMap((target) => uninstallProperties(fleet, target, { restore: true, models: true }));

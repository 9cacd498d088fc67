import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { ownAccounts } from '../../model/account.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { seenValue } from '../../model/known.ts';
import { totalBytes } from '../../model/model-bytes.ts';
import type { ScriptCall } from '../../model/node-script.ts';
import type { Effect, Step } from '../../model/step.ts';
import { type Addressed, nodeSubject } from '../../model/subject.ts';
import { diskText } from '../../model/text/units.ts';
import { place } from '../../node/paths/node-paths.ts';
import { sudoFact } from '../access/fact.ts';
import { accountsFact } from '../accounts/fact.ts';
import { accountState } from '../accounts/reading.ts';
import { receptacleDevices } from '../addresses/reading.ts';
import { isOwnAddress } from '../addresses/resource.ts';
import { gateStep, type StepParts, scriptStep, transactionStep } from '../build-step.ts';
import { readValue } from '../fact.ts';
import { filevaultFact } from '../filevault/fact.ts';
import type { GoalOf } from '../goal.ts';
import { hasRdmaInSettings } from '../macos/reading.ts';
import { launchBudget } from '../rdma/launch-budget-reading.ts';
import { rdmaStateFact } from '../rdma/state-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import {
  judgeProperty,
  type ObservedTarget,
  type Property,
  perTarget,
  type Resource,
  type UnobservedDependency,
  type View,
} from '../resource.ts';
import { loginWindow } from '../settings/login-window.ts';
import { baselineFact } from './baseline-setting.ts';
import { networkDifference, servicesOfOtherMethods } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';
import {
  daemonAddress,
  modelTrees,
  otherServices,
  remainingAccounts,
  uninstallAddress,
  uninstallProperties,
  valueAddress,
} from './uninstall-properties.ts';

const kind = 'uninstall';

type UninstallGoal = GoalOf<'uninstall'>;

interface Node {
  readonly fleet: DesiredFleet;
  readonly target: ObservedTarget;
  readonly goal: UninstallGoal;
  readonly makes: readonly Property[];
}

const at = ({ makes }: Node, { address }: Addressed): Property | undefined =>
  makes.find((one) => one.address === address);

function scriptFor(
  node: Node,
  address: Addressed,
  callOf: (made: Property) => ScriptCall,
  rest: Omit<StepParts, 'name' | 'act' | 'class' | 'makes'>,
): readonly Step[] {
  const made = at(node, address);
  return made === undefined ? [] : [scriptStep({ name: made.address, call: callOf(made), makes: [made], ...rest })];
}

const daemonSteps = (node: Node): readonly Step[] =>
  (readValue(node.target.facts, baselineFact)?.daemons ?? []).flatMap(({ label }) =>
    scriptFor(
      node,
      daemonAddress(label),
      ({ desired }) => ({ name: 'return-daemon', args: { label, load: desired === 'loaded' } }),
      { effect: { kind: 'network' }, deadlineMs: 60_000 },
    ),
  );

function networkSteps(node: Node): readonly Step[] {
  const made = at(node, uninstallAddress.network);
  const baseline = readValue(node.target.facts, baselineFact);
  if (made === undefined || baseline === undefined) return [];
  const difference = networkDifference(node.target, baseline, isOwnAddress(node.fleet));
  if (difference.kind === 'unknown') return [];
  const call = { name: 'restore-network', args: difference.value.restoration } as const;
  return [transactionStep({ name: made.address, call, makes: [made], deadlineMs: 60_000 })];
}

const valueSteps = (node: Node): readonly Step[] =>
  (readValue(node.target.facts, baselineFact)?.values ?? []).flatMap(({ key }) =>
    scriptFor(node, valueAddress(key), () => ({ name: 'restore-value', args: { key } }), { deadlineMs: 30_000 }),
  );

function clearSteps(node: Node): readonly Step[] {
  const { services, jobs, trees } = uninstallAddress;
  const makes = [services, jobs, trees].flatMap((address) => at(node, address) ?? []);
  const labels = seenValue(otherServices(node.target.facts));
  if (makes.length === 0 || labels === undefined) return [];
  const { models } = node.goal;
  // A tree without a seal is also deleted, and its size is unknown.
  const unsized = readValue(node.target.facts, tracesFact)?.trees === 'models' ? 0 : undefined;
  const bytes = models ? (modelBytes(node.fleet, node.target) ?? unsized) : undefined;
  const effect: Effect = bytes === undefined ? { kind: 'none' } : { kind: 'delete', bytes };
  const call = { name: 'clear-node', args: { labels, models } } as const;
  return [scriptStep({ name: 'uninstall/clear', call, makes, effect, deadlineMs: 300_000 })];
}

function accountSteps(node: Node, needs: readonly Step[]): readonly Step[] {
  const names = seenValue(remainingAccounts(node.target.facts));
  const call = { name: 'remove-accounts', args: { names: names ?? [] } } as const;
  return names === undefined
    ? []
    : scriptFor(node, uninstallAddress.accounts, () => call, { needs, deadlineMs: 60_000 });
}

/** The access is removed only after everything else is observed to be gone: no later observation is possible. */
function nodeSteps(node: Node): readonly Step[] {
  const cleared = [...daemonSteps(node), ...networkSteps(node), ...valueSteps(node), ...clearSteps(node)];
  const done = [...cleared, ...accountSteps(node, cleared)];
  const access = at(node, uninstallAddress.access);
  const awaits = node.makes.filter((one) => one !== access);
  const seen =
    done.length === 0 ? [] : [...done, gateStep({ name: 'uninstall/gate', needs: done, awaits, deadlineMs: 60_000 })];
  if (access === undefined) return seen;
  const call = { name: 'withdraw-node', args: {} } as const;
  const step = scriptStep({
    name: 'uninstall/withdraw',
    call,
    makes: [access],
    needs: seen.slice(-1),
    deadlineMs: 60_000,
  });
  // A repeated attempt would find no lease.
  return [...seen, { ...step, class: 'once' }];
}

const isIncluded = ({ desired }: ObservedTarget, { nodes }: UninstallGoal): boolean => nodes.includes(desired.name);

const targetsOf = ({ targets }: View, goal: UninstallGoal): readonly ObservedTarget[] =>
  targets.filter((target) => isIncluded(target, goal));

/** If the interfaces of the receptacles are unknown, an address of ours may remain undetected. */
const unseenReceptacles = (
  { thunderbolt }: DesiredFleet,
  { desired, facts }: ObservedTarget,
): readonly UnobservedDependency[] => {
  const hasAddresses = thunderbolt.pool !== undefined || thunderbolt.formerNetworks.length > 0;
  return hasAddresses && receptacleDevices(facts).kind === 'unknown'
    ? [{ node: desired.name, resource: kind, text: 'which interface belongs to which receptacle' }]
    : [];
};

/** Everything that meshwright leaves on a node. Only the goal `uninstall` removes it, never a file. */
export const uninstall = (goal: UninstallGoal): Resource => ({
  kind,
  after: ['identity', 'sudo', 'placement', 'link-address', 'keeper'],
  ...perTarget(
    (fleet, target) => (isIncluded(target, goal) ? uninstallProperties(fleet, target, goal) : []),
    (fleet, target, makes) => nodeSteps({ fleet, target, goal, makes }),
  ),
  // While a part is unobserved, it is unknown whether everything is gone.
  unobserved: (view) =>
    targetsOf(view, goal).flatMap((target) => [
      ...unseenReceptacles(view.desired, target),
      ...uninstallProperties(view.desired, target, goal)
        .filter((one) => judgeProperty(one) === 'unknown')
        .map(({ node, address }): UnobservedDependency => ({ node, resource: kind, text: address })),
    ]),
  notices: (view) => uninstallNotices(view, targetsOf(view, goal), goal),
});

/** The size in bytes of the models that remain on a node, if the file has their sizes; undefined if none remain. */
function modelBytes({ models }: DesiredFleet, { facts }: ObservedTarget): number | undefined {
  const trees = modelTrees(readValue(facts, treesFact) ?? []);
  if (trees.length === 0) return undefined;
  return totalBytes(trees.flatMap(({ name }) => models.find((one) => one.name === name)?.files ?? []));
}

function modelWords(fleet: DesiredFleet, target: ObservedTarget, { models }: UninstallGoal): readonly string[] {
  const bytes = models ? undefined : modelBytes(fleet, target);
  const size = bytes === undefined || bytes === 0 ? '' : ` (${diskText(bytes)})`;
  return bytes === undefined ? [] : [`models${size} as plain files in ${place.opt.path}/models; --models deletes them`];
}

/** Values that differ from the baseline and that this run does not restore. */
function valueWords({ desired }: View, target: ObservedTarget, goal: UninstallGoal): readonly string[] {
  if (goal.restore) return [];
  const before = uninstallProperties(desired, target, { ...goal, restore: true });
  const differing = before
    .filter(({ about }) => about.part === 'value' || about.part === 'network')
    .filter((one) => judgeProperty(one) === 'differs')
    .map(({ about, from, to }) =>
      about.part === 'network' ? `network: ${from}` : `${about.name}: ${from} (before: ${to})`,
    );
  return differing.length === 0 ? [] : [`values: ${differing.join('; ')}; --restore restores them`];
}

/** Values that were not recorded, so they cannot be restored. */
function lostWords({ facts }: ObservedTarget, { restore }: UninstallGoal): readonly string[] {
  const baseline = readValue(facts, baselineFact);
  if (!restore || baseline === undefined) return [];
  const lost = baseline.values.filter(({ text }) => text === undefined).map(({ key }) => key);
  if (baseline.values.length === 0)
    return ['all values as they are now, because the previous values were never recorded'];
  const others = servicesOfOtherMethods({ facts }, baseline);
  return [
    ...(lost.length === 0 ? [] : [`values that could not be read before the first change: ${lost.join(', ')}`]),
    ...(others.length === 0
      ? []
      : [`services whose IPv4 was off or set by another method before, and no longer is: ${others.join(', ')}`]),
  ];
}

/** RDMA starts that occupy the devices until a restart, although `uninstall` removes their count. */
function takenWords({ facts }: ObservedTarget): readonly string[] {
  const budget = launchBudget(facts);
  // The kernel's list stays readable after an uninstall.
  if (budget.kind === 'unknown' || !budget.value.isCounted || budget.value.taken === 0) return [];
  const { taken, limit } = budget.value;
  return [`RDMA objects of ${taken} of ${limit} starts, no longer counted: restart this Mac before the next apply`];
}

function accessWords({ facts }: ObservedTarget): readonly string[] {
  const { hasKey = true, hasSudoers = true } = readValue(facts, tracesFact) ?? {};
  const hasRule = !hasSudoers && readValue(facts, sudoFact) === 'allowed';
  return [
    ...(hasKey ? [] : ['the key of this login, which enroll did not install']),
    ...(hasRule ? ['the rule that lets this login become root, which enroll did not install'] : []),
  ];
}

/** Our accounts that a person may have to delete, because macOS may not let any ssh session delete them. */
function accountWords(facts: Facts): readonly string[] {
  const accounts = readValue(facts, accountsFact);
  const own = ownAccounts.filter(
    (name) => accounts !== undefined && ['made', 'begun', 'left'].includes(accountState(name, accounts)),
  );
  const commands = own.flatMap((name) => ['Users', 'Groups'].map((kind) => `sudo dscl . -delete /${kind}/${name}`));
  return own.length === 0
    ? []
    : [
        `accounts, if macOS does not let an ssh session delete them (they then remain, without password, shell and files): ${commands.join(', ')}, in a Terminal with Full Disk Access`,
      ];
}

function handsWords({ facts }: ObservedTarget): readonly string[] {
  const filevault = readValue(facts, filevaultFact);
  return [
    ...(readValue(facts, rdmaStateFact) === 'enabled'
      ? [
          hasRdmaInSettings(facts)
            ? 'RDMA is enabled: System Settings > Privacy & Security > Developer Tools'
            : 'RDMA is enabled: type rdma_ctl disable in Terminal in Recovery',
        ]
      : []),
    ...(filevault === undefined ? [] : [`FileVault is ${filevault}: System Settings > Privacy & Security`]),
    ...(readValue(facts, loginWindow.fact)?.user === undefined
      ? []
      : ['automatic login is on: System Settings > Users & Groups']),
    ...accountWords(facts),
    'its cables',
  ];
}

const uninstallNotices = (view: View, targets: readonly ObservedTarget[], goal: UninstallGoal): readonly Diagnostic[] =>
  targets.flatMap((target) => {
    // If nothing of ours is left, there is nothing to report.
    if (uninstallProperties(view.desired, target, goal).every((one) => judgeProperty(one) === 'met')) return [];
    const subject = nodeSubject(target.desired.name);
    const stays = [
      ...modelWords(view.desired, target, goal),
      ...valueWords(view, target, goal),
      ...lostWords(target, goal),
      ...accessWords(target),
      ...takenWords(target),
    ];
    return [
      ...(stays.length === 0 ? [] : [diagnose('uninstall/stays', { subject, detail: `${stays.join('; ')}.` })]),
      diagnose('uninstall/by-hand', { subject, detail: `${handsWords(target).join('; ')}.` }),
    ];
  });

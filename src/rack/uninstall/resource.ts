import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { ownAccounts } from '../../model/account.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { Effect, Step } from '../../model/step.ts';
import { type Addressed, nodeSubject } from '../../model/subject.ts';
import { diskText } from '../../model/text/units.ts';
import { place } from '../../node/paths/node-paths.ts';
import { sudoFact } from '../access/fact.ts';
import { accountState } from '../accounts/account-state.ts';
import { accountsFact } from '../accounts/fact.ts';
import { receptacleDevices } from '../addresses/link-address-seen.ts';
import { isOwnAddress } from '../addresses/resource.ts';
import { gateStep, scriptStep, transactionStep } from '../build-step.ts';
import { read, readValue } from '../fact.ts';
import { filevaultFact } from '../filevault/fact.ts';
import { hasRdmaInSettings } from '../macos/macos.ts';
import { launchBudget } from '../rdma/launch-budget.ts';
import { rdmaStateFact } from '../rdma/state-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import {
  changedProperties,
  type Gap,
  judgeProperty,
  type ObservedTarget,
  type Property,
  patchesOf,
  type Resource,
  type View,
} from '../resource.ts';
import { loginWindow } from '../settings/login-window.ts';
import { baselineFact } from './baseline.ts';
import { networkDifference, servicesOfOtherMethods } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';
import {
  daemonAddress,
  keptAccounts,
  modelTrees,
  otherServices,
  type UninstallWish,
  uninstallAddress,
  uninstallProperties,
  valueAddress,
} from './uninstall-properties.ts';

const kind = 'uninstall';

interface Node {
  readonly view: View;
  readonly target: ObservedTarget;
  readonly wish: UninstallWish;
  /** The properties that change on it. */
  readonly makes: readonly Property[];
}

const at = ({ makes }: Node, { address }: Addressed): Property | undefined =>
  makes.find((one) => one.address === address);

function daemonSteps(node: Node): readonly Step[] {
  const baseline = read(node.target.facts, baselineFact);
  const daemons = baseline.kind === 'known' ? baseline.value.daemons : [];
  return daemons.flatMap(({ label }) => {
    const made = at(node, daemonAddress(label));
    if (made === undefined) return [];
    const call = { name: 'return-daemon', args: { label, load: made.desired === 'loaded' } } as const;
    const about = { node: made.node, resource: kind, name: made.address, effect: { kind: 'network' } } as const;
    return [scriptStep({ ...about, call, makes: [made], deadlineMs: 60_000 })];
  });
}

function networkSteps(node: Node): readonly Step[] {
  const made = at(node, uninstallAddress.network);
  const baseline = readValue(node.target.facts, baselineFact);
  if (made === undefined || baseline === undefined) return [];
  const difference = networkDifference(node.target, baseline, isOwnAddress(node.view.desired));
  if (difference.kind === 'unknown') return [];
  const call = { name: 'restore-network', args: difference.value.restoration } as const;
  return [
    transactionStep({ node: made.node, resource: kind, name: made.address, call, makes: [made], deadlineMs: 60_000 }),
  ];
}

function valueSteps(node: Node): readonly Step[] {
  const baseline = read(node.target.facts, baselineFact);
  const values = baseline.kind === 'known' ? baseline.value.values : [];
  return values.flatMap(({ key }) => {
    const made = at(node, valueAddress(key));
    if (made === undefined) return [];
    const call = { name: 'restore-value', args: { key } } as const;
    return [
      scriptStep({ node: made.node, resource: kind, name: made.address, call, makes: [made], deadlineMs: 30_000 }),
    ];
  });
}

function clearSteps(node: Node): readonly Step[] {
  const { services, jobs, trees } = uninstallAddress;
  const makes = [services, jobs, trees].flatMap((address) => at(node, address) ?? []);
  const [first] = makes;
  const labels = otherServices(node.target.facts);
  if (first === undefined || labels.kind === 'unknown') return [];
  const { models } = node.wish;
  const traces = read(node.target.facts, tracesFact);
  // A tree without a seal is also deleted, and its size is unknown.
  const unsized = traces.kind === 'known' && traces.value.trees === 'models' ? 0 : undefined;
  const bytes = models ? (modelBytes(node.view, node.target) ?? unsized) : undefined;
  const effect: Effect = bytes === undefined ? { kind: 'none' } : { kind: 'delete', bytes };
  const call = { name: 'clear-node', args: { labels: labels.value, models } } as const;
  return [
    scriptStep({ node: first.node, resource: kind, name: 'uninstall/clear', call, makes, effect, deadlineMs: 300_000 }),
  ];
}

function accountSteps(node: Node, needs: readonly Step[]): readonly Step[] {
  const made = at(node, uninstallAddress.accounts);
  const names = keptAccounts(node.target.facts);
  if (made === undefined || names.kind === 'unknown') return [];
  const call = { name: 'remove-accounts', args: { names: names.value } } as const;
  const about = { node: made.node, resource: kind, name: made.address, needs } as const;
  return [scriptStep({ ...about, call, makes: [made], deadlineMs: 60_000 })];
}

/** The access is removed only after everything else was observed to be gone, because no observation is possible later. */
function nodeSteps(node: Node): readonly Step[] {
  const cleared = [...daemonSteps(node), ...networkSteps(node), ...valueSteps(node), ...clearSteps(node)];
  const done = [...cleared, ...accountSteps(node, cleared)];
  const access = at(node, uninstallAddress.access);
  const { name } = node.target.desired;
  const others = node.makes.filter((one) => one !== access);
  const about = { node: name, resource: kind } as const;
  const expect = patchesOf(others);
  const gate = gateStep({ ...about, name: 'uninstall/gate', needs: done, expect, deadlineMs: 60_000 });
  const seen = done.length === 0 ? [] : [...done, gate];
  if (access === undefined) return seen;
  const call = { name: 'withdraw-node', args: {} } as const;
  const step = scriptStep({
    ...about,
    name: 'uninstall/withdraw',
    call,
    makes: [access],
    needs: seen.slice(-1),
    deadlineMs: 60_000,
  });
  // A repetition would find no lease.
  return [...seen, { ...step, class: 'once' }];
}

const targetsOf = ({ targets }: View, { nodes }: UninstallWish): readonly ObservedTarget[] =>
  targets.filter(({ desired: { name } }) => nodes.includes(name));

/** If the interfaces of the receptacles are unknown, an address of ours may stay undetected. */
const unseenReceptacles = ({ thunderbolt }: View['desired'], { desired, facts }: ObservedTarget): readonly Gap[] => {
  const hasAddresses = thunderbolt.pool !== undefined || thunderbolt.formerNetworks.length > 0;
  return hasAddresses && receptacleDevices(facts).kind === 'unknown'
    ? [{ node: desired.name, resource: kind, text: 'which interface belongs to which receptacle' }]
    : [];
};

/** Everything that meshwright leaves on a node. Only the goal `uninstall` removes it, never a file. */
export const uninstall = (wish: UninstallWish): Resource => ({
  kind,
  after: ['identity', 'sudo', 'placement', 'link-address', 'keeper'],
  properties: (view) => targetsOf(view, wish).flatMap((target) => uninstallProperties(view.desired, target, wish)),
  steps: (changes, view) => ({
    steps: targetsOf(view, wish).flatMap((target) => {
      const makes = changedProperties(changes, uninstallProperties(view.desired, target, wish));
      return makes.length === 0 ? [] : nodeSteps({ view, target, wish, makes });
    }),
  }),
  // As long as a part is unobserved, it is unknown whether everything is gone.
  gaps: (view) =>
    targetsOf(view, wish).flatMap((target) => [
      ...unseenReceptacles(view.desired, target),
      ...uninstallProperties(view.desired, target, wish)
        .filter((one) => judgeProperty(one) === 'unknown')
        .map(({ node, address }): Gap => ({ node, resource: kind, text: address })),
    ]),
  notices: (view) => uninstallNotices(view, targetsOf(view, wish), wish),
});

/** Bytes of the models that a node keeps, if the file gives their sizes; undefined if it keeps no model. */
function modelBytes({ desired }: View, { facts }: ObservedTarget): number | undefined {
  const trees = read(facts, treesFact);
  const kept = trees.kind === 'known' ? modelTrees(trees.value) : [];
  if (kept.length === 0) return undefined;
  const sizes = kept.map(({ name }) => desired.models.find((one) => one.name === name)?.files ?? []);
  return sizes.flat().reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function modelWords(view: View, target: ObservedTarget, { models }: UninstallWish): readonly string[] {
  const bytes = models ? undefined : modelBytes(view, target);
  const size = bytes === undefined || bytes === 0 ? '' : ` (${diskText(bytes)})`;
  return bytes === undefined ? [] : [`models${size} as plain files in ${place.opt.path}/models; --models deletes them`];
}

/** Values that differ from the baseline and that this run does not restore. */
function valueWords({ desired }: View, target: ObservedTarget, wish: UninstallWish): readonly string[] {
  if (wish.restore) return [];
  const before = uninstallProperties(desired, target, { ...wish, restore: true });
  const differing = before
    .filter(({ about }) => about.part === 'value' || about.part === 'network')
    .filter((one) => judgeProperty(one) === 'differs')
    .map(({ about, from, to }) =>
      about.part === 'network' ? `network: ${from}` : `${about.name}: ${from} (before: ${to})`,
    );
  return differing.length === 0 ? [] : [`values: ${differing.join('; ')}; --restore restores them`];
}

/** Values that were not recorded, so they cannot be restored. */
function lostWords({ facts }: ObservedTarget, { restore }: UninstallWish): readonly string[] {
  const baseline = read(facts, baselineFact);
  if (!restore || baseline.kind === 'unknown') return [];
  const lost = baseline.value.values.filter(({ text }) => text === undefined).map(({ key }) => key);
  if (baseline.value.values.length === 0)
    return ['all values as they are now, because the previous values were never recorded'];
  const others = servicesOfOtherMethods({ facts }, baseline.value);
  return [
    ...(lost.length === 0 ? [] : [`values that could not be read before the first change: ${lost.join(', ')}`]),
    ...(others.length === 0
      ? []
      : [`services whose IPv4 was off or set by another method before, and no longer is: ${others.join(', ')}`]),
  ];
}

/** RDMA starts that still occupy the devices until a restart, while `uninstall` removes their count. */
function takenWords({ facts }: ObservedTarget): readonly string[] {
  const budget = launchBudget(facts);
  // The kernel's list stays readable after an uninstall.
  if (budget.kind === 'unknown' || !budget.value.isCounted || budget.value.taken === 0) return [];
  const { taken, limit } = budget.value;
  return [`RDMA objects of ${taken} of ${limit} starts, no longer counted: restart this Mac before the next apply`];
}

/** Access that a person installed. */
const accessWords = ({ facts }: ObservedTarget): readonly string[] => {
  const traces = read(facts, tracesFact);
  const sudo = read(facts, sudoFact);
  return traces.kind === 'unknown'
    ? []
    : [
        ...(traces.value.hasKey ? [] : ['the key of this login, which enroll did not install']),
        ...(traces.value.hasSudoers || sudo.kind === 'unknown' || sudo.value !== 'allowed'
          ? []
          : ['the rule that lets this login become root, which enroll did not install']),
      ];
};

/** Our accounts that a person may have to delete, because macOS may let no ssh session delete them. */
function accountWords(facts: Facts): readonly string[] {
  const accounts = read(facts, accountsFact);
  const own =
    accounts.kind === 'known'
      ? ownAccounts.filter((name) => ['made', 'begun', 'left'].includes(accountState(name, accounts.value)))
      : [];
  const commands = own.flatMap((name) => ['Users', 'Groups'].map((kind) => `sudo dscl . -delete /${kind}/${name}`));
  return own.length === 0
    ? []
    : [
        `accounts, if macOS does not let an ssh session delete them (they then stay without password, shell and files): ${commands.join(', ')}, in a Terminal with Full Disk Access`,
      ];
}

function handsWords({ facts }: ObservedTarget): readonly string[] {
  const rdma = read(facts, rdmaStateFact);
  const filevault = read(facts, filevaultFact);
  const login = read(facts, loginWindow.fact);
  return [
    ...(rdma.kind === 'known' && rdma.value === 'enabled'
      ? [
          hasRdmaInSettings(facts)
            ? 'RDMA is enabled: System Settings > Privacy & Security > Developer Tools'
            : 'RDMA is enabled: type rdma_ctl disable in Terminal in Recovery',
        ]
      : []),
    ...(filevault.kind === 'known' ? [`FileVault is ${filevault.value}: System Settings > Privacy & Security`] : []),
    ...(login.kind === 'known' && login.value.user !== undefined
      ? ['automatic login is on: System Settings > Users & Groups']
      : []),
    ...accountWords(facts),
    'its cables',
  ];
}

/** What stays on each node, and what only a person can undo. */
const uninstallNotices = (view: View, targets: readonly ObservedTarget[], wish: UninstallWish): readonly Diagnostic[] =>
  targets.flatMap((target) => {
    // If nothing of ours is left, there is nothing to report.
    if (uninstallProperties(view.desired, target, wish).every((one) => judgeProperty(one) === 'met')) return [];
    const subject = nodeSubject(target.desired.name);
    const stays = [
      ...modelWords(view, target, wish),
      ...valueWords(view, target, wish),
      ...lostWords(target, wish),
      ...accessWords(target),
      ...takenWords(target),
    ];
    return [
      ...(stays.length === 0 ? [] : [diagnose('uninstall/stays', { subject, detail: `${stays.join('; ')}.` })]),
      diagnose('uninstall/by-hand', { subject, detail: `${handsWords(target).join('; ')}.` }),
    ];
  });

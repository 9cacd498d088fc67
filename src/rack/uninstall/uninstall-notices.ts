import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { ownAccounts } from '../../model/account.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { nodeSubject } from '../../model/subject.ts';
import { diskText } from '../../model/text/units.ts';
import { place } from '../../node/paths/node-paths.ts';
import { sudoFact } from '../access/fact.ts';
import { accountState } from '../accounts/account-state.ts';
import { accountsFact } from '../accounts/fact.ts';
import { read } from '../fact.ts';
import { filevaultFact } from '../filevault/fact.ts';
import { hasRdmaInSettings } from '../macos/macos.ts';
import { launchBudget } from '../rdma/launch-budget.ts';
import { rdmaStateFact } from '../rdma/state-fact.ts';
import { treesFact } from '../records/trees-fact.ts';
import { judgeProperty, type ObservedTarget, type View } from '../resource.ts';
import { loginWindow } from '../settings/login-window.ts';
import { baselineFact } from './baseline.ts';
import { servicesOfOtherMethods } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';
import { modelTrees, type UninstallWish, uninstallProperties } from './uninstall-properties.ts';

/** Bytes of the models that a node keeps, as far as the file says how large they are; undefined where it keeps none. */
export function modelBytes({ desired }: View, { facts }: ObservedTarget): number | undefined {
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

/** Values that are not as before, and that this run leaves so. */
function valueWords({ desired }: View, target: ObservedTarget, wish: UninstallWish): readonly string[] {
  if (wish.restore) return [];
  const before = uninstallProperties(desired, target, { ...wish, restore: true });
  const differing = before
    .filter(({ about }) => about.part === 'value' || about.part === 'network')
    .filter((one) => judgeProperty(one) === 'differs')
    .map(({ about, from, to }) =>
      about.part === 'network' ? `network: ${from}` : `${about.name}: ${from} (before: ${to})`,
    );
  return differing.length === 0 ? [] : [`values: ${differing.join('; ')}; --restore puts them back`];
}

/** What nobody wrote down, so that nothing can put it back. */
function lostWords({ facts }: ObservedTarget, { restore }: UninstallWish): readonly string[] {
  const baseline = read(facts, baselineFact);
  if (!restore || baseline.kind === 'unknown') return [];
  const lost = baseline.value.values.filter(({ text }) => text === undefined).map(({ key }) => key);
  if (baseline.value.values.length === 0) return ['every value as it is: what was there before was never written down'];
  const others = servicesOfOtherMethods({ facts }, baseline.value);
  return [
    ...(lost.length === 0 ? [] : [`what could not be read before the first change: ${lost.join(', ')}`]),
    ...(others.length === 0
      ? []
      : [`services that had their address neither by DHCP nor by hand, and have it no more: ${others.join(', ')}`]),
  ];
}

/** Starts that took something of the RDMA devices: it stays taken until a restart, and the count of it goes. */
function takenWords({ facts }: ObservedTarget): readonly string[] {
  const budget = launchBudget(facts);
  // The kernel's list stays readable after an uninstall.
  if (budget.kind === 'unknown' || !budget.value.isCounted || budget.value.taken === 0) return [];
  const { taken, limit } = budget.value;
  return [`what ${taken} of ${limit} starts over RDMA took, without its count: restart this Mac before the next apply`];
}

/** What a person put there. */
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

/** Accounts of ours, as far as a person has to delete them: macOS may let no ssh session do it. */
function accountWords(facts: Facts): readonly string[] {
  const accounts = read(facts, accountsFact);
  const own =
    accounts.kind === 'known'
      ? ownAccounts.filter((name) => ['made', 'begun', 'left'].includes(accountState(name, accounts.value)))
      : [];
  const commands = own.flatMap((name) => ['/Users', '/Groups'].map((kind) => `sudo dscl . -delete ${kind}/${name}`));
  return own.length === 0
    ? []
    : [
        `where macOS lets no ssh session delete accounts, they stay without password, shell and files: ${commands.join(', ')}, in a Terminal with Full Disk Access`,
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
            ? 'RDMA is enabled: System Settings, Privacy & Security, Developer Tools'
            : 'RDMA is enabled: in Recovery, in Terminal: rdma_ctl disable',
        ]
      : []),
    ...(filevault.kind === 'known' ? [`FileVault is ${filevault.value}: System Settings, Privacy & Security`] : []),
    ...(login.kind === 'known' && login.value.user !== undefined
      ? ['automatic login is on: System Settings, Users & Groups']
      : []),
    ...accountWords(facts),
    'its cables',
  ];
}

/** What stays on each node, and what only hands can undo. */
export const uninstallNotices = (
  view: View,
  targets: readonly ObservedTarget[],
  wish: UninstallWish,
): readonly Diagnostic[] =>
  targets.flatMap((target) => {
    // Where nothing of us is left, there is nothing to tell either.
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

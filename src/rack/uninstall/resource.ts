import type { Effect, Step } from '../../model/step.ts';
import type { Addressed } from '../../model/subject.ts';
import { receptacleDevices } from '../addresses/link-address-seen.ts';
import { isOwnAddress } from '../addresses/resource.ts';
import { gateStep, scriptStep, transactionStep } from '../build-step.ts';
import { read, readValue } from '../fact.ts';
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
import { baselineFact } from './baseline.ts';
import { networkDifference } from './network-before.ts';
import { tracesFact } from './traces-fact.ts';
import { modelBytes, uninstallNotices } from './uninstall-notices.ts';
import {
  daemonAddress,
  keptAccounts,
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
  /** The properties of it that change. */
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
  // A tree that no seal describes is deleted as well, and nobody knows how large it is.
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

/** The access goes when everything else was seen gone: nobody could look afterwards. */
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
  // Its repetition would find no lease.
  return [...seen, { ...step, class: 'once' }];
}

const targetsOf = ({ targets }: View, { nodes }: UninstallWish): readonly ObservedTarget[] =>
  targets.filter(({ desired: { name } }) => nodes.includes(name));

/** Where nobody knows which interface is at which receptacle, an address of ours could stay unseen. */
const unseenReceptacles = ({ thunderbolt }: View['desired'], { desired, facts }: ObservedTarget): readonly Gap[] => {
  const hasAddresses = thunderbolt.pool !== undefined || thunderbolt.formerNetworks.length > 0;
  return hasAddresses && receptacleDevices(facts).kind === 'unknown'
    ? [{ node: desired.name, resource: kind, text: 'which interface is at which receptacle' }]
    : [];
};

/** What meshwright leaves on a node, to be taken away; no file wishes for it. */
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
  // As long as anything of it cannot be seen, nobody can say that all of it is gone.
  gaps: (view) =>
    targetsOf(view, wish).flatMap((target) => [
      ...unseenReceptacles(view.desired, target),
      ...uninstallProperties(view.desired, target, wish)
        .filter((one) => judgeProperty(one) === 'unknown')
        .map(({ node, address }): Gap => ({ node, resource: kind, text: address })),
    ]),
  notices: (view) => uninstallNotices(view, targetsOf(view, wish), wish),
});

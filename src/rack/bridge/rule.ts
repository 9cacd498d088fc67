import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { LinkEnd } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import type { SeenCable } from '../cabling/judge-cabling.ts';
import { defineNodeRule, defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { Examination } from '../examination.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { thunderboltInterfaces } from '../network/interfaces-reading.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { isSafeServiceName } from '../network/services-reading.ts';
import { bridgePreferencesFact } from './fact.ts';
import { type BridgeLayer, type BridgeLayers, bridgeLayers, isBridged, isMarked, madeBridges } from './reading.ts';

const bridgeFacts = [interfacesFact, bridgePreferencesFact, networkServicesFact];

/** macOS makes bridges from bridge100 on for Internet Sharing and virtual machines. */
const wayOut = (bridge: string, receptacles: string): string =>
  /\d{3}$/.test(bridge)
    ? `stop sharing to ${receptacles} (System Settings > General > Sharing > Internet Sharing), or the virtual machine that uses it.`
    : `remove ${receptacles} from ${bridge} in System Settings > Network > Manage Virtual Interfaces, but keep the bridge.`;

/**
 * Bridges with receptacles that are not macOS's own. Such a bridge may carry a network, so no command deletes it: a person
 * removes the receptacle from it, and the bridge stays.
 */
export const madeBridgesRule = defineNodeRule(
  {
    'bridge/receptacle-bridged': {
      summary: 'A Thunderbolt receptacle is in a bridge that meshwright does not remove.',
      cause:
        'macOS did not create this bridge from the Thunderbolt receptacles, or the bridge was changed later. A person or Internet Sharing created it, or it joins a receptacle to something else, such as Ethernet. The bridge may be in use, so do not delete it. A receptacle in a bridge cannot use RDMA, and its cables can create a network loop.',
      hint: 'Remove the receptacle from the bridge in System Settings > Network > Manage Virtual Interfaces.',
      role: { blocks: 'thunderbolt-bridge' },
      facts: bridgeFacts,
    },
  },
  ({ name, facts }, { desired }) =>
    desired.thunderbolt.bridge === 'keep'
      ? []
      : madeBridges(bridgeLayers(desired, facts)).map(({ name: bridge, members, receptacles, addresses }) => {
          const inside = [members.join(' '), ...addresses].join(', ');
          return {
            code: 'bridge/receptacle-bridged',
            detail: isMarked(facts, bridge)
              ? `The bridge of macOS has a Thunderbolt receptacle and a member that is not a receptacle: ${bridge} (${inside}).`
              : `A Thunderbolt receptacle is in a bridge that macOS does not mark as its own: ${bridge} (${inside}).`,
            hint: prose`On ${named(name)}, ${escapeText(wayOut(bridge, receptacles.join(' and ')))}`,
          };
        }),
);

function isBridgedEnd({ nodes }: Examination, end: LinkEnd): boolean {
  const facts = nodes.find((node) => node.name === end.node)?.facts;
  const name = thunderboltInterfaces(facts)?.get(end.receptacle);
  return facts !== undefined && name !== undefined && isBridged(facts, name);
}

/** The cables that close a ring: their ends are already connected when the cables are added one by one. */
function closingCables(cables: readonly SeenCable[]): readonly SeenCable[] {
  const groupByNode = new Map<string, Set<string>>();
  const closing: SeenCable[] = [];
  for (const cable of cables) {
    const [a, b] = cable.ends.map(({ node }) => groupByNode.get(node) ?? new Set([node]));
    if (a === undefined || b === undefined || a === b || cable.ends[0].node === cable.ends[1].node) {
      closing.push(cable);
      continue;
    }
    const joined = new Set([...a, ...b]);
    for (const node of joined) groupByNode.set(node, joined);
  }
  return closing;
}

/** Rings of bridged Macs, including two cables between the same two Macs, whatever the file's `bridge` key is. */
export const bridgeLoop = defineRule(
  {
    'bridge/loop': {
      traits: ['hands', 'urgent'],
      summary: 'Bridged Macs are cabled in a ring.',
      cause:
        'Frames circle forever in a ring of Thunderbolt Bridges and take down the office network (dnet issue 69: 80,000 packets per second; exo issues 525 and 1222).',
      hint: 'Unplug one cable in the ring now; plug it in again after the bridges are removed.',
      role: { blocks: 'thunderbolt-link', when: 'bridge-stays-else-reported' },
      facts: bridgeFacts,
    },
  },
  (examination) => {
    const bridged = examination.cabling.cables.filter((cable) =>
      cable.ends.every((end) => isBridgedEnd(examination, end)),
    );
    return closingCables(bridged).map(({ ends }) => ({
      code: 'bridge/loop',
      subject: linkSubject(ends),
      detail: 'This cable closes a ring of bridged Macs: frames circle in it and can take down the office network.',
      hint: 'Unplug this cable now; plug it in again after the bridges are removed.',
    }));
  },
);

const codes = {
  'bridge/active': {
    summary: 'The Thunderbolt Bridge is active.',
    cause:
      'A bridged receptacle has no address of its own, so its RDMA device lacks the GID that MLX needs. Spanning tree does not run, so bridged Macs in a ring loop frames until the network is down (Apple TN3205, exo issues 1222 and 1261). Disabling the service leaves the interface up (seen on Mac16,11), so meshwright checks three layers: interface, preferences, service.',
    hint: 'Run `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist`, then restart the Mac.',
    role: { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
    facts: bridgeFacts,
  },
  'bridge/comes-back': {
    summary: 'The Thunderbolt Bridge is gone for now but will come back.',
    cause:
      'The interface is gone, but the network preferences or an enabled service still have the bridge. macOS rebuilds it at the next boot or hot-plug.',
    hint: 'Run `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist`',
    role: { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
    facts: bridgeFacts,
  },
  'bridge/perhaps-active': {
    severity: 'warning',
    summary: 'The Thunderbolt Bridge is configured; whether it is active is unknown.',
    cause:
      'The network preferences or an enabled service have the bridge, but the output of `ifconfig` is unknown. The bridge may be up now, and would come back in any case.',
    hint: 'Check the interfaces of this node first, then remove the bridge wherever it remains.',
    facts: bridgeFacts,
  },
} satisfies RuleCodes;

const layerNames: Readonly<Record<BridgeLayer, string>> = {
  interface: 'interface',
  preferences: 'network preferences',
  service: 'enabled service',
};

function layerWords({ active }: BridgeLayers, layer: BridgeLayer): string {
  const own = active.filter(({ maker }) => maker === 'own');
  const bridges = own.map(({ name, members }) => `${name} (${members.join(' ')})`);
  return layer === 'interface' ? `interface ${bridges.join(', ')}` : layerNames[layer];
}

const checkCommands: Readonly<Record<BridgeLayer, string>> = {
  interface: 'ifconfig -a',
  preferences:
    'plutil -extract VirtualNetworkInterfaces.Bridge json -o - /Library/Preferences/SystemConfiguration/preferences.plist',
  service: 'networksetup -listnetworkserviceorder',
};

const isBridgeName = (name: string): boolean => /^bridge\d{1,4}$/.test(name);

const deletePreference = (bridge: string): string =>
  `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:${bridge}" /Library/Preferences/SystemConfiguration/preferences.plist`;

function removal({ preferred, services }: BridgeLayers) {
  const bridges = preferred.filter(({ maker }) => maker === 'own').map(({ name }) => name);
  const names = services.map(({ name }) => name);
  return {
    commands: [
      ...names.filter(isSafeServiceName).map((name) => `sudo networksetup -setnetworkserviceenabled "${name}" off`),
      ...new Set(bridges.filter(isBridgeName).map(deletePreference)),
    ],
    // True if a bridge or service on the node has an unsafe name, which must not get into a root command.
    isBySettings: !bridges.every(isBridgeName) || !names.every(isSafeServiceName),
  };
}

/** Unobserved layers come first. Otherwise a restart, or a partial removal, brings the bridge back. */
function cure(node: string, layers: BridgeLayers, isRemoved: boolean): Prose {
  const { commands, isBySettings } = removal(layers);
  const isObserved = layers.unknown.length === 0;
  const checks = layers.unknown.map((layer) => checkCommands[layer]);
  const isUp = layers.present.includes('interface');
  const byHand = isRemoved
    ? prose`Remove it with ${meshwright('apply')}, or on ${named(node)}`
    : prose`On ${named(node)}`;
  const remove = isObserved ? byHand : 'Then remove the known parts';
  const isAlone = commands.length === 0 && !isBySettings && isObserved;
  const restart = isAlone ? prose`Restart ${named(node)}.` : 'Then restart the Mac.';
  const perhaps = layers.unknown.includes('interface') ? ['If the bridge was up, then restart the Mac.'] : [];
  const last = isUp ? [restart] : perhaps;
  const bySettings = prose`On ${named(node)}, remove the Thunderbolt Bridge in System Settings > Network > Manage Virtual Interfaces.`;
  const parts: readonly Prose[] = [
    ...(isObserved ? [] : [withCommands(prose`On ${named(node)}, first check what meshwright could not read`, checks)]),
    ...(isObserved || commands.length > 0 ? [] : ['Remove the bridge wherever the output names it.']),
    ...(commands.length === 0 ? [] : [withCommands(remove, commands)]),
    ...(isBySettings ? [bySettings] : []),
    ...last,
    ...(isRemoved ? [] : ['Or set `bridge: remove` in the file to let apply remove it.']),
  ];
  return joinProse(parts, '\n');
}

function tell(layers: BridgeLayers): Pick<Finding<keyof typeof codes>, 'code'> & { readonly detail: string } {
  const where = layers.present.map((layer) => layerWords(layers, layer)).join(', ');
  if (layers.present.includes('interface')) {
    return { code: 'bridge/active', detail: `The Thunderbolt Bridge is active: ${where}.` };
  }
  return layers.unknown.includes('interface')
    ? {
        code: 'bridge/perhaps-active',
        detail: `The Thunderbolt Bridge is present in ${where}; whether it is active is unknown.`,
      }
    : { code: 'bridge/comes-back', detail: `The Thunderbolt Bridge is gone for now but will come back: ${where}.` };
}

export const bridge = defineNodeRule(codes, ({ name, facts }, { desired }) => {
  const layers = bridgeLayers(desired, facts);
  if (desired.thunderbolt.bridge === 'keep' || adoptedDaemon(desired, facts) !== undefined) return [];
  if (layers.present.length === 0) return [];
  const { code, detail } = tell(layers);
  return { code, detail: escapeText(detail), hint: cure(name, layers, desired.thunderbolt.bridge === 'remove') };
});

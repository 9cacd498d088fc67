import { escapeText } from '../../diagnostics/escape.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import type { LinkEnd } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { joinProse, named, type Prose, prose } from '../../model/text/prose.ts';
import type { SeenCable } from '../cabling/judge-cabling.ts';
import { defineNodeRule, defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { Examination } from '../examination.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { isSafeServiceName } from '../network/services.ts';
import { networkServicesFact } from '../network/services-fact.ts';
import { thunderboltInterfaces } from '../network/thunderbolt-interfaces.ts';
import { type BridgeLayer, type BridgeLayers, bridgeLayers, isBridged, isMarked, madeBridges } from './bridges.ts';
import { bridgePreferencesFact } from './fact.ts';

/** From bridge100 on macOS makes them for Internet Sharing and virtual machines. */
const wayOut = (bridge: string, receptacles: string): string =>
  /\d{3}$/.test(bridge)
    ? `end the sharing to ${receptacles} (System Settings > General > Sharing > Internet Sharing), or the virtual machine on it.`
    : `take ${receptacles} out of ${bridge} in System Settings > Network > Manage Virtual Interfaces, and keep the bridge.`;

/**
 * Bridges with receptacles that are not macOS's own. A network may hang on such a bridge, so no command deletes it: the
 * receptacle is taken out, and the bridge stays.
 */
export const madeBridgesRule = defineNodeRule(
  {
    'bridge/receptacle-bridged': {
      severity: 'error',
      summary: 'A Thunderbolt receptacle is in a bridge that meshwright does not remove.',
      cause:
        'The bridge is not the one that macOS makes of its receptacles by itself, or no longer: it joins one with something else, such as Ethernet, a person made it, or Internet Sharing did. A network may hang on it, so it is not to be deleted; the receptacle in it can do no RDMA, and its cables can close a ring.',
      hint: 'Take the receptacle out of the bridge in System Settings > Network > Manage Virtual Interfaces.',
      role: { blocks: 'thunderbolt-bridge' },
      facts: [interfacesFact, bridgePreferencesFact, networkServicesFact],
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
              ? `The bridge of macOS has a Thunderbolt receptacle and a member that is no receptacle: ${bridge} (${inside}).`
              : `A Thunderbolt receptacle is in a bridge that macOS does not mark as its own: ${bridge} (${inside}).`,
            hint: prose`On ${named(name)}, ${escapeText(wayOut(bridge, receptacles.join(' and ')))}`,
          };
        }),
);

function isBridgedEnd({ nodes }: Examination, end: LinkEnd): boolean {
  const facts = nodes.find((node) => node.name === end.node)?.facts;
  const name = facts === undefined ? undefined : thunderboltInterfaces(facts)?.get(end.receptacle);
  return facts !== undefined && name !== undefined && isBridged(facts, name);
}

/** The cables that close a ring: those whose ends hang together already when they are added one by one. */
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

/** Rings of bridged Macs, also two cables between the same two: whatever the file says of bridges, frames circle there. */
export const bridgeLoop = defineRule(
  {
    'bridge/loop': {
      severity: 'error',
      summary: 'Bridged Macs are cabled in a ring.',
      cause:
        'Frames circle for ever in a ring of Thunderbolt Bridges and take the office network down (dnet issue 69: 80,000 packets a second; exo issues 525, 1222).',
      hint: 'Take out one cable of the ring now; put it back when the bridges are removed.',
      hands: true,
      role: { blocks: 'thunderbolt-link', when: 'bridge-stays-else-told' },
      facts: [interfacesFact, bridgePreferencesFact, networkServicesFact],
    },
  },
  (examination) => {
    const bridged = examination.cabling.cables.filter((cable) =>
      cable.ends.every((end) => isBridgedEnd(examination, end)),
    );
    return closingCables(bridged).map(({ ends }) => ({
      code: 'bridge/loop',
      subject: linkSubject(ends),
      detail: 'This cable closes a ring of bridged Macs: frames circle in it and can take the office network down.',
      hint: 'Take this cable out now; put it back when the bridges are removed.',
    }));
  },
);

const codes = {
  'bridge/active': {
    severity: 'error',
    summary: 'The Thunderbolt Bridge is active.',
    cause:
      'A bridged receptacle has no address of its own, so its RDMA device lacks the GID that MLX needs, and since spanning tree does not run, bridged Macs in a ring loop frames until the network is down (Apple TN3205, exo issues 1222 and 1261). Switching the service off leaves the interface up (seen on Mac16,11), so three layers are looked at: interface, preferences, service.',
    hint: 'sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist; then restart it.',
    role: { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
    facts: [interfacesFact, bridgePreferencesFact, networkServicesFact],
  },
  'bridge/comes-back': {
    severity: 'error',
    summary: 'The Thunderbolt Bridge is gone for now and will come back.',
    cause:
      'The interface is gone, but the network preferences or an enabled service still have it: macOS rebuilds it at the next boot or hot-plug.',
    hint: 'sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:bridge0" /Library/Preferences/SystemConfiguration/preferences.plist',
    role: { blocks: 'thunderbolt-bridge', when: 'bridge-stays' },
    facts: [interfacesFact, bridgePreferencesFact, networkServicesFact],
  },
  'bridge/perhaps-active': {
    severity: 'warning',
    summary: 'The Thunderbolt Bridge is configured, and nobody could see whether it is active.',
    cause:
      'The network preferences or an enabled service have it, and what `ifconfig` says is unknown: it may be up now, and would come back anyway.',
    hint: 'Look at the interfaces of this node first; then remove the bridge wherever it still is.',
    role: 'told',
    facts: [interfacesFact, bridgePreferencesFact, networkServicesFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

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

/** How a person looks at a layer of which nothing is known. */
const lookUps: Readonly<Record<BridgeLayer, string>> = {
  interface: 'ifconfig -a',
  preferences:
    'plutil -extract VirtualNetworkInterfaces.Bridge json -o - /Library/Preferences/SystemConfiguration/preferences.plist',
  service: 'networksetup -listnetworkserviceorder',
};

const isBridgeName = (name: string): boolean => /^bridge\d{1,4}$/.test(name);

const deletePreference = (bridge: string): string =>
  `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:${bridge}" /Library/Preferences/SystemConfiguration/preferences.plist`;

interface Removal {
  readonly commands: readonly string[];
  /** Whether something has a name that a node made up: it comes into no root command. */
  readonly isBySettings: boolean;
}

function removal({ preferred, services }: BridgeLayers): Removal {
  const bridges = preferred.filter(({ maker }) => maker === 'own').map(({ name }) => name);
  const names = services.map(({ name }) => name);
  return {
    commands: [
      ...names.filter(isSafeServiceName).map((name) => `sudo networksetup -setnetworkserviceenabled "${name}" off`),
      ...new Set(bridges.filter(isBridgeName).map(deletePreference)),
    ],
    isBySettings: !bridges.every(isBridgeName) || !names.every(isSafeServiceName),
  };
}

/** What nobody could see comes first: a restart, or half of the removal, brings the bridge back. */
function cure(node: string, layers: BridgeLayers, isRemoved: boolean): Prose {
  const { commands, isBySettings } = removal(layers);
  const isLookedAt = layers.unknown.length === 0;
  const looks = layers.unknown.map((layer) => lookUps[layer]);
  const isUp = layers.present.includes('interface');
  const byHand = isRemoved
    ? prose`Remove it with ${meshwright('apply')}, or on ${named(node)}`
    : prose`On ${named(node)}`;
  const remove = isLookedAt ? byHand : 'Then remove what is known of it';
  const isAlone = commands.length === 0 && !isBySettings && isLookedAt;
  const restart = isAlone ? prose`Restart ${named(node)}.` : 'Then restart it.';
  const perhaps = layers.unknown.includes('interface') ? ['Then restart it if the bridge was up.'] : [];
  const last = isUp ? [restart] : perhaps;
  const parts: readonly Prose[] = [
    ...(isLookedAt ? [] : [withCommands(prose`On ${named(node)}, look first at what could not be seen`, looks)]),
    ...(isLookedAt || commands.length > 0 ? [] : ['Remove the bridge wherever it is named there.']),
    ...(commands.length === 0 ? [] : [withCommands(remove, commands)]),
    ...(isBySettings
      ? [
          prose`On ${named(node)}, remove the Thunderbolt Bridge in System Settings > Network > Manage Virtual Interfaces.`,
        ]
      : []),
    ...last,
    ...(isRemoved ? [] : ['Or let apply remove it: bridge: remove, in the file.']),
  ];
  return joinProse(parts, '\n');
}

function tell(layers: BridgeLayers): Pick<Found, 'code'> & { readonly detail: string } {
  const where = layers.present.map((layer) => layerWords(layers, layer)).join(', ');
  if (layers.present.includes('interface')) {
    return { code: 'bridge/active', detail: `The Thunderbolt Bridge is active: ${where}.` };
  }
  return layers.unknown.includes('interface')
    ? {
        code: 'bridge/perhaps-active',
        detail: `The Thunderbolt Bridge is present in ${where}; whether it is active is unknown.`,
      }
    : { code: 'bridge/comes-back', detail: `The Thunderbolt Bridge is gone for now and will come back: ${where}.` };
}

/** The Thunderbolt Bridge, unless the file keeps it: in each of the three layers where it still is. */
export const bridge = defineNodeRule(codes, ({ name, facts }, { desired }) => {
  const layers = bridgeLayers(desired, facts);
  if (desired.thunderbolt.bridge === 'keep' || adoptedDaemon(desired, facts) !== undefined) return [];
  if (layers.present.length === 0) return [];
  const { code, detail } = tell(layers);
  return { code, detail: escapeText(detail), hint: cure(name, layers, desired.thunderbolt.bridge === 'remove') };
});

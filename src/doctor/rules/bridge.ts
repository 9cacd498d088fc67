import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type BridgeLayer, type BridgeLayers, bridgeLayers } from '../bridge-layers.ts';
import type { ExaminedNode } from '../examination.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

function layerWords(layers: BridgeLayers, layer: BridgeLayer): string {
  switch (layer) {
    case 'interface': {
      const bridges = [...layers.membersByBridge].map(([name, members]) => `${name} (${members.join(' ')})`);
      return `interface ${bridges.join(', ')}`;
    }
    case 'preferences':
      return 'network preferences';
    case 'service':
      return 'enabled service';
  }
}

const bySettings = 'remove the Thunderbolt Bridge in System Settings > Network > Manage Virtual Interfaces';

/** What a person types. A name that is none of macOS's own is a node's invention and comes into no root command. */
const deletePreference = (bridge: string): string =>
  /^bridge\d{1,4}$/.test(bridge)
    ? `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:${bridge}" /Library/Preferences/SystemConfiguration/preferences.plist`
    : bySettings;

function cure({ present, preferredBridges }: BridgeLayers): string {
  const steps = [
    ...(present.includes('service') ? ['sudo networksetup -setnetworkserviceenabled "Thunderbolt Bridge" off'] : []),
    ...new Set(preferredBridges.map(deletePreference)),
    ...(present.includes('interface') ? ['restart it'] : []),
  ];
  return steps.join(', then ');
}

function judge({ name, facts }: ExaminedNode): readonly Diagnostic[] {
  const layers = bridgeLayers(facts);
  if (layers.present.length === 0) {
    return [];
  }
  const where = layers.present.map((layer) => layerWords(layers, layer)).join(', ');
  const isActive = layers.present.includes('interface');
  return [
    diagnose(isActive ? 'bridge/active' : 'bridge/comes-back', {
      subject: nodeSubject(name),
      detail: isActive
        ? `The Thunderbolt Bridge is active: ${where}.`
        : `The Thunderbolt Bridge is gone for now and will come back: ${where}.`,
      hint: `On ${name}: ${cure(layers)}`,
    }),
  ];
}

/** The Thunderbolt Bridge, when the file wants it removed: in each of the three layers where it still is. */
export const bridge: Rule = ({ desired, nodes }) =>
  desired.thunderbolt.bridge === 'remove' ? nodes.flatMap(judge) : [];

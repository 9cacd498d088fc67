import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type BridgeLayer, type BridgeLayers, bridgeLayers } from '../bridge-layers.ts';
import type { ExaminedNode } from '../examination.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

const preferencesFile = '/Library/Preferences/SystemConfiguration/preferences.plist';

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

function cure(layers: BridgeLayers, facts: ExaminedNode['facts']): string {
  const preferences = facts['bridge-preferences'];
  const [bridge] = preferences.kind === 'known' ? preferences.value : [];
  const steps = [
    ...(layers.present.includes('service')
      ? ['sudo networksetup -setnetworkserviceenabled "Thunderbolt Bridge" off']
      : []),
    ...(layers.present.includes('preferences')
      ? [
          `sudo /usr/libexec/PlistBuddy -c "Delete :VirtualNetworkInterfaces:Bridge:${bridge?.name ?? 'bridge0'}" ${preferencesFile}`,
        ]
      : []),
    ...(layers.present.includes('interface') ? ['restart it'] : []),
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
      hint: `On ${name}: ${cure(layers, facts)}`,
    }),
  ];
}

/** The Thunderbolt Bridge, when the file wants it removed: in each of the three layers where it still is. */
export const bridge: Rule = ({ desired, nodes }) =>
  desired.thunderbolt.bridge === 'remove' ? nodes.flatMap(judge) : [];

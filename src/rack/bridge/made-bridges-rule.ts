import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { networkServicesFact } from '../network/network-services-fact.ts';
import { bridgeLayers, madeBridges } from './bridge-layers.ts';
import { isMarked } from './bridges.ts';
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
export const madeBridgesRule = defineRule(
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
  ({ desired, nodes }, codes) =>
    desired.thunderbolt.bridge === 'keep'
      ? []
      : nodes.flatMap(({ name, facts }) =>
          madeBridges(bridgeLayers(desired, facts)).map(({ name: bridge, members, receptacles, addresses }) => {
            const inside = [members.join(' '), ...addresses].join(', ');
            return diagnose(codes['bridge/receptacle-bridged'], {
              subject: nodeSubject(name),
              detail: isMarked(facts, bridge)
                ? `The bridge of macOS has a Thunderbolt receptacle and a member that is no receptacle: ${bridge} (${inside}).`
                : `A Thunderbolt receptacle is in a bridge that macOS does not mark as its own: ${bridge} (${inside}).`,
              hint: prose`On ${named(name)}, ${escapeText(wayOut(bridge, receptacles.join(' and ')))}`,
            });
          }),
        ),
);

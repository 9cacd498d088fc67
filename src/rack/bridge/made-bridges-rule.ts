import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { Rule } from '../rule.ts';
import { bridgeLayers, madeBridges } from './bridge-layers.ts';
import { isMarked } from './bridges.ts';

/** From bridge100 on macOS makes them for Internet Sharing and virtual machines. */
const wayOut = (bridge: string, receptacles: string): string =>
  /\d{3}$/.test(bridge)
    ? `end the sharing to ${receptacles} (System Settings > General > Sharing > Internet Sharing), or the virtual machine on it.`
    : `take ${receptacles} out of ${bridge} in System Settings > Network > Manage Virtual Interfaces, and keep the bridge.`;

/**
 * Bridges with receptacles that are not macOS's own. A network may hang on such a bridge, so no command deletes it: the
 * receptacle is taken out, and the bridge stays.
 */
export const madeBridgesRule: Rule = ({ desired, nodes }) =>
  desired.thunderbolt.bridge === 'keep'
    ? []
    : nodes.flatMap(({ name, facts }) =>
        madeBridges(bridgeLayers(desired, facts)).map(({ name: bridge, members, receptacles, addresses }) => {
          const inside = [members.join(' '), ...addresses].join(', ');
          return diagnose('bridge/receptacle-bridged', {
            subject: nodeSubject(name),
            detail: isMarked(facts, bridge)
              ? `The bridge of macOS has a Thunderbolt receptacle and a member that is no receptacle: ${bridge} (${inside}).`
              : `A Thunderbolt receptacle is in a bridge that macOS does not mark as its own: ${bridge} (${inside}).`,
            hint: prose`On ${named(name)}, ${escapeText(wayOut(bridge, receptacles.join(' and ')))}`,
          });
        }),
      );

import { diagnose } from '../../diagnostics/diagnose.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { bridgeLayers, madeBridges } from '../bridge-layers.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

/**
 * Bridges that a person made and that join receptacles with something else. A network may hang on such a bridge, so
 * no command deletes it: the receptacle is taken out, and the bridge stays.
 */
export const madeBridgesRule: Rule = ({ desired, nodes }) =>
  desired.thunderbolt.bridge === 'keep'
    ? []
    : nodes.flatMap(({ name, facts }) =>
        madeBridges(bridgeLayers(desired, facts)).map(({ name: bridge, members, receptacles, addresses }) => {
          const inside = [members.join(' '), ...addresses].join(', ');
          const out = `take ${receptacles.join(' and ')} out of ${bridge}`;
          return diagnose('bridge/receptacle-bridged', {
            subject: nodeSubject(name),
            detail: `A bridge that somebody made has a Thunderbolt receptacle in it: ${bridge} (${inside}).`,
            hint: escapeText(
              `On ${name}, ${out} in System Settings > Network > Manage Virtual Interfaces, and keep the bridge.`,
            ),
          });
        }),
      );

import { diagnose } from '../../diagnostics/diagnose.ts';
import type { LinkEnd } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import type { SeenCable } from '../cabling/judge-cabling.ts';
import { defineRule } from '../define-rule.ts';
import type { Examination } from '../examination.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { networkServicesFact } from '../network/network-services-fact.ts';
import { thunderboltInterfaces } from '../network/thunderbolt-interfaces.ts';
import { isBridged } from './bridge-layers.ts';
import { bridgePreferencesFact } from './fact.ts';

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
    for (const node of joined) {
      groupByNode.set(node, joined);
    }
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
  (examination, codes) => {
    const bridged = examination.cabling.cables.filter((cable) =>
      cable.ends.every((end) => isBridgedEnd(examination, end)),
    );
    return closingCables(bridged).map(({ ends }) =>
      diagnose(codes['bridge/loop'], {
        subject: linkSubject(ends),
        detail: 'This cable closes a ring of bridged Macs: frames circle in it and can take the office network down.',
        hint: 'Take this cable out now; put it back when the bridges are removed.',
      }),
    );
  },
);

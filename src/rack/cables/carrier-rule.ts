import { linkSubject } from '../../model/subject.ts';
import { namedEnd, prose } from '../../model/text/prose.ts';
import { endWords } from '../cabling/cabling-text.ts';
import { linkAt } from '../cabling/judge-cabling.ts';
import { defineNodeRule } from '../define-rule.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { interfaceAt, strayCarrier } from '../network/interfaces-reading.ts';
import { afterBridges } from './bridges-reading.ts';
import { thunderboltFact } from './fact.ts';

/** Cables whose carrier is on the interface of another receptacle, so that the address of the link has none. */
export const carriers = defineNodeRule(
  {
    'address/no-carrier': {
      traits: ['hands', 'wrong-port'],
      summary: 'The interface of a cable has no carrier; another interface has it.',
      cause:
        'Thunderbolt sees the far Mac, but `ifconfig` shows `status: inactive` for the interface of this receptacle and `status: active` for one without a cable. After a re-enumeration, macOS then sent TCP over a slow path without any error: 16 MiB took 790 ms instead of 5.4 ms (two M3 Ultras, August 2026). The RDMA port of the interface is down.',
      hint: 'Unplug the cable, wait ten seconds, and plug it in again.',
      role: { blocks: 'thunderbolt-link' },
      facts: [thunderboltFact, interfacesFact],
    },
  },
  (node, examination) =>
    node.ends.flatMap((end) => {
      const link = linkAt(examination.cabling.links, end)?.link;
      const stray = link && strayCarrier(examination, node, end);
      const own = interfaceAt(node.facts, end.receptacle);
      if (link === undefined || stray === undefined || own === undefined) return [];
      const words = `unplug the cable in ${endWords(end)}, wait ten seconds, and plug it in again`;
      const address = own.ipv4[0] === undefined ? '' : ` (${own.ipv4[0].address})`;
      return {
        code: 'address/no-carrier' as const,
        subject: linkSubject(link.ends),
        detail: prose`${namedEnd(end)} sees the far Mac, but its interface ${own.name}${address} has no carrier. The carrier is on ${stray.device}, where nothing is plugged in (receptacle ${stray.receptacle}).`,
        hint: afterBridges(examination, [link], words),
        handsAt: [node.name],
      };
    }),
);

import { receptacleSubject } from '../../model/subject.ts';
import { its, meshwright } from '../../model/text/command.ts';
import { namedEnd, prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { interfacesFact } from '../network/interfaces-fact.ts';
import { hardwarePortsFact } from '../network/services-fact.ts';
import { leftBehind } from './reading.ts';

/** Addresses of links on an interface that their receptacle had before. `apply` moves them. */
export const leftBehindAddresses = defineNodeRule(
  {
    'address/left-behind': {
      summary: "A link's address is on an interface that no longer belongs to its receptacle.",
      cause:
        'macOS gave the receptacle another interface (`networksetup -listallhardwareports`), as after a re-enumeration of Thunderbolt. The address and its network service stayed with the old one. Traffic to that network then uses a slow path or none.',
      hint: prose`Move the address: ${meshwright('apply', its.node)}`,
      role: 'converged-by-address',
      facts: [interfacesFact, hardwarePortsFact],
    },
  },
  ({ name, facts, ends }, { desired }) =>
    adoptedDaemon(desired, facts) !== undefined
      ? []
      : ends.flatMap((end) => {
          const left = leftBehind(desired, facts, end);
          if (left === undefined) return [];
          return {
            code: 'address/left-behind' as const,
            subject: receptacleSubject(end),
            detail: prose`${namedEnd(end)} now has the interface ${left.device}, but its address ${left.address} is on ${left.on}.`,
            hint: prose`Move the address: ${meshwright('apply', name)}`,
          };
        }),
);

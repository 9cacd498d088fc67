import { seenValue } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { networkServicesFact } from './services-fact.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from './services-reading.ts';

/** Cables that macOS would use before the office network, on nodes whose link addresses meshwright sets. */
export const serviceOrder = defineNodeRule(
  {
    'network/service-order': {
      severity: 'warning',
      summary: 'A Thunderbolt service comes before the office network.',
      cause:
        'macOS tries its network services in order: the first service with a router provides the default route. As soon as a cable has a router, through Internet Sharing or by mistake, all traffic goes over the cable.',
      hint: prose`Move the receptacles' services to the end with ${meshwright('apply')}.`,
      role: 'converged',
      facts: [networkServicesFact],
    },
  },
  ({ facts }, { desired }) => {
    const found = seenValue(misplacedServices(facts)) ?? [];
    const isOurs = desired.thunderbolt.pool !== undefined && adoptedDaemon(desired, facts) === undefined;
    const detail = `The network services are in the wrong order: ${orderWords(found)}.`;
    return !isOurs || isLeftToKeeper(desired, facts) || found.length === 0
      ? []
      : { code: 'network/service-order', detail };
  },
);

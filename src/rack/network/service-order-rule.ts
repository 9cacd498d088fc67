import { seenValue } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { defineNodeRule } from '../define-rule.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from './services.ts';
import { networkServicesFact } from './services-fact.ts';

/** Cables that macOS would use before the office network, where their addresses are ours. */
export const serviceOrder = defineNodeRule(
  {
    'network/service-order': {
      severity: 'warning',
      summary: 'A Thunderbolt service stands before the office network.',
      cause:
        'macOS tries its network services in their order: the first one with a router is the way to the rest of the world. As soon as a cable has one, by Internet Sharing or by mistake, everything goes over it.',
      hint: prose`Put the services of the receptacles last with ${meshwright('apply')}.`,
      role: 'converged',
      facts: [networkServicesFact],
    },
  },
  ({ facts }, { desired }) => {
    const found = seenValue(misplacedServices(facts)) ?? [];
    const isOurs = desired.thunderbolt.pool !== undefined && adoptedDaemon(desired, facts) === undefined;
    const detail = `In the order of the network services: ${orderWords(found)}.`;
    return !isOurs || isLeftToKeeper(desired, facts) || found.length === 0
      ? []
      : { code: 'network/service-order', detail };
  },
);

import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { defineRule } from '../define-rule.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import { isLeftToKeeper, misplacedServices, orderWords } from './services.ts';
import { networkServicesFact } from './services-fact.ts';

/** Cables that macOS would use before the office network, where their addresses are ours. */
export const serviceOrder = defineRule(
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
  ({ desired, nodes }, codes) =>
    desired.thunderbolt.pool === undefined
      ? []
      : nodes.flatMap(({ name, facts }) => {
          const found = misplacedServices(facts);
          const isAdopted = adoptedDaemon(desired, facts) !== undefined;
          return isAdopted || isLeftToKeeper(desired, facts) || found.kind === 'unknown' || found.value.length === 0
            ? []
            : [
                diagnose(codes['network/service-order'], {
                  subject: nodeSubject(name),
                  detail: `In the order of the network services: ${orderWords(found.value)}.`,
                }),
              ];
        }),
);

import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../model/subject.ts';
import { adoptedDaemon } from '../foreign-daemon/adopted-daemon.ts';
import type { Rule } from '../rule.ts';
import { isLeftToKeeper } from './left-to-keeper.ts';
import { misplacedServices, orderWords } from './service-order.ts';

/** Cables that macOS would use before the office network, where their addresses are ours. */
export const serviceOrder: Rule = ({ desired, nodes }) =>
  desired.thunderbolt.pool === undefined
    ? []
    : nodes.flatMap(({ name, facts }) => {
        const found = misplacedServices(facts);
        const isAdopted = adoptedDaemon(desired, facts) !== undefined;
        return isAdopted || isLeftToKeeper(desired, facts) || found.kind === 'unknown' || found.value.length === 0
          ? []
          : [
              diagnose('network/service-order', {
                subject: nodeSubject(name),
                detail: `In the order of the network services: ${orderWords(found.value)}.`,
              }),
            ];
      });

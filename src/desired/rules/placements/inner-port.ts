import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';
import { innerPorts } from '../../rank-port.ts';

/**
 * No endpoint has a port on which runtimes answer behind a doorman. Not only on leaders that have one: which of these
 * ports is taken follows from the names of placements, and a file that publishes nothing today may do so tomorrow.
 */
export const innerPort = ({ placements }: Draft): readonly Finding[] =>
  placements.flatMap(({ name, endpointPort, endpointPointer }): readonly Finding[] => {
    const { first, last } = innerPorts;
    if (endpointPort === undefined || endpointPort < first || endpointPort > last) return [];
    return [
      {
        code: 'placement/inner-port',
        pointer: endpointPointer,
        at: 'value',
        label: `${first} to ${last} are for runtimes behind a doorman`,
        detail: `Port ${endpointPort} may be that of a placement whose leader is ${name}'s, too.`,
        subject: placementSubject(name),
      },
    ];
  });

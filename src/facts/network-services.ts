import type { NetworkService } from '../model/fact-values.ts';
import { known, unknown } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { isInterface, isName } from './grammar.ts';
import { serviceOrder } from './probes/network.ts';
import { garbled, readLines } from './read-answer.ts';

/**
 * The network services in the order in which macOS tries them, from pairs of lines such as
 *
 *     (3) Earlier Cluster Bridge
 *     (Hardware Port: Thunderbolt 3, Device: en4)
 *
 * A disabled one has `(*)` in place of its number. One device may have several services, and a service without a
 * device (a VPN) has an empty one.
 */
export const networkServices: Fact<'network-services'> = {
  name: 'network-services',
  from: [serviceOrder],
  parse: ([answer]) => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const [notice, ...rest] = lines.value;
    if (notice !== 'An asterisk (*) denotes that a network service is disabled.') {
      return garbled(answer, 'did not begin with its notice');
    }
    const services: NetworkService[] = [];
    for (const block of rest.join('\n').split('\n\n')) {
      if (block.trim() === '') continue;
      const service = serviceOf(block.replace(/^\n+|\n+$/g, ''), services.length + 1);
      if (service === undefined) return garbled(answer, 'printed a block that is no network service');
      services.push(service);
    }
    return services.length === 0 ? unknown('empty', 'networksetup listed no network service.') : known(services);
  },
};

/** Numbers count the disabled ones too, so a block that is missing in the middle shows. */
function serviceOf(block: string, number: number): NetworkService | undefined {
  const form = /^\((\d{1,4}|\*)\) (.+)\n\(Hardware Port: (.+), Device: ?(\S*)\)$/;
  const [, mark = '', name = '', port = '', device = ''] = form.exec(block) ?? [];
  if (!isName(name) || !isName(port) || (mark !== '*' && mark !== String(number))) return undefined;
  if (device === '') return { name, port, isEnabled: mark !== '*' };
  return isInterface(device) ? { name, port, device, isEnabled: mark !== '*' } : undefined;
}

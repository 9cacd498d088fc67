import type { NetworkService } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { isBsdName, isName } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { serviceOrder } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/**
 * The network services in the order in which macOS tries them, from pairs of lines such as
 *
 *     (3) Earlier Cluster Bridge
 *     (Hardware Port: Thunderbolt 3, Device: en4)
 *
 * A disabled one has `(*)` in place of its number. One device may have several services, and a service without a
 * device (a VPN) has an empty one. The tool prints no end, so that an answer is whole is known from its exit and its
 * frame alone.
 */
export const networkServicesFact = defineFact({
  name: 'network-services',
  from: [serviceOrder],
  parse: ([answer]): Known<readonly NetworkService[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const [notice, ...rest] = lines.value;
    if (notice !== 'An asterisk (*) denotes that a network service is disabled.') {
      return garbled(answer, 'did not begin with its notice');
    }
    const services: (NetworkService & { readonly mark: string })[] = [];
    for (const block of rest.join('\n').split('\n\n')) {
      if (block.trim() === '') continue;
      const service = serviceOf(
        block
          .split('\n')
          .filter((line) => line !== '')
          .join('\n'),
      );
      if (service === undefined) return garbled(answer, 'printed a block that is no network service');
      services.push(service);
    }
    if (services.length === 0) return unknown('empty', 'networksetup listed no network service.');
    if (!isNumbered(services.map(({ mark }) => mark))) return garbled(answer, 'numbered its services with gaps');
    return known(services.map(({ mark: _, ...service }) => service));
  },
});

/**
 * Numbers count the disabled ones too or, on older macOS, only the enabled ones: in either way a block that is missing
 * in the middle shows.
 */
function isNumbered(marks: readonly string[]): boolean {
  const isAll = marks.every((mark, at) => mark === '*' || mark === String(at + 1));
  const enabled = marks.filter((mark) => mark !== '*');
  return isAll || enabled.every((mark, at) => mark === String(at + 1));
}

function serviceOf(block: string): (NetworkService & { readonly mark: string }) | undefined {
  const form = /^\((\d{1,4}|\*)\) (.+)\n\(Hardware Port: (.+), Device: ?(\S*)\)$/;
  const [, mark = '', name = '', port = '', device = ''] = form.exec(block) ?? [];
  if (!isName(name) || !isName(port)) return undefined;
  const service = { name, port, isEnabled: mark !== '*', mark };
  if (device === '') return service;
  return isBsdName(device) ? { ...service, device } : undefined;
}

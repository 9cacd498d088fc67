import type { Ipv4Address, Route } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { isInterface, isIpv4, isMac, wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { routeTable } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

const head = ['Routing tables', '', 'Internet:'] as const;
const columns = /^Destination +Gateway +Flags +Netif +Expire *$/;

/**
 * The IPv4 routing table, from lines such as
 *
 *     default            198.51.100.1       UGScIg                en7
 *     169.254            link#25            UCS                   en1      !
 *
 * Neighbours that macOS has learned are left out (flag `W`, cloned from the route of their network): they come and go
 * by themselves. The tool prints no end, so that an answer is whole is known from its exit and its frame alone.
 *
 * @see netstat(1) for the flags; route.c of Apple's network_cmds for what is left out of a destination
 */
export const routesFact = defineFact({
  name: 'routes',
  from: [routeTable],
  parse: ([answer]): Known<readonly Route[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const [first, second, third, names = '', ...rows] = lines.value;
    if (![first, second, third].every((line, at) => line === head[at]) || !columns.test(names)) {
      return garbled(answer, 'did not begin with the head of a routing table');
    }
    const found: Route[] = [];
    // The same line twice is one route.
    for (const row of new Set(rows)) {
      const route = routeOf(row);
      if (route === undefined) return garbled(answer, 'printed a line that is no route');
      if (!route.flags.includes('W')) found.push(route);
    }
    // Even a Mac without any network has the routes of its loopback.
    return rows.length === 0 ? unknown('empty', 'netstat listed no route.') : known(found);
  },
});

function routeOf(row: string): Route | undefined {
  const form = /^(\S+) +(\S+) +([A-Za-z0-9]{1,19}) +(\S+)(?: +(?:!|\d{1,10}))? *$/;
  const [, target = '', gateway = '', flags = '', device = ''] = form.exec(row) ?? [];
  const destination = destinationOf(target, flags);
  if (destination === undefined || !isGateway(gateway) || !flags.startsWith('U') || !isInterface(device)) {
    return undefined;
  }
  return { destination, gateway, flags, device };
}

const isGateway = (text: string): boolean =>
  isIpv4(text) || /^link#\d{1,5}$/.test(text) || isMac(text.replaceAll('.', ':')) || isInterface(text);

/** The length of a network that is written without one: by the classes of old, by its first octet. */
const classLength = (first: number): number => (first < 128 ? 8 : first < 192 ? 16 : 24);

/**
 * `default`, `127`, `169.254`, `192.0.2`, `10.77/16`, `10.77.0.4/30` or `192.0.2.10`: trailing octets that are zero are
 * left out down to the class of the address, and the length where it is that of the class, or of a single host.
 */
function destinationOf(text: string, flags: string): Ipv4Address | undefined {
  if (text === 'default') return { address: '0.0.0.0', prefixLength: 0 };
  const [, short = '', length] = /^(\d{1,3}(?:\.\d{1,3}){0,3})(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const octets = short.split('.');
  const address = [...octets, '0', '0', '0'].slice(0, 4).join('.');
  if (short === '' || !isIpv4(address)) return undefined;
  const isWhole = octets.length === 4;
  const own = classLength(Number(octets[0]));
  // A network without a length has exactly the octets of its class.
  if (length === undefined && !isWhole && octets.length * 8 !== own) return undefined;
  if (length === undefined && isWhole && !flags.includes('H')) return undefined;
  const prefixLength = length === undefined ? (isWhole ? 32 : own) : wholeNumber(length);
  return prefixLength === undefined || prefixLength > 32 ? undefined : { address, prefixLength };
}

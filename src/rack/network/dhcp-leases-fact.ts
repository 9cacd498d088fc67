import type { DhcpAnswer, DhcpLease } from '../../model/facts/fact-values.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { isIpv4 } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { dhcpPackets } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/**
 * What DHCP gave each Thunderbolt interface that was asked, from lines such as
 *
 *     yiaddr = 192.168.64.13
 *     server_identifier (ip): 192.168.64.1
 *
 * `ipconfig` exits with 1 where there is no packet. Optional: no finding is made of its absence.
 *
 * @see ipconfig(8), and dhcplib.c, dhcp_options.c and client.c of Apple's bootp for the lines and the exit
 */
export const dhcpLeasesFact = defineFact({
  name: 'dhcp-leases',
  from: [dhcpPackets],
  parse: ([answer]): Known<readonly DhcpAnswer[]> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    if (lines.value.at(-1) !== 'end') return unknown('truncated', 'The list of DHCP packets does not end.');
    const found: DhcpAnswer[] = [];
    let block: string[] = [];
    for (const line of lines.value.slice(0, -1)) {
      block.push(line);
      if (!/^en\d{1,4} exit \d{1,3}$/.test(line)) continue;
      const one = answerOf(block);
      if (one === undefined) return garbled(answer, 'printed a DHCP packet that cannot be read');
      found.push(one);
      block = [];
    }
    const isWhole = block.length === 0 && new Set(found.map(({ device }) => device)).size === found.length;
    return isWhole ? known(found) : garbled(answer, 'printed an interface twice, or without its end');
  },
});

/** Apple's sources print nothing where there is no packet; these words are what other programs expect of newer ones. */
const noPacket = /^ipconfig_get_packet\(en\d{1,4}\) failed: (?:not found|interface doesn't exist)$/;

/** The lines of one interface; the last one has its name and the exit code. */
function answerOf(block: readonly string[]): DhcpAnswer | undefined {
  const text = block.slice(0, -1);
  const [device = '', , code] = block.at(-1)?.split(' ') ?? [];
  switch (code) {
    case '0': {
      const lease = leaseOf(text);
      // A packet that only informs (DHCPINFORM) gives no address.
      return lease?.address === '0.0.0.0' ? { device } : lease && { device, lease };
    }
    case '1':
      return text.length === 0 || (text.length === 1 && noPacket.test(text[0] ?? '')) ? { device } : undefined;
    default:
      return undefined;
  }
}

const fields = 'op htype flags hlen hops xid secs ciaddr yiaddr siaddr giaddr chaddr sname file'.split(' ');
const optionForm = /^(?:\w+ \(\w+\): |undefined tag \d{1,3} len \d{1,3}$)/;

/** Of a whole packet: every field in its place, and as many options as it counts, from the message type to the end. */
function leaseOf(text: readonly string[]): DhcpLease | undefined {
  const head = fields.map((name, at) => textAfter([text[at] ?? ''], `${name} = `));
  const [title, count, ...rest] = text.slice(fields.length);
  const options = rest.filter((line) => optionForm.test(line));
  const isWhole =
    !head.includes(undefined) &&
    head[0] === 'BOOTREPLY' &&
    title === 'options:' &&
    count === `Options count is ${options.length}` &&
    rest.at(-1) === 'end (none): ' &&
    textAfter(options, 'dhcp_message_type (uint8): ') === 'ACK 0x5';
  const address = head[fields.indexOf('yiaddr')] ?? '';
  const server = textAfter(options, 'server_identifier (ip): ') ?? '';
  const [, seconds] = /^0x([0-9a-f]{1,8})$/.exec(textAfter(options, 'lease_time (uint32): ') ?? '') ?? [];
  return isWhole && isIpv4(address) && isIpv4(server) && seconds !== undefined
    ? { address, server, seconds: Number.parseInt(seconds, 16) }
    : undefined;
}

/** What follows `name`, in the one line that begins with it. */
function textAfter(lines: readonly string[], name: string): string | undefined {
  const [line, ...others] = lines.filter((one) => one.startsWith(name));
  return others.length === 0 ? line?.slice(name.length) : undefined;
}

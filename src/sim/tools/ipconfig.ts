import { type DhcpReply, dhcpReply, servicesIn } from '../model/network.ts';
import { seededInteger } from '../model/seed.ts';
import { from, lines, row, type Tool, type ToolView, usage } from './tool.ts';

const packet = from.capture(
  'ipconfig-getpacket.en0.macos26.5.2.txt',
  'public networking notes, a Mac of a CI service, macOS 26.5.2',
);

/** `ipconfig getpacket NAME`: the last packet that the DHCP client accepted; no output if there is none. */
export const ipconfig: Tool = {
  path: '/usr/sbin/ipconfig',
  rows: (view) =>
    replies(view).map(({ device, macAddress, reply }) =>
      row(['getpacket', device], packet, packetText(reply, macAddress)),
    ),
  patterns: [
    {
      match: "'2:getpacket en'[0-9] | '2:getpacket en'[0-9][0-9] | '2:getpacket bridge'[0-9]",
      body: 'exit 1',
      source: from.apple('ipconfig(8): nothing where DHCP is not active; client.c of bootp: exit 1'),
    },
  ],
  usage: usage(
    1,
    from.apple('bootp, client.c: usage'),
    'usage: ipconfig <command> <args>',
    'where <command> is one of waitall, getifaddr, ifcount, getoption, getiflist, getsummary, getpacket, getv6packet, getra, getdhcpduid, getdhcpiaid, set, setverbose',
  ),
};

/** DHCP replies: the office router's, and those from the far ends of cables. */
function replies({ fleet, mac }: ToolView) {
  const { device, address } = mac.lan;
  const isOnDhcp = servicesIn(mac.preferences).some((one) => one.device === device && one.ipv4.kind === 'dhcp');
  const router = { address, server: address.replace(/\.\d+$/, '.1'), serverName: '' };
  const office = mac.ports.filter((port) => isOnDhcp && port.device === device);
  return [
    ...office.map(({ macAddress }) => ({ device, macAddress, reply: router })),
    ...mac.receptacles.flatMap((receptacle) => {
      const reply = dhcpReply(fleet, mac, receptacle);
      return reply === undefined ? [] : [{ device: receptacle.device, macAddress: receptacle.macAddress, reply }];
    }),
  ];
}

/** The octets of an Ethernet address in the tool's form, without leading zeros. */
const shortOctets = (address: string): string =>
  address
    .split(':')
    .map((octet) => Number.parseInt(octet, 16).toString(16))
    .join(':');

const packetText = ({ address, server, serverName }: DhcpReply, macAddress: string): string =>
  lines(
    'op = BOOTREPLY',
    'htype = 1',
    'flags = 0x0',
    'hlen = 6',
    'hops = 0',
    `xid = 0x${seededInteger([macAddress, 'xid', address], 1, 0x7f_ff_ff_ff).toString(16)}`,
    'secs = 0',
    'ciaddr = 0.0.0.0',
    `yiaddr = ${address}`,
    `siaddr = ${server}`,
    'giaddr = 0.0.0.0',
    `chaddr = ${shortOctets(macAddress)}`,
    `sname = ${serverName}`,
    'file = ',
    'options:',
    'Options count is 7',
    'dhcp_message_type (uint8): ACK 0x5',
    `server_identifier (ip): ${server}`,
    'lease_time (uint32): 0xe10',
    'subnet_mask (ip): 255.255.255.0',
    `router (ip_mult): {${server}}`,
    `domain_name_server (ip_mult): {${server}}`,
    'end (none): ',
  );

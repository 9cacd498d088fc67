import { describe, expect, it } from 'vitest';
import { type FactValues, parseFacts } from '../../../../src/engine/observe/facts.ts';
import type { Known } from '../../../../src/model/known.ts';
import type { Answer } from '../../../../src/model/probe.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { dhcpPackets } from '../../../../src/rack/network/interfaces-fact.ts';
import { outputIn } from '../../engine/observe/fact-cases.ts';
import { makeNodeRoot, type NodeRoot, removedAfter, startScript } from '../../engine/scripts/node-root.ts';
import { type Shell, scriptShells } from '../../engine/scripts/shells.ts';

const boundary = 'fedcba9876543210fedcba9876543210';
const newRoot = removedAfter(makeNodeRoot);
const packet = outputIn('dhcp-leases/internet-sharing-over-a-cable').replace(/^en7 exit 0\nend\n/m, '');

const block = (name: string, ...addresses: readonly string[]): string =>
  [
    `${name}: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\tether 02:00:5e:00:53:07\n`,
    '\tinet6 fe80::200:5eff:fe00:5307%en7 prefixlen 64 secured scopeid 0x15 \n',
    ...addresses.map((address) => `\tinet ${address} netmask 0xffffff00 broadcast 192.168.2.255\n`),
    '\tmedia: autoselect <full-duplex>\n\tstatus: active\n',
  ].join('');

/** Ethernet, and receptacles 1 to 6 as en2 to en7: en3 has a self-assigned address, en4 two addresses, en7 a lease. */
const interfaces = [
  block('lo0', '127.0.0.1'),
  block('en0', '192.168.1.11'),
  block('en1', '192.168.1.12'),
  block('en2'),
  block('en3', '169.254.31.7'),
  block('en4', '169.254.8.9', '10.77.0.1', '10.77.0.5'),
  block('bridge0', '192.168.3.1'),
  block('en7', '198.51.100.7'),
].join('');

/** An ipconfig that has a packet for en7 only. */
function withTools(root: NodeRoot): void {
  root.file('outputs/ports', outputIn('hardware-ports/m3ultra-no-bridge'));
  root.file('outputs/interfaces', interfaces);
  root.file('outputs/packet', packet);
  root.tool('usr/sbin/networksetup', '[ "$*" = -listallhardwareports ] && exec /bin/cat "$R/outputs/ports"; exit 64');
  root.tool('sbin/ifconfig', '[ "$*" = -a ] && exec /bin/cat "$R/outputs/interfaces"; exit 64');
  root.tool('usr/sbin/ipconfig', 'case $* in ("getpacket en7") exec /bin/cat "$R/outputs/packet" ;; esac\nexit 1');
}

async function observe(
  shell: Shell,
  root: NodeRoot,
  probe = dhcpPackets,
): Promise<{ answer: Answer | undefined; leases: Known<FactValues['dhcp-leases']> }> {
  const request = { probes: [probe], boundary, rootPrefix: root.folder };
  const answers = parseFrames((await startScript(shell, observeScript(request)).end).stdout, request);
  const facts = parseFacts(answers, { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
  return { answer: answers[0], leases: facts['dhcp-leases'] };
}

describe.each(scriptShells)('the DHCP packet probe in $name', (shell) => {
  it('queries each Thunderbolt interface with an assigned address once', async () => {
    const root = newRoot(shell);
    withTools(root);
    const before = root.tree();
    const { leases } = await observe(shell, root);
    const lease = { address: '198.51.100.7', server: '198.51.100.1', seconds: 3_600 };
    expect(leases).toEqual({ kind: 'known', value: [{ device: 'en4' }, { device: 'en7', lease }] });
    expect(root.started().filter(({ tool }) => tool === 'usr/sbin/ipconfig')).toHaveLength(2);
    expect(root.tree()).toEqual(before);
  });

  it('is unknown if the interfaces cannot be listed', async () => {
    for (const tool of ['usr/sbin/networksetup', 'sbin/ifconfig']) {
      const root = newRoot(shell);
      withTools(root);
      root.tool(tool, 'exit 1');
      expect((await observe(shell, root)).leases).toMatchObject({ kind: 'unknown', reason: 'failed' });
      expect(root.started().filter((one) => one.tool === 'usr/sbin/ipconfig')).toEqual([]);
    }
  });

  it('is unknown on a Mac without ipconfig', async () => {
    const root = newRoot(shell);
    withTools(root);
    root.tool('usr/sbin/ipconfig', 'exit 127');
    expect((await observe(shell, root)).leases).toMatchObject({ kind: 'unknown', reason: 'garbled' });
  });

  it('stops an ipconfig that hangs', async () => {
    const root = newRoot(shell);
    withTools(root);
    root.tool('usr/sbin/ipconfig', 'exec "$R/bin/sleep" 600');
    const { answer, leases } = await observe(shell, root, { ...dhcpPackets, deadlineMs: 1_000 });
    expect([answer?.isLate, leases.kind]).toEqual([true, 'unknown']);
    const ipconfig = root.started().find(({ tool }) => tool === 'usr/sbin/ipconfig');
    expect(() => process.kill(ipconfig?.pid ?? 0, 0)).toThrow(/ESRCH/);
  });
});

import { describe, expect, it } from 'vitest';
import { interfacesFact as interfacesItself } from '../../../../src/rack/network/interfaces-fact.ts';
import { answer, asked } from '../../engine/observe/fact-cases.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const interfaces = { ...interfacesItself, parse: onPage(interfacesItself.parse) };

const block = (name: string, ...lines: readonly string[]): string =>
  `${name}: flags=8863<UP,BROADCAST,RUNNING> mtu 1500\n${lines.map((line) => `\t${line}\n`).join('')}`;

const stdout = [
  block('lo0', 'inet 127.0.0.1 netmask 0xff000000'),
  block('en0', 'inet6 fe80::1%en0 prefixlen 64', 'inet 192.0.2.10 netmask 0xffffff00', 'status: active'),
  block('en3', 'inet6 fe80::1%en3 prefixlen 64', 'inet 169.254.7.7 netmask 0xffff0000', 'status: active'),
].join('');

/** The interfaces that carry the connection when sshd reports this. */
function carriers(connection: string | undefined): readonly string[] {
  const answers = [
    answer('ifconfig', { stdout }),
    connection === undefined ? undefined : answer('ssh-connection', { stdout: connection }),
  ];
  const seen = interfaces.parse(answers, asked);
  return seen.kind === 'known'
    ? seen.value.filter((one) => one.carriesConnection).map(({ name }) => name)
    : ['unknown'];
}

describe('the interfaces fact', () => {
  it('marks the interface that carries the SSH connection', () => {
    expect(carriers('192.0.2.99 50000 192.0.2.10 22\n')).toEqual(['en0']);
    expect(carriers('169.254.9.9 50000 169.254.7.7 22\n')).toEqual(['en3']);
  });

  it('distinguishes link-local addresses by their zone', () => {
    expect(carriers('fe80::9%en3 50000 fe80::1%en3 22\n')).toEqual(['en3']);
  });

  it('does not mark an interface for a tunnel or an unknown connection', () => {
    for (const words of ['127.0.0.1 50000 127.0.0.1 22\n', '\n', '192.0.2.10\n', undefined]) {
      expect([words, carriers(words)]).toEqual([words, []]);
    }
  });
});

onOnePage('interfaces-connection');

import type { Client } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimFleet } from '../contract/sim-host.ts';
import { shared } from '../rack/kept-running.ts';
import { connect, eventually, type Ran, run } from '../rack/running.ts';
import { startExampleRackBy } from '../scenarios/observe-rack.ts';

const clients: Client[] = [];
const rack = shared(() =>
  startExampleRackBy((options) => startSimFleet({ ...options, clockFactor: 1 / 200 }, 'namespace')),
);
afterEach(async () => {
  await rack.fleet.clearFault([]);
  for (const client of clients.splice(0)) client.end();
});

async function login(node: string): Promise<Client> {
  const client = await connect(rack.fleet, node);
  clients.push(client);
  return client;
}

const sh = async (node: string, script: string): Promise<Ran> => run(await login(node), script);

/** The address of an interface as its Mac reports it. */
const addressOf = async (node: string, device: string): Promise<string> =>
  /inet (\S+)/.exec((await sh(node, `/sbin/ifconfig ${device}`)).stdout)?.[1] ?? '';

/** One port per test, because the previous test's listener may still be running. */
let port = 51_000;
beforeEach(() => {
  port += 1;
});
const perl = '/usr/bin/perl -MIO::Socket::INET -e';

/** Answers every line of one connection with the same line. */
const echo = (address: string): string =>
  `${perl} 'my $l = IO::Socket::INET->new(LocalAddr => "${address}", LocalPort => ${port}, Listen => 1, ReuseAddr => 1) or die "listen: $!"; my $c = $l->accept; $c->autoflush; print $c $_ while <$c>'`;

/** Connects and prints the result in one word. */
const reach = (address: string): string =>
  `${perl} 'print IO::Socket::INET->new(PeerAddr => "${address}", PeerPort => ${port}, Timeout => 1) ? "reached" : "lost"'`;

/** The number of bytes that an interface received. */
const receivedBytes = async (node: string, device: string): Promise<number> =>
  Number(new RegExp(`${device}: *(\\d+)`).exec((await sh(node, '/bin/cat /proc/net/dev')).stdout)?.[1] ?? '');

/** An open connection that sends lines and collects the answers. */
async function openTalk(
  from: string,
  to: string,
): Promise<{ readonly send: (line: string) => void; readonly heard: () => string }> {
  const server = await login(from === 'studio-1' ? 'studio-2' : 'studio-1');
  void run(server, echo(to));
  const client = await login(from);
  let heard = '';
  const talk = `${perl} '$| = 1; my $s; until ($s = IO::Socket::INET->new("${to}:${port}")) { select undef, undef, undef, 0.05 } $s->autoflush; while (<STDIN>) { print $s $_; print scalar <$s> }'`;
  return new Promise((resolve, reject) => {
    client.exec(talk, (error, channel) => {
      if (error) return reject(error);
      channel.on('data', (chunk: Buffer) => {
        heard += chunk.toString();
      });
      resolve({ send: (line) => channel.write(`${line}\n`), heard: () => heard });
    });
  });
}

const cable = 'studio-1:2';
const device = 'en3';

describe('a cable between Macs in namespaces', () => {
  it('carries data between its two addresses, bypassing the office network', async () => {
    const to = await addressOf('studio-2', device);
    const before = [await receivedBytes('studio-2', device), await receivedBytes('studio-2', 'en0')] as const;
    const { send, heard } = await openTalk('studio-1', to);
    send('x'.repeat(500_000));
    expect(await eventually(() => heard().length === 500_001)).toBe(true);
    const after = [await receivedBytes('studio-2', device), await receivedBytes('studio-2', 'en0')] as const;
    expect(after[0] - before[0]).toBeGreaterThan(500_000);
    expect(after[1] - before[1]).toBeLessThan(100_000);
  });

  it('keeps an open connection and refuses new ones while it is unplugged', async () => {
    const to = await addressOf('studio-2', device);
    const { send, heard } = await openTalk('studio-1', to);
    send('one');
    expect(await eventually(() => heard() === 'one\n')).toBe(true);
    await rack.fleet.setFault(['cable-missing', cable]);
    send('two');
    expect((await sh('studio-1', reach(to))).stdout).toBe('lost');
    expect(heard()).toBe('one\n');
    await rack.fleet.clearFault([]);
    expect(await eventually(() => heard() === 'one\ntwo\n')).toBe(true);
  });

  it('leads to a different Mac when two ends are swapped', async () => {
    const to = await addressOf('studio-2', device);
    const server = await login('studio-2');
    void run(server, `${echo(to)} </dev/null`);
    await rack.fleet.setFault(['cable-swapped', 'studio-1:2,studio-1:3']);
    expect((await sh('studio-1', reach(to))).stdout).toBe('lost');
    await rack.fleet.clearFault([]);
    expect(await eventually(async () => (await sh('studio-1', reach(to))).stdout === 'reached')).toBe(true);
  });

  it('carries no data while the far Mac hangs, although every port is active', async () => {
    const to = await addressOf('studio-2', device);
    void run(await login('studio-2'), `${echo(to)} </dev/null`);
    await rack.fleet.setFault(['rdma-hang', 'studio-2']);
    expect((await sh('studio-1', reach(to))).stdout).toBe('lost');
    expect((await sh('studio-1', `/sbin/ifconfig ${device}`)).stdout).toContain('status: active');
    await rack.fleet.clearFault([]);
    expect(await eventually(async () => (await sh('studio-1', reach(to))).stdout === 'reached')).toBe(true);
  });

  it('is dead while the far Mac has no power, but open connections stay open', async () => {
    const to = await addressOf('studio-2', device);
    const client = await login('studio-2');
    let isClosed = false;
    client.once('close', () => {
      isClosed = true;
    });
    await rack.fleet.cutPower('studio-2');
    expect((await sh('studio-1', reach(to))).stdout).toBe('lost');
    expect(isClosed).toBe(false);
    await rack.fleet.powerOn('studio-2');
    void run(await login('studio-2'), `${echo(to)} </dev/null`);
    expect(await eventually(async () => (await sh('studio-1', reach(to))).stdout === 'reached')).toBe(true);
  });

  it('has the address that ifconfig sets on its interface', async () => {
    const own = await addressOf('studio-1', 'en4');
    await sh('studio-1', '/usr/bin/sudo -n /sbin/ifconfig en4 inet 10.99.0.1 netmask 255.255.255.252');
    const listen = `${perl} 'print IO::Socket::INET->new(LocalAddr => shift, Listen => 1) ? "mine" : "not mine"'`;
    expect((await sh('studio-1', `${listen} 10.99.0.1`)).stdout).toBe('mine');
    expect((await sh('studio-1', `${listen} ${own}`)).stdout).toBe('not mine');
  });
});

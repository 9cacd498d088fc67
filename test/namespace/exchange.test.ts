import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { PeerPlan } from '../../src/model/node-script.ts';
import { macName, type Topology } from '../exchange/cables.ts';
import { type Exchange, type ExchangeOptions, makeFile, mebibyte, openExchange, sha256 } from '../exchange/exchange.ts';
import { flippingProxy } from '../exchange/flipping-proxy.ts';
import type { Mac } from '../exchange/mac.ts';
import { inTurn } from '../in-turn.ts';
import { sampleOf } from '../sample.ts';
import { hasSshd } from '../sshd/start-sshd.ts';

const chunks = 24;
const files = [makeFile('config.json', 600), makeFile('empty', 0), makeFile("odd names/it's #?.bin", 7 * mebibyte - 1)];
const big = makeFile('model.bin', (chunks - 8) * mebibyte + 1);
const model = [...files, big];
const modelChunks = 1 + 7 + 17;
/** Chunks that may cross twice: on a busy machine, a chunk is sometimes late, and is fetched from another Mac as well. */
const spare = 8;

const mesh = (macs: number, more: Partial<Topology> = {}): Topology => ({ kind: 'mesh', macs, megabits: 200, ...more });

let exchange: Exchange | undefined;
let unmount = (): void => undefined;
afterEach(async () => {
  unmount();
  unmount = (): void => undefined;
  await exchange?.close();
  exchange = undefined;
});

async function open(options: Partial<ExchangeOptions> & Pick<ExchangeOptions, 'topology'>): Promise<Exchange> {
  exchange = await openExchange({ files: model, ...options });
  return exchange;
}

function expectIdentical(macs: readonly Mac[], all = model): void {
  for (const mac of macs) {
    for (const { path, sha256: wanted } of all) expect(sha256(readFileSync(mac.model(path)))).toBe(wanted);
    expect(existsSync(mac.own('data/3'))).toBe(false);
  }
}

const received = (mac: Mac, from?: number): number =>
  Object.entries(mac.receivedBytes())
    .filter(([name]) => from === undefined || name === macName(from))
    .reduce((sum, [, bytes]) => sum + bytes, 0);
const total = (macs: readonly Mac[], from?: number): number => macs.reduce((sum, mac) => sum + received(mac, from), 0);
const count = (have: string): number => have.split('1').length - 1;
const drops = (mac: Mac): readonly string[] =>
  mac.events.filter((line) => line.startsWith('drop ')).map((line) => line.split(' ').slice(0, 3).join(' '));

/** Numbers of chunks at which something is killed: a few in CI, all at night. */
const moments = (most: number): readonly number[] =>
  sampleOf(
    Array.from({ length: most }, (_, at) => at + 1),
    { few: 1, oneIn: 17 },
  );

inTurn(0, 3)('an exchange over cables', () => {
  it.each([
    ['a full mesh', mesh(4)],
    ['a switch', { ...mesh(3), kind: 'switch' }],
  ] as const)('fetches each chunk once over %s and finishes on every Mac', async (_, topology) => {
    const { start, finish, receivers, macs, totalBytes } = await open({ topology });
    start();
    await finish();
    expectIdentical(receivers);
    // The relays of a mesh share what crosses from the origin; one that starts late loses a part of its share. Without
    // sharing, three times as much would cross.
    expect(total(receivers, 1)).toBeLessThanOrEqual(1.5 * totalBytes);
    for (const mac of receivers) expect(received(mac)).toBeLessThanOrEqual(totalBytes + spare * mebibyte);
    await Promise.all(macs.map((mac) => mac.exited()));
    expect(macs.flatMap((mac) => mac.processes())).toEqual([]);
  });

  it('reports on every Mac that no source is left, after the Macs have shared all their chunks', async () => {
    const planText = (text: string): string => `${text}wait 60 1 1\n`;
    const { start, receivers, mac } = await open({ topology: mesh(3), planText });
    start();
    await mac(2).has(5);
    await mac(1).kill();
    const at = await Promise.all(
      receivers.map(async (one) => {
        while (!one.events.some((line) => line.startsWith('stuck '))) await pause(50);
        return performance.now();
      }),
    );
    const [two = '', three] = receivers.map((one) => one.have());
    expect([two, two.includes('0')]).toEqual([three, true]);
    expect(at.toSorted((one, other) => one - other)).toEqual(at);
  });

  it.each([1, 2])('respects the rate limit of a Mac that restarted: Mac %i of two', async (slow) => {
    const planText = (text: string, { self }: PeerPlan): string =>
      self === macName(slow) ? `${text}rate 8000000\n` : text;
    const { start, finish, receivers, totalBytes } = await open({ topology: mesh(2), planText });
    const beganAt = performance.now();
    start();
    await finish();
    expect(totalBytes / 8_000).toBeLessThan(performance.now() - beganAt);
    expectIdentical(receivers);
  });

  it('makes every Mac wait while the downloading Mac waits, even without a cable between them', async () => {
    // Mac 3 has no cable to the first one.
    const planText = (text: string, { self }: PeerPlan): string => {
      const far = self === macName(1) ? macName(3) : self === macName(3) ? macName(1) : 'none';
      const lines = text.split('\n').filter((line) => !new RegExp(`^(?:peer|feeds) ${far}\\b`).test(line));
      return `${lines.join('\n')}wait 2 1 0\n`;
    };
    const { start, finish, receivers, mac } = await open({ topology: mesh(3), isGrowing: true, planText });
    const events = () => receivers.map((one) => one.events.filter((line) => /^(?:waiting|stuck)/.test(line)));
    start();
    mac(1).tell('waits 22:00');
    await pause(5_000);
    expect(events()).toEqual([['waiting 22:00'], ['waiting 22:00']]);
    mac(1).tell('waits -----');
    for (const file of model) await mac(1).grow(file, 400);
    await finish();
    expectIdentical(receivers);
    expect(events()).toEqual(receivers.map(() => ['waiting 22:00', 'waiting -----']));
  });

  it('passes on a file that is still growing at the origin', async () => {
    const { start, finish, receivers, mac, totalBytes } = await open({ topology: mesh(3), isGrowing: true });
    start();
    for (const file of model) await mac(1).grow(file, 400);
    await finish();
    expectIdentical(receivers);
    expect(total(receivers, 1)).toBeLessThanOrEqual(totalBytes + spare * mebibyte);
  });

  const kills = [mesh(4), { ...mesh(3), kind: 'switch' } as const].flatMap((topology) =>
    moments(chunks / 3).map((moment) => [topology.kind, moment, topology] as const),
  );
  it.each(kills)('survives the loss of a relay on a %s after %i chunks', async (_, moment, topology) => {
    const { start, finish, mac, receivers, totalBytes } = await open({ topology });
    const survivors = receivers.slice(1);
    start();
    await mac(2).has(moment);
    await mac(2).kill();
    await finish(survivors);
    expectIdentical(survivors);
    const lost = count(mac(2).have());
    // Only chunks that no survivor has cross from the origin again.
    expect(total(survivors, 1)).toBeLessThanOrEqual(totalBytes + spare * mebibyte);
    for (const one of survivors) expect(received(one)).toBeLessThanOrEqual(totalBytes + (spare + lost) * mebibyte);
  });

  const restarts = ([1, 3] as const).flatMap((victim) =>
    Array.from({ length: chunks }, (_, at) => [victim, at + 1] as const),
  );
  it.each(sampleOf(restarts, { few: 1, oneIn: 17 }))(
    'completes even if Mac %i is killed after %i chunks and then restarted',
    async (victim, moment) => {
      // An origin that starts when the others are complete waits for them.
      const planText = (text: string): string => `${text}wait 3 20 30\n`;
      const { start, finish, mac, macs, receivers, totalBytes } = await open({ topology: mesh(3), planText });
      start();
      await mac(3).has(moment);
      await mac(victim).kill();
      const had = count(mac(3).have());
      mac(victim).start();
      await finish();
      expectIdentical(receivers);
      const again = victim === 3 ? had - spare : -spare;
      expect(received(mac(3))).toBeLessThanOrEqual(totalBytes - again * mebibyte);
      await Promise.all(macs.map((one) => one.exited()));
      expect(macs.flatMap((one) => one.processes())).toEqual([]);
    },
  );
});

inTurn(1, 3).skipIf(!hasSshd())('an exchange over Ethernet', () => {
  const ssh = (macs: number, megabits = 200): Topology => ({ kind: 'ssh', macs, megabits });
  /** Logins from other Macs, and to others. */
  const logins = (mac: Mac, form = /^\/usr\/bin\/perl \S*tunnel\.pl|^sshd: root|^\/usr\/bin\/ssh /): number =>
    mac.commands().filter((line) => form.test(line)).length;

  it('sends each byte only once to the first Mac of an SSH chain, and from there to the others', async () => {
    const { start, finish, receivers, macs, totalBytes, mac } = await open({ topology: ssh(4), isGrowing: true });
    start();
    const tunnels = () => macs.map((one) => logins(one, /^\/usr\/bin\/perl \S*tunnel\.pl/));
    await expect.poll(tunnels).toEqual([3, 2, 1, 0]);
    for (const { path, bytes } of model) mac(1).write(path, bytes);
    await finish();
    expectIdentical(receivers);
    expect(total(receivers, 1)).toBeLessThanOrEqual(totalBytes + spare * mebibyte);
    await expect.poll(() => macs.map((one) => logins(one))).toEqual([0, 0, 0, 0]);
  });

  it('leaves no ssh process or tunnel on either Mac if the receiving Mac is killed', async () => {
    const { start, mac, macs } = await open({ topology: ssh(2, 20) });
    start();
    await mac(2).has(2);
    expect(macs.every((one) => logins(one) > 0)).toBe(true);
    await mac(2).kill();
    await expect.poll(() => macs.map((one) => logins(one))).toEqual([0, 0]);
  });
});

inTurn(1, 3)('a Mac whose disk is full', () => {
  /** Moves a Mac's files to a disk of this size. */
  function onOwnDisk(mac: Mac, mebibytes: number): string {
    const folder = dirname(dirname(mac.model('x')));
    const [image, there] = [`${folder}.image`, `${folder}.disk`];
    mkdirSync(there);
    execFileSync('truncate', ['-s', `${mebibytes}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', image]);
    execFileSync('mount', ['-o', 'loop', image, there]);
    execFileSync('cp', ['-a', `${folder}/.`, there]);
    execFileSync('umount', [there]);
    execFileSync('mount', ['-o', 'loop', image, folder]);
    unmount = () => void execFileSync('umount', ['-l', folder]);
    return folder;
  }

  it('stops without stopping the other Macs, and later fetches only the missing chunks', async () => {
    const { start, finish, mac, receivers, totalBytes } = await open({ topology: mesh(3) });
    const ballast = `${onOwnDisk(mac(2), 48)}/ballast`;
    writeFileSync(ballast, Buffer.alloc(26 * mebibyte));
    start();
    while (!mac(2).events.some((line) => line === 'full No space left on device')) await pause(20);
    await mac(2).kill();
    const had = count(mac(2).have());
    expect(had).toBeGreaterThan(4);
    await mac(3).complete();
    rmSync(ballast);
    mac(2).start();
    await finish();
    expectIdentical(receivers);
    expect(received(mac(2))).toBeLessThanOrEqual(totalBytes - (had - spare) * mebibyte);
  });
});

inTurn(2, 3)('chunks that were not flushed before a crash', () => {
  const damages: readonly (readonly [string, (mac: Mac) => number])[] = [
    ['garbled bytes', (mac) => garble(mac, 4)],
    ['a cut list of digests', (mac) => cut(mac, 'digests', 32 * (modelChunks - 3))],
    ['no durable list', (mac) => cut(mac, 'durable', 0)],
    ['half a durable list', (mac) => cut(mac, 'durable', 7)],
    ['a cut list of chunks', (mac) => cut(mac, 'have', 2)],
  ];

  it.each(damages)('are fetched again if they are wrong: %s', async (_, damage) => {
    const { start, finish, mac, receivers } = await open({ topology: mesh(2, { megabits: 100 }) });
    start();
    await mac(2).has(chunks / 2);
    await mac(2).kill();
    const had = count(mac(2).have());
    writeFileSync(mac(2).own('durable'), '');
    const lost = damage(mac(2));
    mac(2).start();
    await mac(2).has(had - lost);
    await finish();
    expectIdentical(receivers);
    expect(received(mac(2))).toBeLessThanOrEqual((modelChunks - had + lost + spare) * mebibyte);
  });

  function cut(mac: Mac, name: string, size: number): number {
    const bytes = existsSync(mac.own(name)) ? readFileSync(mac.own(name)) : Buffer.alloc(0);
    writeFileSync(mac.own(name), bytes.subarray(0, size));
    return 0;
  }

  /** Changes this many bytes in different chunks of the large file. */
  function garble(mac: Mac, many: number): number {
    const path = mac.own('data/3');
    if (!existsSync(path)) return 0;
    const bytes = readFileSync(path);
    for (let at = 0; at < many; at += 1) bytes.writeUInt8(bytes.readUInt8(at * mebibyte) ^ 1, at * mebibyte);
    writeFileSync(path, bytes);
    return many;
  }
});

inTurn(1, 3)('a chunk that is wrong', () => {
  /** Puts a proxy between a Mac and the first one, which changes this many chunks. Resolves to the changed numbers. */
  async function proxied(topology: Topology, through: number, most: number) {
    const own = '127.0.0.1';
    let far = '';
    let port = '';
    const planText = (plan: string, { self }: { readonly self: string }): string =>
      self === macName(through)
        ? plan.replace(/^peer studio-1 (\S+) (\S+)/mu, (_, address: string, number: string) => {
            [far, port] = [address, number];
            return `peer studio-1 ${own} ${number}`;
          })
        : plan;
    const opened = await open({ topology, planText });
    const proxy = opened.mac(through).perl(flippingProxy, [own, far, port, String(most)]);
    const changed: string[] = [];
    await new Promise<void>((resolve, reject) => {
      proxy.once('close', () => reject(new Error('the proxy did not start')));
      proxy.stdout?.on('data', (bytes: Buffer) => {
        changed.push(...bytes.toString().trim().split('\n'));
        resolve();
      });
    });
    return { ...opened, changed: (): readonly string[] => changed.filter((line) => line !== 'up') };
  }

  it('is fetched again if a bit was flipped in transit, and its source is named', async () => {
    const { start, finish, mac, receivers, changed, totalBytes } = await proxied(mesh(2), 2, 1);
    start();
    await finish();
    expectIdentical(receivers);
    expect(changed()).toHaveLength(1);
    expect(drops(mac(2))).toEqual([`drop studio-1 ${changed()[0]}`]);
    // The wrong one is not counted, and no other was fetched twice.
    expect(received(mac(2))).toBe(totalBytes);
  });

  it('takes its cable out of use after three occurrences', async () => {
    const { start, finish, mac, receivers, changed } = await proxied(mesh(3), 3, modelChunks);
    start();
    await finish();
    expectIdentical(receivers);
    expect(drops(mac(3))).toHaveLength(3);
    expect(changed().length).toBeLessThanOrEqual(4);
    expect(drops(mac(2))).toEqual([]);
    expect(received(mac(3), 1)).toBe(0);
  });

  it.each([1, 2])('is replaced if Mac %i of two has a wrong file, and that Mac is named', async (liar) => {
    const topology = mesh(3, { seeds: [1, 2] });
    const { start, finish, mac, totalBytes, receivers } = await open({ topology });
    // The chunks of a receiver come from both; which ones is not known before.
    const wrong = Buffer.from(big.bytes);
    for (let at = 0; at < big.bytes.length; at += mebibyte) wrong.writeUInt8(wrong.readUInt8(at) ^ 1, at);
    mac(liar).write(big.path, wrong);
    start();
    await finish();
    expectIdentical(receivers);
    const named = drops(mac(3));
    expect(new Set(named.map((line) => line.split(' ')[1]))).toEqual(new Set([macName(liar)]));
    expect(named.length).toBeLessThanOrEqual(3);
    expect(received(mac(3))).toBeLessThanOrEqual(totalBytes + 2 * big.bytes.length);
  });

  it('costs only one extra chunk if a relay has the wrong chunk from an earlier run', async () => {
    const { start, finish, mac, totalBytes } = await open({ topology: mesh(3) });
    const [number, at] = [12, 4 * mebibyte];
    const wrong = Buffer.alloc(mebibyte, 1);
    mkdirSync(mac(2).own('data'));
    writeFileSync(mac(2).own('data/3'), Buffer.concat([Buffer.alloc(at), wrong]));
    const digests = Buffer.alloc(32 * modelChunks);
    Buffer.from(sha256(wrong), 'hex').copy(digests, 32 * number);
    writeFileSync(mac(2).own('digests'), digests);
    start();
    await finish();
    expectIdentical([mac(2), mac(3)]);
    expect([drops(mac(2)), drops(mac(3))]).toEqual([[], [`drop studio-2 ${number}`]]);
    expect(received(mac(3))).toBeLessThanOrEqual(totalBytes + (1 + spare) * mebibyte);
  });
});

/** Connects to a Mac, sends text after its challenge, and prints the number of bytes that come then. */
const client = String.raw`use strict;
use IO::Socket::INET;
use Digest::SHA qw(hmac_sha256_hex);
my ($address, $port, $how, $key) = @ARGV;
$SIG{PIPE} = 'IGNORE';
my $proof;
for (1 .. ($how eq 'replay' ? 2 : 1)) {
  my $to = IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port) or die "$!\n";
  my ($challenge) = <$to> =~ /^meshwright 1 (\w+)$/ or die "no challenge\n";
  my $mine = 'ab' x 32;
  $proof //= hmac_sha256_hex("client studio-2 $challenge $mine", $key);
  my %sent = (
    garbage => "\0\377" x 5000,
    none => "have\nchunk 1\n",
    key => "studio-2 $mine " . hmac_sha256_hex("client studio-2 $challenge $mine", 'k' x 64) . "\nchunk 1\n",
    empty => "\n\n",
    replay => "studio-2 $mine $proof\nchunk 1\n",
  );
  syswrite $to, $sent{$how};
  my ($bytes, $got) = (0);
  while ($bytes < 100_000 && sysread $to, $got, 65536) { $bytes += length $got }
  print "$bytes\n";
}`;

inTurn(2, 3)('a Mac that serves a model', () => {
  it('sends nothing to clients without the key, and closes their connections', async () => {
    const { mac } = await open({ topology: mesh(2) });
    mac(1).start();
    await mac(1).has(modelChunks);
    const { plan, key } = mac(1);
    const ask = async (how: string): Promise<readonly number[]> => {
      const asked = mac(2).perl(client, [plan.listen[0] ?? '', String(plan.port), how, key]);
      return (await text(asked.stdout as NodeJS.ReadableStream)).trim().split('\n').map(Number);
    };
    const all = await Promise.all(['garbage', 'none', 'key', 'empty', 'replay'].map(ask));
    // The first answer of the replayed one was computed with the key.
    expect(all).toEqual([[0], [0], [0], [0], [expect.any(Number), 0]]);
    expect(all[4]?.[0]).toBeGreaterThan(100_000);
  });

  it('ends all its processes when its standard input closes', async () => {
    const { start, mac } = await open({ topology: mesh(3, { megabits: 20 }) });
    start();
    await mac(2).has(2);
    for (const one of [mac(1), mac(2), mac(3)]) {
      one.hangUp();
      await one.exited();
      expect(one.processes()).toEqual([]);
    }
  });

  it.each(moments(6))('leaves no process behind if its main process is killed at chunk %i', async (moment) => {
    const { start, mac } = await open({ topology: mesh(3, { megabits: 20 }) });
    start();
    await mac(2).has(moment);
    await Promise.all([mac(1).kill(), mac(2).kill(), mac(3).kill()]);
    const left = (): readonly number[] => [mac(1), mac(2), mac(3)].flatMap((one) => one.processes());
    await expect.poll(left).toEqual([]);
  });
});

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { measureTcpProgram, measureTcpWords } from '../../../../src/rack/cables/measure-tcp-script.ts';
import { until } from '../../../until.ts';

const folder = mkdtempSync(join(tmpdir(), 'mw-tcp-'));
const file = join(folder, 'measure-tcp.pl');
writeFileSync(file, measureTcpProgram);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const leadAddress = '127.0.0.1';
const followAddress = '127.0.0.2';

/** Runs a program with a clock that is fifty times as fast. */
const fastClock = `use Time::HiRes; my $clock = \\&Time::HiRes::clock_gettime; no warnings;
*Time::HiRes::clock_gettime = sub { return 50 * $clock->(@_) }; my $file = shift; do $file`;

interface EndOptions {
  readonly address?: string;
  readonly isFast?: boolean;
}

function startEnd(role: 'lead' | 'follow', seconds: number, { address, isFast = false }: EndOptions = {}) {
  const own = address ?? (role === 'lead' ? leadAddress : followAddress);
  const [perl = '', ...words] = measureTcpWords(file, own, role, seconds);
  const child: ChildProcessWithoutNullStreams = spawn(perl, [...(isFast ? ['-e', fastClock] : []), ...words]);
  const text = { out: '', err: '' };
  child.stdout.on('data', (bytes: Buffer) => {
    text.out += bytes.toString();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    text.err += bytes.toString();
  });
  // The program may have exited already.
  child.stdin.on('error', () => undefined);
  const lines = () => text.out.split('\n').slice(0, -1);
  const ended = once(child, 'close').then(([status]) => {
    expect(text.err).toBe('');
    return { status: status as number | null, lines: lines(), last: lines().at(-1) };
  });
  return {
    child,
    ended,
    say: (...said: readonly string[]) => child.stdin.write(said.map((line) => `${line}\n`).join('')),
    /** The first line with this word, once it was printed. */
    line: async (word: string) => {
      const found = () => lines().find((line) => line.split(' ')[0] === word);
      await until(() => found() !== undefined);
      return found() ?? '';
    },
    /** Passes what this program prints to a different one. */
    relayTo: (other: { readonly child: ChildProcessWithoutNullStreams }) => {
      other.child.stdin.write(text.out);
      child.stdout.on('data', (bytes: Buffer) => other.child.stdin.write(bytes));
      child.stdout.on('end', () => other.child.stdin.end());
    },
  };
}

function startPair(seconds: number) {
  const ends = [startEnd('lead', seconds), startEnd('follow', seconds)] as const;
  ends[0].relayTo(ends[1]);
  ends[1].relayTo(ends[0]);
  return ends;
}

const numbersAfter = (word: string, lines: readonly string[]): readonly number[] =>
  (lines.find((line) => line.startsWith(`${word} `)) ?? '').split(' ').slice(1).map(Number);

/** Connects to a leading end from this address. */
async function connectFrom(localAddress: string, lead: ReturnType<typeof startEnd>): Promise<Socket> {
  const port = Number((await lead.line('hello')).split(' ')[3]);
  return connect({ host: leadAddress, port, localAddress }).on('error', () => undefined);
}

describe("a cable's TCP test", () => {
  it('measures latency and both directions', async () => {
    const ends = await Promise.all(startPair(0.05).map((end) => end.ended));
    expect(ends.map(({ status }) => status)).toEqual([0, 0]);
    expect(ends.map(({ lines }) => lines.map((line) => line.split(' ')[0]).join(' '))).toEqual([
      'hello ready latency sent listening received done',
      'hello ready listening received sent done',
    ]);
    const [count = 0, lost, median = 0, p99 = 0, most = 0] = numbersAfter('latency', ends[0]?.lines ?? []);
    expect([count > 0, lost]).toEqual([true, 0]);
    expect([1, median, p99, most].toSorted((a, b) => a - b)).toEqual([1, median, p99, most]);
    for (const [at, { lines }] of ends.entries()) {
      const [messages = 0, bytes = 0, ns, wrong] = numbersAfter('received', lines);
      expect([messages, wrong]).toEqual([numbersAfter('sent', ends[1 - at]?.lines ?? [])[0], 0]);
      // Without the first piece.
      expect(bytes).toBeLessThan(messages * 65_536);
      expect(bytes).toBeGreaterThanOrEqual((messages - 1) * 65_536);
      expect(ns).toBeGreaterThan(0);
    }
  });

  it('closes a connection from a different address, and waits for the other end', async () => {
    const [lead, follow] = [startEnd('lead', 0.01), startEnd('follow', 0.01)];
    follow.relayTo(lead);
    await once(await connectFrom('127.0.0.3', lead), 'close');
    lead.relayTo(follow);
    expect([(await lead.ended).status, (await follow.ended).status]).toEqual([0, 0]);
  });

  it('counts wrong messages, and stops if the other end stops reading', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).pause();
      socket.write(Buffer.alloc(2 * 65_536));
    });
    await once(server.listen(0, leadAddress), 'listening');
    const follow = startEnd('follow', 60, { isFast: true });
    follow.say(
      `hello 2 ${leadAddress} ${(server.address() as AddressInfo).port}`,
      'ready',
      'latency 1 0 1 1 1',
      'sent 2 0',
    );
    follow.say('listening');
    const { status, lines, last } = await follow.ended;
    server.close();
    expect(numbersAfter('received', lines)).toEqual([2, expect.any(Number), expect.any(Number), 2]);
    expect([status, last]).toEqual([1, 'failed the other end reads nothing']);
  });

  it('fails if no message is answered, or if a reply is wrong', async () => {
    const lasts = [undefined, 'not the message '].map(async (answer) => {
      const lead = startEnd('lead', 60, { isFast: answer === undefined });
      lead.say(`hello 2 ${followAddress} 0`, 'ready');
      const socket = await connectFrom(followAddress, lead);
      if (answer !== undefined) socket.write(answer);
      const { last } = await lead.ended;
      socket.destroy();
      return last;
    });
    expect(await Promise.all(lasts)).toEqual([
      'failed no message arrived',
      'failed the other end sent a wrong message',
    ]);
  });

  it('ends at its deadline', async () => {
    const ends = [startEnd('lead', 0.01, { isFast: true }), startEnd('follow', 0.01, { isFast: true })];
    for (const end of await Promise.all(ends.map(({ ended }) => ended)))
      expect(end).toMatchObject({ status: 1, last: 'failed the time for the measurement is over' });
  });

  it.each([0, 1] as const)('fails if the other end is killed: end %i', async (killed) => {
    const ends = startPair(20);
    await Promise.all(ends.map((end) => end.line('ready')));
    ends[killed].child.kill('SIGKILL');
    const { status, last } = await ends[(1 - killed) as 0 | 1].ended;
    expect(status).toBe(1);
    expect(last).toMatch(/^failed (?:the other end (?:is gone|closed the connection)|read: .+|write: .+)$/);
  });

  it('ends when its input ends', async () => {
    const [lead, follow] = startPair(20);
    await lead.line('ready');
    lead.child.stdin.end();
    expect(await lead.ended).toMatchObject({ status: 1, last: 'failed the other end is gone' });
    expect((await follow.ended).status).toBe(1);
  });

  it.each(['TERM', 'INT', 'HUP'])('ends after SIG%s', async (signal) => {
    const [lead, follow] = startPair(20);
    await follow.line('ready');
    follow.child.kill(`SIG${signal}` as NodeJS.Signals);
    expect(await follow.ended).toMatchObject({ status: 1, last: `failed signal ${signal}` });
    expect((await lead.ended).status).toBe(1);
  });

  it.each([
    ['lead', 'hello 2 127.0.0.2 1', 'a wrong address'],
    ['lead', 'hello 2 127.0.0.256 0', 'a wrong address'],
    ['lead', 'hello 2 localhost 0', 'a wrong address'],
    ['lead', 'hello 1 1 2 5 00000000000000000000ffff0a4d0001', 'a wrong address'],
    ['lead', 'ready', 'an unexpected line'],
    ['lead', '\0'.repeat(600), 'an unexpected line'],
    ['follow', 'hello 2 127.0.0.1 0', 'a wrong address'],
    ['follow', 'hello 2 127.0.0.1 65536', 'a wrong address'],
    ['follow', 'hello', 'a wrong address'],
    ['follow', '', 'an unexpected line'],
  ] as const)("rejects the other end's first line: %s %s", async (role, line, what) => {
    const end = startEnd(role, 1);
    end.say(line);
    expect(await end.ended).toMatchObject({ status: 1, last: `failed the other end sent ${what}` });
  });

  it('reports the call that failed', async () => {
    const absent = startEnd('lead', 1, { address: '192.0.2.1' });
    expect(await absent.ended).toMatchObject({ status: 1, lines: [expect.stringMatching(/^failed bind: ./)] });
    const refused = startEnd('follow', 1);
    refused.say('hello 2 127.0.0.1 1');
    expect(await refused.ended).toMatchObject({ status: 1, last: expect.stringMatching(/^failed connect: ./) });
  });

  it.each([
    ['lead', 0, leadAddress, 'wrong arguments'],
    ['lead', 61, leadAddress, 'wrong arguments'],
    ['both', 1, leadAddress, 'wrong arguments'],
    ['lead', 1, 'localhost', 'the own address is wrong'],
  ])('rejects its arguments: %s %d %s', async (role, seconds, address, why) => {
    const { ended } = startEnd(role as 'lead', seconds, { address });
    expect(await ended).toMatchObject({ status: 1, lines: [`failed ${why}`] });
  });
});

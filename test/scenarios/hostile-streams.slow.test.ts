import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allProbes, factNames } from '../../src/engine/observe/facts.ts';
import { observationMaxBytes } from '../../src/node/observe-script.ts';
import {
  disconnectPacket,
  keyExchangePacket,
  plainPacket,
  pouring,
  signalling,
  startHostileNode,
} from '../hostile/hostile-node.ts';
import { everyPoison, harmIn, markFile } from '../hostile/poison.ts';
import { recordFrames, tokenIn } from '../hostile/recorded-frames.ts';
import { shared } from '../rack/kept-running.ts';
import { isThorough } from '../sample.ts';
import type { Faults } from '../sshd/fault-server.ts';
import { makeSshCase } from '../sshd/ssh-case.ts';
import { commandPlace } from './observe-command.ts';
import { observe, startExampleRack, timelessFacts, unknownFacts } from './observe-rack.ts';

/** `.ci/run` also tries the two other forms. */
const verbs: readonly (readonly string[])[] = [
  ['facts', '--json'],
  ['status'],
  ...(isThorough ? [['facts'], ['status', '--json']] : []),
];
const mebibyte = 2 ** 20;
const cap = observationMaxBytes(allProbes());
const rack = shared(() => startExampleRack());
const keys = makeSshCase('mesh');
let quietPeakBytes: number;

/** Bytes sent to a client that already ended: its ssh window and the buffers of the two kernels. */
const onItsWay = 16 * mebibyte;
/** The memory allowed for uncollected garbage. */
const memoryRoom = 128 * mebibyte;

beforeAll(async () => {
  const place = await commandPlace(rack.fleet.nodes, rack.fleet.userKey.path);
  const { peakBytes, code } = await place.run('facts', 'studio-1');
  expect(code).toBe(0);
  quietPeakBytes = peakBytes;
  await place.remove();
});
afterAll(() => keys.remove());

/** Writes the same bytes endlessly, as fast as they are read. */
function pourRaw(socket: Socket, piece: Buffer): void {
  const pour = (): void => {
    while (socket.writable && socket.write(piece));
    if (socket.writable) socket.once('drain', pour);
  };
  socket.resume();
  pour();
}

const ident = 'SSH-2.0-OpenSSH_9.8\r\n';
const lines = Buffer.from(`${'x'.repeat(79)}\n`.repeat(800));

/** The behavior of a node on the wire, the code of the reported failure, and the arguments of the command. */
interface Row {
  readonly faults: Faults;
  readonly code: string;
  readonly words?: readonly string[];
  /** True if the node sends endlessly and must not be read until the deadline. */
  readonly isEndless?: true;
}

/** The documented result of everything that can happen around the frames. `facts` and `status` both exit with 1. */
const table: Readonly<Record<string, Row>> = {
  'prints endless lines': { faults: { onExec: pouring(lines) }, code: 'fact/too-much-output', isEndless: true },
  'prints one endless line': {
    faults: { onExec: pouring(Buffer.alloc(65_536, 'x')) },
    code: 'fact/too-much-output',
    isEndless: true,
  },
  'prints endlessly on stderr': {
    faults: { onExec: pouring(Buffer.from(everyPoison.repeat(40)), 'stderr') },
    code: 'fact/too-much-output',
    isEndless: true,
  },
  'sends an endless greeting': {
    faults: { onSocket: (socket) => pourRaw(socket, lines) },
    code: 'ssh/not-ssh',
    isEndless: true,
  },
  'sends an endless line as its greeting': {
    faults: { onSocket: (socket) => pourRaw(socket, Buffer.alloc(65_536, 'x')) },
    code: 'ssh/not-ssh',
    isEndless: true,
  },
  'sends poison as its greeting and hangs up': {
    faults: { onSocket: (socket) => socket.end(`${everyPoison}\r\n`) },
    code: 'ssh/not-ssh',
  },
  // Each packet is read and dropped. The deadline ends this, and the memory does not grow.
  'sends endless meaningless packets': {
    faults: {
      onSocket: (socket) => {
        socket.write(ident);
        pourRaw(socket, plainPacket(Buffer.concat([Buffer.from([2, 0, 0, 0x40, 0]), Buffer.alloc(0x4000, 'x')])));
      },
    },
    words: ['--deadline', '2s'],
    code: 'ssh/timed-out',
  },
  'identifies itself with poison': {
    faults: { onSocket: (socket) => socket.end(`SSH-2.0-${everyPoison.replaceAll(/[\r\n]/g, ' ').slice(0, 200)}\r\n`) },
    code: 'ssh/dropped',
  },
  'disconnects with poison as the reason': {
    faults: { onSocket: (socket) => socket.end(Buffer.concat([Buffer.from(ident), disconnectPacket(everyPoison)])) },
    code: 'ssh/dropped',
  },
  'offers only algorithms with poison as names': {
    faults: { onSocket: (socket) => socket.end(Buffer.concat([Buffer.from(ident), keyExchangePacket(everyPoison)])) },
    code: 'ssh/no-common-algorithm',
  },
  'refuses the login with poison as the banner': {
    faults: {
      banner: everyPoison,
      onAuth: (context) => context.reject(['password', everyPoison.slice(0, 60)] as never),
    },
    code: 'ssh/authentication-failed',
  },
  'runs nothing and prints poison': {
    faults: {
      onExec: ({ channel }) => {
        channel.write(everyPoison);
        channel.stderr.write(everyPoison);
        channel.exit(0);
        channel.end();
      },
    },
    code: 'fact/no-frames',
  },
  'ends the command with a signal named poison': {
    faults: { onExec: signalling(everyPoison, everyPoison) },
    code: 'fact/no-frames',
  },
  'closes the channel without an exit code': {
    faults: { onExec: ({ channel }) => channel.close() },
    code: 'ssh/exit-unknown',
  },
  'cuts the connection instead of answering': {
    faults: { onExec: ({ socket }) => socket.destroy() },
    code: 'ssh/dropped',
  },
  'accepts the command and never ends it': {
    faults: { onExec: ({ channel }) => channel.write('wait ...\n') },
    words: ['--deadline', '2s'],
    code: 'ssh/timed-out',
  },
};

// Rows that last until a deadline run last and in parallel.
const isWaitedFor = ([, { words }]: readonly [string, Row]): boolean => words !== undefined;
const rows = Object.entries(table);

/** Expects that the command reports the documented failure of one node. */
async function expectFailure(_: string, { faults, code, words = [], isEndless }: Row): Promise<void> {
  const node = await startHostileNode(keys.host, faults);
  const place = await commandPlace({ 'studio-1': node.run }, rack.fleet.userKey.path);
  try {
    const printed = await Promise.all(verbs.map((verb) => place.run(...words, ...verb, 'studio-1')));
    for (const one of printed) {
      expect(harmIn(one.stdout)).toEqual([]);
      expect(harmIn(one.stderr)).toEqual([]);
      expect(one.peakBytes - quietPeakBytes).toBeLessThan(memoryRoom);
    }
    expect(printed.map((one) => one.code)).toEqual(verbs.map(() => 1));
    const answer = JSON.parse(printed[0]?.stdout ?? '') as {
      readonly diagnostics: readonly { readonly code: string }[];
    };
    expect(answer.diagnostics.map((one) => one.code)).toEqual([code]);
    expect(node.connections()).toBe(verbs.length);
    if (isEndless) expect(node.sentBytes()).toBeLessThan(verbs.length * (cap + onItsWay));
    expect(existsSync(join(place.folder, markFile))).toBe(false);
  } finally {
    await node.stop();
    await place.remove();
  }
}

describe('a hostile node', () => {
  it.each(rows.filter((row) => !isWaitedFor(row)))(
    'fails with the documented code and harms nothing when it %s',
    expectFailure,
  );
  it.concurrent.each(rows.filter(isWaitedFor))(
    'fails with the documented code and harms nothing when it %s',
    expectFailure,
  );
});

describe('the output of a command on a hostile node', () => {
  it("is shown after the node's name, escaped, and complete in JSON", async () => {
    const node = await startHostileNode(keys.host, {
      onExec: ({ channel }) => {
        channel.write(everyPoison);
        channel.stderr.write(everyPoison);
        channel.exit(3);
        channel.end();
      },
    });
    const place = await commandPlace({ 'studio-1': node.run }, rack.fleet.userKey.path);
    const text = await place.run('exec', 'studio-1', '--', 'true');
    const json = await place.run('exec', 'studio-1', '--json', '--', 'true');
    await node.stop();
    await place.remove();
    expect([text.code, json.code]).toEqual([1, 1]);
    for (const one of [text.stdout, text.stderr, json.stdout, json.stderr]) expect(harmIn(one)).toEqual([]);
    for (const line of text.stdout.trimEnd().split('\n')) expect(line).toMatch(/^(?:simulated )?studio-1 \| /);
    expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(everyPoison).slice(1, -1));
  });
});

describe('an observation that is cut over real SSH', () => {
  const phases = [0, 0.05, 0.3, 0.5, 0.8, 0.999];

  const token = '0123456789abcdef0123456789abcdef';
  let whole: Readonly<Record<string, unknown>>;
  let text: string;
  beforeAll(async () => {
    whole = timelessFacts(await observe([rack.way('studio-1')]), 'studio-1');
    text = (await recordFrames(rack.way('studio-1'), token)).bytes.toString('latin1');
  });

  it.each(phases)('keeps only the complete facts when truncated after a fraction of %d', async (share) => {
    const node = await startHostileNode(keys.host, {
      onExec: ({ channel, command, socket }) => {
        const mine = Buffer.from(text.replaceAll(token, tokenIn(command)), 'latin1');
        channel.write(mine.subarray(0, Math.floor(mine.length * share)));
        // By then, earlier bytes have been sent, and the socket closes normally.
        setImmediate(() => socket.end());
      },
    });
    const observed = await observe([node.way(rack, 'studio-1')]);
    await node.stop();
    expect(observed.failures['studio-1']?.map(({ code }) => code)).toEqual(['ssh/dropped']);
    const unknown = unknownFacts(observed, 'studio-1');
    expect(new Set(Object.values(unknown))).toEqual(new Set(['truncated']));
    const known = Object.entries(timelessFacts(observed, 'studio-1')).filter(([name]) => !(name in unknown));
    expect(whole).toMatchObject(Object.fromEntries(known));
    if (share === 0) expect(Object.keys(unknown)).toHaveLength(factNames.length);
  });
});

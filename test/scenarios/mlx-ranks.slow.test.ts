import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { longestWaitMs, until } from '../until.ts';
import {
  coordinator,
  deviceTowards,
  endpoint,
  fullMatrix,
  type MlxBench,
  openBench,
  openRack,
  type RackOptions,
  type RankRack,
  ringAddress,
  type StartedRank,
} from './mlx-ranks.ts';

let bench: MlxBench;
let rack: RankRack;
beforeAll(async () => {
  bench = await openBench();
});
afterEach(() => rack.close());
afterAll(() => bench.remove());

const says = (rank: StartedRank | undefined, text: string): Promise<void> =>
  expect.poll(() => rank?.log()).toContain(text);

/** Starts all ranks, one after the other. */
async function startAll(options: RackOptions): Promise<readonly StartedRank[]> {
  rack = await openRack(bench, options);
  const ranks = Array.from({ length: options.size }, (_, rank) => rack.start(rank));
  await Promise.all(ranks.map((rank) => says(rank, `group of ${options.size} ranks`)));
  await says(ranks[0], 'Starting httpd');
  return ranks;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask(more: Readonly<Record<string, unknown>> = {}, deadlineMs = longestWaitMs): Promise<Answer> {
  const response = await fetch(`http://${rack.place(endpoint)}/v1/chat/completions`, {
    method: 'POST',
    signal: AbortSignal.timeout(deadlineMs),
    body: JSON.stringify({ model: 'default_model', messages: [{ role: 'user', content: 'Who is there?' }], ...more }),
  });
  const answer = JSON.parse(await response.text());
  return { status: response.status, text: String(answer.choices?.[0].message.content ?? answer.error) };
}

const healthStatus = async (): Promise<number> => (await fetch(`http://${rack.place(endpoint)}/health`)).status;

/** Expects no answer, while the health endpoint still reports success. */
async function expectHung(): Promise<void> {
  await expect(ask({}, 700)).rejects.toThrow();
  expect(await healthStatus()).toBe(200);
}

const digest = /^[0-9a-f]{64}$/;

describe('the ranks of the mlx double', () => {
  it.each([
    [2, 'jaccl'],
    [4, 'jaccl'],
    [2, 'ring'],
    [3, 'ring'],
  ] as const)('agree on one answer with %i ranks over %s', async (size, backend) => {
    await startAll({ size, backend });
    const whole = await ask();
    expect(whole).toEqual({ status: 200, text: expect.stringMatching(digest) });
    expect(await ask()).toEqual(whole);
    expect(await ask({ max_tokens: 1 })).toEqual({ status: 200, text: whole.text.slice(0, 8) });
    await rack.put(1, 'model/config.json', '{"model_type": "other"}');
    expect((await ask()).text).not.toBe(whole.text);
  });

  it('stream the same answer', async () => {
    await startAll({ size: 2 });
    const { text } = await ask();
    const response = await fetch(`http://${rack.place(endpoint)}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Who is there?' }], stream: true }),
    });
    const parts = [...(await response.text()).matchAll(/"content":"([0-9a-f]{8})"/g)].map(([, part]) => part);
    expect([parts.length, parts.join('')]).toEqual([8, text]);
  });

  it('refuse other model names, and list the accepted path only if there is a cache folder', async () => {
    await startAll({ size: 2 });
    expect((await ask({ model: 'tiny' })).status).toBe(404);
    const list = async () => (await fetch(`http://${rack.place(endpoint)}/v1/models`)).json();
    const { data } = (await list()) as { readonly data: readonly { readonly id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([expect.stringMatching(/^\/.*model$/)]);
    expect((await ask({ model: data[0]?.id })).status).toBe(200);
    await rack.close();
    rack = await openRack(bench, { size: 1, backend: 'alone' });
    await says(rack.start(0, { env: { HF_HUB_CACHE: '/no/such/folder' } }), 'Starting httpd');
    await expect(list()).rejects.toThrow();
  });

  it.each([1, 2])('hang when rank %d is gone, ignore TERM, and report good health', async (lost) => {
    const ranks = await startAll({ size: 3 });
    ranks[lost]?.process.kill('SIGKILL');
    await ranks[lost]?.ended;
    await expectHung();
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    const others = ranks.filter((_, rank) => rank !== lost);
    for (const rank of others) rank.process.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(others.map(({ process: child }) => child.exitCode)).toEqual([null, null]);
    expect(await healthStatus()).toBe(200);
  });

  it('refuse every request when a rank of their ring is gone, and log why', async () => {
    const ranks = await startAll({ size: 3, backend: 'ring' });
    ranks[2]?.process.kill('SIGKILL');
    await says(ranks[0], 'ERROR - mlx_lm.server generation thread died: [ring] connection to a peer was lost');
    expect(await ask()).toEqual({ status: 404, text: 'generation thread died' });
    expect(await healthStatus()).toBe(503);
    await ranks[1]?.ended;
    expect(ranks[1]?.process.signalCode).toBe('SIGABRT');
    ranks[0]?.process.kill('SIGTERM');
    await ranks[0]?.ended;
  });

  it('refuse every request if rank 0 cannot read its model', async () => {
    rack = await openRack(bench, { size: 2 });
    const [leader] = [rack.start(0, { words: ['--model', '/nowhere'] }), rack.start(1)];
    await says(leader, 'Starting httpd');
    expect(await ask()).toEqual({ status: 404, text: 'generation thread died' });
    await says(leader, "generation thread died: [Errno 2] No such file or directory: '");
  });

  it('hang when a cable loses its data', async () => {
    await startAll({ size: 2 });
    await rack.put(1, 'rdma-cables', `${deviceTowards(1, 0)} 10.77.1.0 active mac-1 - -\n`);
    await expectHung();
  });
});

/** The exit code and the last line of one rank, with all ranks started in parallel. */
async function failing(options: RackOptions, of: number, prepare: () => Promise<void> | void = () => undefined) {
  rack = await openRack(bench, options);
  await prepare();
  const ranks = Array.from({ length: options.size }, (_, rank) => rack.start(rank));
  const one = ranks[of];
  const code = await one?.ended;
  return { code, last: one?.log().trimEnd().split('\n').at(-1) };
}

describe('a start of the mlx double', () => {
  it('fails on all ranks if a device in the matrix is missing on its Mac', async () => {
    const matrix = fullMatrix(3);
    if (matrix[1]) matrix[1][2] = 'rdma_en12';
    const { code, last } = await failing({ size: 3, matrix }, 1);
    expect([code, last]).toEqual([1, 'RuntimeError: [jaccl] Could not find device rdma_en12 (2 available)']);
    expect(await rack.ranks[0]?.ended).toBe(1);
    expect(rack.ranks[0]?.log()).toContain('[jaccl] Recv failed with errno=2');
  });

  it('fails with errno 60 if a row names the cable to a different rank', async () => {
    const matrix = fullMatrix(3);
    matrix[0] = [null, deviceTowards(0, 2), deviceTowards(0, 1)];
    const { code, last } = await failing({ size: 3, matrix }, 0);
    expect([code, last]).toEqual([1, 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 60']);
  });

  it.each([
    ['a cable has no address', '-', 1],
    ['the GID of its address is at index 2', '10.77.0.1', 2],
  ])('fails with errno 22 if %s', async (_, address, index) => {
    const line = `${deviceTowards(0, 1)} ${address} active mac-0 mac-1 ${deviceTowards(1, 0)} ${index}\n`;
    const { last } = await failing({ size: 2 }, 0, () => rack.put(0, 'rdma-cables', line));
    expect(last).toBe('ValueError: [jaccl] Changing queue pair to RTR failed with errno 22');
  });

  it.each([
    ['alloc_pd 12', "RuntimeError: [jaccl] Couldn't allocate protection domain"],
    ['create_qp 16', "RuntimeError: [jaccl] Creating the queue pair failed with 'Resource busy (16)'."],
    ['rtr 22', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 22'],
  ])('fails like the verbs library: %s', async (call, expected) => {
    const { code, last } = await failing({ size: 2 }, 1, () => rack.put(1, 'verbs', `${call}\n`));
    expect([code, last]).toEqual([1, expected]);
  });

  it('fails if a port is down', async () => {
    const { last } = await failing({ size: 2 }, 1, () =>
      rack.put(1, 'rdma-cables', `${deviceTowards(1, 0)} 10.77.1.0 down mac-1 - -\n`),
    );
    expect(last).toBe("RuntimeError: [jaccl] Couldn't allocate protection domain");
  });

  it.each([
    ['a row too short', [[null, 'rdma_en3'], [null]], 'contain the connectivity of each rank'],
    [
      'a cable missing',
      [
        [null, 'rdma_en3', null],
        ['rdma_en9', null, 'rdma_en3'],
        [null, 'rdma_en9', null],
      ],
      'You need to provide via environment',
    ],
    ['an object instead of a list', { hosts: [] }, 'The device file should start with an array'],
  ])('refuses a matrix with %s', async (_, matrix, expected) => {
    const { code, last } = await failing({ size: 3, matrix }, 0);
    expect([code, last]).toEqual([1, expect.stringContaining(expected)]);
  });

  it.each(['MLX_IBV_DEVICES', 'MLX_JACCL_COORDINATOR'])(
    'needs %s, because the double initializes its group in strict mode',
    async (name) => {
      rack = await openRack(bench, { size: 2 });
      const rank = rack.start(1, { env: { [name]: undefined } });
      expect(await rank.ended).toBe(1);
      expect(rank.log()).toContain('You need to provide via environment variables');
    },
  );

  it('gives up without its leader after four tries within fifteen seconds', async () => {
    rack = await openRack(bench, { size: 2, clock: 0.1 });
    const rank = rack.start(1);
    expect(await rank.ended).toBe(1);
    const waits = [...rank.log().matchAll(/Connection attempt \d waiting (\d+) ms/g)].map(([, ms]) => Number(ms));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(rank.log()).toContain("Couldn't connect (error: 61)");
  });

  it('waits forever as the leader for a missing rank', async () => {
    rack = await openRack(bench, { size: 3 });
    const ranks = [0, 1].map((rank) => rack.start(rank));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(ranks.map(({ process: child }) => child.exitCode)).toEqual([null, null]);
    expect(ranks[0]?.log()).toBe('');
  });

  it('is broken by a connection to the coordinator that sends nothing', async () => {
    rack = await openRack(bench, { size: 3 });
    const leader = rack.start(0);
    const [host = '', port = ''] = rack.place(coordinator).split(':');
    const isReached = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), host, () => resolve(true));
        socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
      });
    await until(isReached);
    rack.start(1);
    expect(await leader.ended).toBe(1);
    expect(leader.log()).toContain('[jaccl] Recv failed with errno=');
  });

  it('connects only neighbors if the ring is set', async () => {
    const near = (rank: number, other: number): boolean => [1, 3].includes((other - rank + 4) % 4);
    const rows = fullMatrix(4).map((row, rank) => row.map((device, other) => (near(rank, other) ? [device] : null)));
    rack = await openRack(bench, { size: 4, matrix: rows });
    const ranks = [0, 1, 2, 3].map((rank) => rack.start(rank, { env: { MLX_JACCL_RING: '1' } }));
    await says(ranks[0], 'Starting httpd');
    expect((await ask()).status).toBe(200);
  });

  it('waits half a minute for its neighbor over sockets and then gives up', async () => {
    rack = await openRack(bench, { size: 2, backend: 'ring', clock: 0.1 });
    await rack.put(1, 'hosts.json', JSON.stringify([['10.9.9.9:1'], [ringAddress(1)]]));
    const rank = rack.start(1);
    expect(await rank.ended).toBe(1);
    expect(rank.log().match(/waiting/g)).toHaveLength(5);
  });

  it('refuses an option that the server does not have', async () => {
    rack = await openRack(bench, { size: 1, matrix: [[null]] });
    const rank = rack.start(0, { words: ['--fit', 'off'] });
    expect([await rank.ended, rank.log()]).toEqual([1, expect.stringContaining('You need to provide')]);
  });
});

describe('the uv double', () => {
  it.each([
    [['python', 'install', '3.12'], 'without --no-bin, uv writes into ~/.local/bin'],
    [['python', 'install', '--no-bin', '2.7'], 'No download found'],
    [['venv', '--python', '3.13', '/tmp/never'], 'No interpreter found for Python 3.13'],
    [['pip', 'install', 'mlx'], 'unrecognized subcommand'],
    [['pip', 'sync', '--python', 'x/bin/python', 'list'], 'without --require-hashes, packages are not verified'],
    [['pip', 'sync', '--require-hashes', '--upgrade', 'list'], "unexpected argument '--upgrade' found"],
  ])('refuses %j', async (words, expected) => {
    rack = await openRack(bench, { size: 1, backend: 'alone' });
    const { status, error } = bench.uv(words);
    expect([status, error]).toEqual([2, expect.stringContaining(expected)]);
  });

  it('needs UV_NO_CONFIG, so that no other configuration file is used', async () => {
    rack = await openRack(bench, { size: 1, backend: 'alone' });
    expect(bench.uv(['--version'], {})).toEqual({ status: 2, error: 'error: UV_NO_CONFIG is not 1' });
  });
});

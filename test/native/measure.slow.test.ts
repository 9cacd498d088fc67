import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProbe, type FakeDevice, hasCompiler } from './fake-verbs.ts';
import {
  healthyEnd,
  type MeasuredEnd,
  measurePair,
  numbersAfter,
  type PairOptions,
  startEnd,
} from './measured-pair.ts';

const isHere = hasCompiler();
let built: ReturnType<typeof buildProbe>;
beforeAll(() => {
  if (isHere) built = buildProbe();
});
afterAll(() => {
  if (isHere) built.remove();
});

const kinds = ['lists', 'contexts', 'protectionDomains', 'memoryRegions', 'completionQueues', 'queuePairs'];

/** An end that has given everything back, without a finding of a sanitizer. */
const expectClean = ({ counts, stderr }: MeasuredEnd): void => {
  expect(stderr).toBe('');
  for (const kind of kinds) expect([kind, counts?.[kind]?.open]).toEqual([kind, 0]);
};

describe.skipIf(!isHere)('the native link test', () => {
  const measure = async (set: FakeDevice['set'] = {}, options: PairOptions = {}, other: FakeDevice['set'] = {}) => {
    const ends = await measurePair(built.folder, [healthyEnd(0, set), healthyEnd(1, other)], options);
    for (const end of ends) if (end.status !== null) expectClean(end);
    return ends;
  };

  it('measures latency and both directions, and releases its resources', async () => {
    const ends = await measure();
    for (const end of ends) {
      expect(end).toMatchObject({ status: 0, stderr: '' });
      const [messages = 0, bytes, ns, wrong] = numbersAfter('received', end);
      expect(messages).toBeGreaterThan(1);
      expect([bytes, wrong]).toEqual([(messages - 1) * 65_536, 0]);
      expect(ns).toBeGreaterThan(0);
      for (const kind of kinds) expect([kind, end.counts?.[kind]]).toEqual([kind, { opened: 1, open: 0 }]);
    }
    const [count = 0, , median = 0, p99 = 0, most = 0] = numbersAfter('latency', ends[0]);
    expect(count).toBeGreaterThan(0);
    expect([0, median, p99, most].toSorted((a, b) => a - b)).toEqual([0, median, p99, most]);
    const words = ends.map(({ lines }) => lines.map((line) => line.split(' ')[0]).join(' '));
    expect(words).toEqual([
      'hello ready latency sent listening received done',
      'hello ready listening received sent done',
    ]);
    // Each end sent at least what the other one received.
    for (const [at, end] of ends.entries())
      expect(numbersAfter('sent', end)[0]).toBeGreaterThanOrEqual(
        numbersAfter('received', ends[1 - at] as MeasuredEnd)[0] ?? 0,
      );
  });

  it('shows a slow cable in its latency and its bandwidth', async () => {
    const [lead, follow] = await measure({ delay_us: 300, rate_mbit: 400 }, { seconds: 0.2 }, { delay_us: 300 });
    expect(numbersAfter('latency', lead)[2]).toBeGreaterThanOrEqual(300_000);
    const [, bytes = 0, ns = 1] = numbersAfter('received', follow);
    expect((8e3 * bytes) / ns).toBeLessThan(440);
  });

  it('continues after lost messages, and counts wrong messages', async () => {
    const [lead, follow] = await measure({ lose_every: 3 }, { seconds: 0.2 }, { flip_every: 5 });
    expect([lead.status, follow.status]).toEqual([0, 0]);
    expect(numbersAfter('latency', lead)[1]).toBeGreaterThan(0);
    expect(numbersAfter('received', follow)[3]).toBe(0);
    expect(numbersAfter('received', lead)[3]).toBeGreaterThan(0);
  });

  it('fails if the cable carries nothing', async () => {
    const [lead, follow] = await measure({ lose_every: 1 }, { seconds: 5 });
    expect([lead.status, follow.status]).toEqual([1, 1]);
    expect(lead.lines.at(-1)).toBe('failed no message arrived');
    expect(follow.lines.at(-1)).toBe('failed the other end failed');
  });

  it.each([
    { set: { alloc_pd_error: 12 }, why: 'ibv_alloc_pd failed with error 12' },
    { set: { reg_mr_error: 12 }, why: 'ibv_reg_mr failed with error 12' },
    { set: { create_cq_error: 12 }, why: 'ibv_create_cq failed with error 12' },
    { set: { create_qp_error: 16 }, why: 'ibv_create_qp failed with error 16' },
    { set: { init_error: 22 }, why: 'ibv_modify_qp to INIT failed with error 22' },
    { set: { rtr_error: 60 }, why: 'ibv_modify_qp to RTR failed with error 60' },
    { set: { rts_error: 96 }, why: 'ibv_modify_qp to RTS failed with error 96' },
    { set: { post_recv_error: 12 }, why: 'ibv_post_recv failed with error 12' },
    { set: { post_send_error: 12 }, why: 'ibv_post_send failed with error 12' },
    { set: { send_status: 5 }, why: 'a work request failed with status 5' },
    { set: { poll_error: 5 }, why: /^failed ibv_poll_cq failed/ },
    { set: { state: 1 }, why: 'the port is not active' },
    { set: { open_error: 16 }, why: 'ibv_open_device failed with error 16' },
  ])('names the call that failed, and releases everything else: $why', async ({ set, why }) => {
    const [lead, follow] = await measure(set);
    expect(lead).toMatchObject({ status: 1 });
    expect(lead.lines.at(-1)).toEqual(typeof why === 'string' ? `failed ${why}` : expect.stringMatching(why));
    expect(follow).toMatchObject({ status: 1 });
    expect(follow.lines.at(-1)).toMatch(/^failed the other end (failed|is gone)$/);
  });

  it('reports objects that the driver does not release', async () => {
    const [end] = await measurePair(built.folder, [healthyEnd(0, { destroy_qp_error: 16 }), healthyEnd(1)]);
    expect(end.status).toBe(1);
    expect(end.lines).toContain('left ibv_destroy_qp failed with error 16');
    expect(end.counts?.['queuePairs']).toEqual({ opened: 1, open: 1 });
  });

  it('fails for a GID that is not IPv4-mapped, and for a missing device', async () => {
    const gids = new Map([[1, Buffer.from(`fe80${'0'.repeat(27)}1`, 'hex')]]);
    const end = await startEnd(built.folder, { ...healthyEnd(0), gids }, 'lead').ended;
    expect([end.status, end.lines]).toEqual([1, ['failed the GID is not IPv4-mapped']]);
    expectClean(end);
    const env = { MESHWRIGHT_VERBS_LIBRARY: join(built.folder, 'fake-verbs.so'), MESHWRIGHT_FAKE_VERBS: '/dev/null' };
    const { stdout, status } = built.run(env, 'measure', 'rdma_en9', '1', 'lead', '1');
    expect([status, stdout]).toEqual([1, 'failed there is no device with this name\n']);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('releases everything after %s', async (signal) => {
    const act: PairOptions['at'] = ['ready', ([lead]) => lead.kill(signal)];
    const [lead, follow] = await measure({}, { seconds: 5, at: act });
    expect(lead).toMatchObject({ status: 1 });
    expect(lead.lines.at(-1)).toMatch(/^failed signal \d+$/);
    expect(follow.status).toBe(1);
  });

  it('releases everything if the other end is killed', async () => {
    for (const killed of [0, 1] as const) {
      const act: PairOptions['at'] = ['ready', (programs) => programs[killed].kill('SIGKILL')];
      const ends = await measure({}, { seconds: 5, at: act });
      expect(ends.map(({ status }) => status)).toEqual(killed === 0 ? [null, 1] : [1, null]);
    }
  });

  it('rejects invalid addresses and lines from the other end', async () => {
    const word = fc.constantFrom(
      'hello',
      'hello 1',
      'ready',
      'done',
      'failed',
      'latency',
      '1',
      '16777216',
      '5',
      'f'.repeat(32),
    );
    const line = fc.oneof(
      fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 4 }), async (lines) => {
        const { program, ended } = startEnd(built.folder, healthyEnd(0), 'follow');
        program.stdin.end(`${lines.join('\n')}\n${'x'.repeat(lines.length * 300)}`);
        const end = await ended;
        expect(end.status).toBe(1);
        expect(end.lines.at(-1)).toMatch(/^failed /);
        expectClean(end);
      }),
      { numRuns: 25 },
    );
  });
});

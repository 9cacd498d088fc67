import { describe, expect, it } from 'vitest';
import { type CableRating, enoughSources, ratingsFor } from '../../../../src/engine/cables/cable-ratings.ts';
import {
  cableVerdict,
  measuredCable,
  readTransport,
  type TestedCable,
  type Transport,
} from '../../../../src/engine/cables/link-test.ts';
import { nodeName } from '../../../../src/model/node.ts';

const lead = ['hello 1 1 2 5 00', 'ready', 'latency 900 1 25500 40000 90000', 'sent 1000 0', 'listening'];
const follow = ['hello 1 1 2 5 01', 'ready', 'listening', 'received 998 65404928 8125000 0', 'sent 500 0'];
const end = (lines: readonly string[], ending = 'exit 1') => ({ stdout: `${lines.join('\n')}\n`, ending });
const whole = [end([...lead, 'received 500 32702464 4000000 2', 'done']), end([...follow, 'done'])] as const;

const impossible = ['latency 1 0 9 9 -1', 'sent 1 0', 'received 1 1 1 0'];
const stays = 'ibv_dealloc_pd failed with error 16';

describe('readTransport', () => {
  it('combines the lines of both ends', () => {
    expect(readTransport(whole)).toEqual({
      kind: 'measured',
      result: {
        ...{ samples: 900, lost: 1, medianNs: 25_500, p99Ns: 40_000, maxNs: 90_000 },
        ...{ bytesPerSecond: [8_049_837_292, 8_175_616_000], missing: 2, wrong: 2 },
      },
    });
  });

  it.each([
    ['no message arrived', true],
    ['ibv_modify_qp to RTR failed with error 60', true],
    ['the port is not active', true],
    ['a work request failed with status 12', true],
    ['connect: Operation timed out', true],
    ['connect: No route to host', true],
    ['connect: Connection refused', false],
    ['ibv_alloc_pd failed with error 12', false],
    ['signal 15', false],
  ])('reads "failed %s", and decides whether the cable is the cause: %s', (reason, isBroken) => {
    const ends = [end([...lead, `failed ${reason}`]), end([...follow, 'failed the other end failed'])] as const;
    expect(readTransport(ends)).toEqual({ kind: 'failed', isBroken, reason });
    expect(readTransport([ends[1], ends[0]])).toEqual({ kind: 'failed', isBroken, reason });
  });

  it.each([
    ['without a last line', end(lead, 'the connection was lost'), 'the connection was lost'],
    ['that prints nothing', { stdout: '', ending: 'exit 127' }, 'exit 127'],
    ['that prints a whole line twice', end([...lead, ...lead, 'done']), 'an end printed no result'],
    ['with an impossible number', end([...impossible, 'done']), 'an end printed no result'],
    ['with an object that stays', end([...lead, `left ${stays}`, 'done']), `not given back: ${stays}`],
  ])('does not accept an end %s as a measurement', (_, broken, reason) => {
    expect(readTransport([broken, whole[1]])).toEqual({ kind: 'failed', isBroken: false, reason });
  });

  it.each([
    'librdma.dylib: cannot open shared object file: No such file or directory; libibverbs.so.1: cannot open shared object',
    "dlopen(librdma.dylib, 0x0006): tried: 'librdma.dylib' (no such file)",
  ])('reports a missing RDMA library in one sentence: %s', (words) => {
    const ends = [end([`failed ${words}`]), end(['failed the other end failed'])] as const;
    expect(readTransport(ends)).toEqual({
      kind: 'failed',
      isBroken: false,
      reason: 'no RDMA library was found (macOS 26.2 or later has it; simulated Macs: npm run native)',
    });
  });

  it('does not blame the cable if an end vanished', () => {
    const told = end([...lead, 'failed no message arrived']);
    const gone = end(follow, 'the connection was lost');
    const unknown = { kind: 'failed', isBroken: false, reason: 'the connection was lost' };
    expect(readTransport([told, gone])).toEqual(unknown);
    expect(readTransport([gone, told])).toEqual(unknown);
  });

  it.each(['1001 65404928 8125000', '998 0 8125000', '998 65404928 0'])('rejects received counts: %s', (received) => {
    const lying = end([...follow.slice(0, 3), `received ${received} 0`, 'sent 500 0', 'done']);
    const reason = 'an end printed no result';
    expect(readTransport([whole[0], lying])).toEqual({ kind: 'failed', isBroken: false, reason });
  });
});

const measured = (medianNs: number, rate: number): Transport => ({
  kind: 'measured',
  result: {
    ...{ samples: 9, lost: 0, medianNs, p99Ns: medianNs, maxNs: medianNs },
    ...{ bytesPerSecond: [rate, 9e9], missing: 0, wrong: 0 },
  },
});
const failed = (isBroken: boolean): Transport => ({ kind: 'failed', isBroken, reason: 'why' });
const macs = [1, 2].map(() => ({ model: 'Mac16,11', macos: '26.5' }));
const cable = (rdma: Transport, tcp: Transport = measured(300_000, 3e9)): TestedCable => ({
  ends: [
    { node: nodeName('a'), receptacle: 1 },
    { node: nodeName('b'), receptacle: 2 },
  ],
  ...{ macs, rdma, tcp },
});

describe('cableVerdict', () => {
  it.each([
    ['unrated', cable(measured(25_000, 8e9))],
    ['tcp-only', cable(failed(true))],
    ['dead', cable(failed(true), failed(true))],
    ['unknown', cable(failed(true), failed(false))],
    ['unknown', cable(failed(false))],
    ['unknown', cable(failed(false), failed(true))],
  ])('is %s without siblings', (verdict, one) => {
    expect([cableVerdict(one, [one]), measuredCable(one, [one]).verdict]).toEqual([verdict, verdict]);
  });

  it.each([
    ['below half of their rate', measured(25_000, 3.9e9), 'slow'],
    ['at half of their rate', measured(25_000, 4e9), 'unrated'],
    ['above four times their latency', measured(101_000, 8e9), 'slow'],
    ['at four times their latency', measured(100_000, 8e9), 'unrated'],
  ])('compares a cable with its siblings: %s', (_, rdma, verdict) => {
    const one = cable(rdma);
    const siblings = [cable(measured(20_000, 7.5e9)), one, cable(failed(false)), cable(measured(30_000, 8.5e9))];
    expect(cableVerdict(one, siblings)).toBe(verdict);
  });
});

describe('ratingsFor', () => {
  const rating = (microseconds: number, more: Partial<CableRating> = {}): CableRating => ({
    ...{ model: 'Mac16,11', macos: 26, microseconds, gigabytesPerSecond: 8, source: 'a test' },
    ...more,
  });
  const others = [rating(9, { model: 'Mac15,14' }), rating(8, { macos: 27 })];
  const ratings = [rating(25), rating(30), rating(20, { gigabytesPerSecond: 7 }), ...others];

  it('finds the measurements of the same model and major version', () => {
    expect(ratingsFor(macs, ratings)).toHaveLength(enoughSources);
    expect(ratingsFor([macs[0], { model: 'Mac16,11', macos: '27.0' }], ratings)).toEqual([]);
    expect(ratingsFor([macs[0], { model: 'Mac15,14', macos: '26.5' }], ratings)).toEqual([]);
    expect(ratingsFor([macs[0], undefined], ratings)).toEqual([]);
  });

  it.each([
    ['good', measured(120_000, 3.5e9)],
    ['slow', measured(121_000, 8e9)],
    ['slow', measured(25_000, 3.4e9)],
  ])('makes a cable %s if enough are published', (verdict, rdma) => {
    const one = cable(rdma);
    expect(cableVerdict(one, [one], ratings)).toBe(verdict);
    expect(cableVerdict(one, [one], ratings.slice(1))).toBe('unrated');
  });
});

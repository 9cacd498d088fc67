import { describe, expect, it } from 'vitest';
import type { Talk } from '../../../../src/drivers/contract/driver.ts';
import { beginDialogue } from '../../../../src/drivers/registry.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { ready, stateWith } from './exo-play.ts';

const node = nodeName('studio-1');
const instanceIds = (state: string): readonly string[] => Object.keys(JSON.parse(state).instances);

/** Shuts down an exo with these states one after another; the last one stays. Every answer takes `tookMs`. */
function shutDown(states: readonly (string | number | 'unasked' | 'refused')[], tookMs = 10) {
  let talk: Talk = beginDialogue({ name: 'exo-graceful-shutdown', args: { node, port: 52_500 } });
  const asked: string[] = [];
  let checks = 0;
  let atMs = 0;
  while (talk.kind === 'ask') {
    const { request, afterMs, hear } = talk;
    asked.push(`${request.node} ${request.method} ${request.path}`);
    atMs += afterMs + tookMs;
    if (asked.length > 500) throw new Error('the dialogue does not end');
    if (request.method === 'GET') checks += 1;
    const state = states[Math.min(checks, states.length) - 1] ?? 500;
    const isState = request.method === 'GET' && typeof state === 'string';
    const status = request.method === 'GET' && typeof state === 'number' ? state : 200;
    const unasked = state === 'unasked' && request.method === 'GET';
    talk = unasked
      ? hear({ status: 0, body: '', isUnasked: true, atMs })
      : state === 'refused'
        ? hear({ status: 0, body: '', isRefused: true, atMs })
        : hear({ status, body: isState ? state : '{}', atMs });
  }
  sayValue({ end: talk, requests: asked.length, atMs });
  return { end: talk, asked, atMs };
}

const placed = ready;
/** The instance is gone, but its runners are still shutting down. */
const leaving = stateWith({ RunnerShuttingDown: {} }, (state) => {
  state.instances = {};
});
const empty = stateWith(undefined);

describe("exo's graceful shutdown", () => {
  it('deletes the instance and waits until its runners stop', () => {
    const { end, asked } = shutDown([placed, placed, leaving, leaving, empty]);
    const [id] = instanceIds(placed);
    expect(end).toEqual({ kind: 'done', note: 'its runners stopped' });
    const check = 'studio-1 GET /state';
    expect(asked).toEqual([check, `studio-1 DELETE /instance/${id}`, check, check, check, check]);
  });

  it('ends immediately without a placement or a listening API', () => {
    expect(shutDown([empty])).toMatchObject({
      end: { kind: 'done', note: 'exo had no placement' },
      asked: { length: 1 },
    });
    const gone = { end: { kind: 'done', note: 'its API is not running' }, asked: { length: 1 } };
    expect(shutDown(['refused'])).toMatchObject(gone);
    // A refusal can take long to arrive.
    expect(shutDown(['refused'], 60_000)).toMatchObject(gone);
  });

  it('reports why it failed, and does not repeat an unanswered request', () => {
    const unheard = { kind: 'failed', code: 'exo/no-graceful-shutdown' };
    const silent = { end: { ...unheard, reason: 'its API does not answer' }, asked: { length: 1 } };
    expect([shutDown([0], 5_000), shutDown([0], 10)]).toMatchObject([silent, silent]);
    expect(shutDown([500]).end).toEqual({ ...unheard, reason: 'its API returned status 500' });
    const [id] = instanceIds(placed);
    expect(shutDown([placed]).end).toEqual({ ...unheard, reason: `exo has not deleted ${id}` });
    expect(shutDown([placed, leaving]).end).toEqual({ ...unheard, reason: '2 of its runners are still running' });
    expect(shutDown([placed, 0]).end).toEqual({ ...unheard, reason: 'its state cannot be read (status 0)' });
  });

  it('repeats a request that may not have been sent, and does not assume that exo is gone', () => {
    const { end, asked } = shutDown(['unasked', 'unasked', placed, empty]);
    expect([end.kind, asked.filter((one) => one.includes('GET'))]).toMatchObject(['done', { length: 4 }]);
    const never = { kind: 'failed', code: 'exo/no-graceful-shutdown', reason: 'no request reached its API' };
    expect(shutDown(['unasked']).end).toEqual(never);
    expect(shutDown(['unasked']).atMs).toBeLessThan(6_000);
  });

  it('makes the same number of checks, however long each takes', () => {
    for (const states of [[placed], [placed, leaving], ['unasked']] as const) {
      expect(shutDown(states, 3_000).asked).toEqual(shutDown(states).asked);
    }
    const slow = shutDown([placed, ...Array<string>(20).fill(leaving), empty], 3_000);
    expect(slow.end).toEqual({ kind: 'done', note: 'its runners stopped' });
  });

  it('ends within 30 seconds', () => {
    for (const states of [[placed], [placed, leaving], [placed, 0]]) {
      expect(shutDown(states).atMs).toBeLessThan(30_000);
    }
  });

  it('does not wait for runners without an instance', () => {
    const stale = stateWith(undefined, (state) => {
      state.runners = { 'of-nobody': { RunnerFailed: { errorMessage: 'long ago' } } };
    });
    expect(shutDown([placed, stale]).end).toEqual({ kind: 'done', note: 'its runners stopped' });
  });
});

onOnePage('exo-graceful-shutdown');

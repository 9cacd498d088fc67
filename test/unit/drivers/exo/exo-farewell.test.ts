import { describe, expect, it } from 'vitest';
import type { Talk } from '../../../../src/drivers/contract/driver.ts';
import { beginDialogue } from '../../../../src/drivers/registry.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { ready, stateWith } from './exo-play.ts';

const node = nodeName('studio-1');
const instanceIds = (state: string): readonly string[] => Object.keys(JSON.parse(state).instances);

/** Says goodbye to an exo with these states one after another; the last one stays. Every answer takes `tookMs`. */
function leave(states: readonly (string | number | 'unasked' | 'refused')[], tookMs = 10) {
  let talk: Talk = beginDialogue({ name: 'exo-farewell', args: { node, port: 52_500 } });
  const asked: string[] = [];
  let looks = 0;
  let atMs = 0;
  while (talk.kind === 'ask') {
    const { request, afterMs, hear } = talk;
    asked.push(`${request.node} ${request.method} ${request.path}`);
    atMs += afterMs + tookMs;
    if (asked.length > 500) throw new Error('it never ends');
    if (request.method === 'GET') looks += 1;
    const state = states[Math.min(looks, states.length) - 1] ?? 500;
    const isState = request.method === 'GET' && typeof state === 'string';
    const status = request.method === 'GET' && typeof state === 'number' ? state : 200;
    const unasked = state === 'unasked' && request.method === 'GET';
    talk = unasked
      ? hear({ status: 0, body: '', isUnasked: true, atMs })
      : state === 'refused'
        ? hear({ status: 0, body: '', isRefused: true, atMs })
        : hear({ status, body: isState ? state : '{}', atMs });
  }
  return { end: talk, asked, atMs };
}

const placed = ready;
/** Without an instance, but its runners are still at it. */
const leaving = stateWith({ RunnerShuttingDown: {} }, (state) => {
  state.instances = {};
});
const empty = stateWith(undefined);

describe('the farewell of exo', () => {
  it('deletes the instance, and waits until its runners have ended', () => {
    const { end, asked } = leave([placed, placed, leaving, leaving, empty]);
    const [id] = instanceIds(placed);
    expect(end).toEqual({ kind: 'done', note: 'its runners stopped' });
    const look = 'studio-1 GET /state';
    expect(asked).toEqual([look, `studio-1 DELETE /instance/${id}`, look, look, look, look]);
  });

  it('is over at once where nothing is placed, or nobody listens', () => {
    expect(leave([empty])).toMatchObject({ end: { kind: 'done', note: 'exo had no placement' }, asked: { length: 1 } });
    const gone = { end: { kind: 'done', note: 'its API is not running' }, asked: { length: 1 } };
    expect(leave(['refused'])).toMatchObject(gone);
    // A refusal may be long on its way back.
    expect(leave(['refused'], 60_000)).toMatchObject(gone);
  });

  it('says what it did not come to, and asks no second time where nothing is answered in time', () => {
    const unheard = { kind: 'failed', code: 'exo/no-farewell' };
    const silent = { end: { ...unheard, reason: 'its API does not answer' }, asked: { length: 1 } };
    expect([leave([0], 5_000), leave([0], 10)]).toMatchObject([silent, silent]);
    expect(leave([500]).end).toEqual({ ...unheard, reason: 'its API returned status 500' });
    const [id] = instanceIds(placed);
    expect(leave([placed]).end).toEqual({ ...unheard, reason: `exo has not deleted ${id}` });
    expect(leave([placed, leaving]).end).toEqual({ ...unheard, reason: '2 of its runners are still running' });
    expect(leave([placed, 0]).end).toEqual({ ...unheard, reason: 'its state cannot be read (status 0)' });
  });

  it('asks again where nobody knows whether it was asked, and does not take that for an exo that is not there', () => {
    const { end, asked } = leave(['unasked', 'unasked', placed, empty]);
    expect([end.kind, asked.filter((one) => one.includes('GET'))]).toMatchObject(['done', { length: 4 }]);
    const never = { kind: 'failed', code: 'exo/no-farewell', reason: 'no request reached its API' };
    expect(leave(['unasked']).end).toEqual(never);
    expect(leave(['unasked']).atMs).toBeLessThan(6_000);
  });

  it('looks as often, however long each look takes', () => {
    for (const states of [[placed], [placed, leaving], ['unasked']] as const) {
      expect(leave(states, 3_000).asked).toEqual(leave(states).asked);
    }
    const slow = leave([placed, ...Array<string>(20).fill(leaving), empty], 3_000);
    expect(slow.end).toEqual({ kind: 'done', note: 'its runners stopped' });
  });

  it('is given a short time only', () => {
    for (const states of [[placed], [placed, leaving], [placed, 0]]) {
      expect(leave(states).atMs).toBeLessThan(30_000);
    }
  });

  it('does not wait for runners of nobody', () => {
    const stale = stateWith(undefined, (state) => {
      state.runners = { 'of-nobody': { RunnerFailed: { errorMessage: 'long ago' } } };
    });
    expect(leave([placed, stale]).end).toEqual({ kind: 'done', note: 'its runners stopped' });
  });
});

import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ownRequest } from '../../../src/gateway/ask-own.ts';
import { closingReason, makeEndpoints } from '../../../src/gateway/endpoints.ts';
import { statusAnswer } from '../../../src/gateway/status.ts';
import { endpointCounts, endpointStatus } from '../../rack/placements.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { hashOf } from './hash-of.ts';

const folder = temporaryFolder();
const upstream = { servedName: 'tiny', port: 1, model: 'm', cancels: 'always' as const };
const config = {
  listen: { address: '127.0.0.1', port: 0 },
  upstreams: [
    { ...upstream, placement: 'kimi', maxRequests: 1 },
    { ...upstream, placement: 'code', maxRequests: 5 },
  ],
  keysFolder: folder.at('keys'),
  closedFolder: folder.at('closed'),
  countsFile: folder.at('counts'),
  proxies: [],
};
const never = new AbortController().signal;
setMaxListeners(0, never);

describe("a gateway's placements", () => {
  it('have keys, a reason while closed, and counts from earlier runs', async () => {
    folder.write('counts', JSON.stringify({ kimi: endpointCounts({ requests: 7 }) }));
    folder.write('keys/kimi', JSON.stringify({ keys: [hashOf('one')] }));
    folder.write('closed/code', ' it is stopped. \nmore');
    const [kimi, code] = makeEndpoints(config);
    if (kimi === undefined || code === undefined) throw new Error('an endpoint is missing');
    expect([kimi.upstream, code.upstream]).toEqual(config.upstreams);
    expect([await kimi.keys(), await code.keys()]).toEqual([[Buffer.from(hashOf('one'), 'hex')], []]);
    expect([await kimi.closedBy(), await code.closedBy()]).toEqual([undefined, 'it is stopped.']);
    expect(kimi.counts()).toEqual(endpointCounts({ requests: 7 }));
    kimi.count((counts) => ({ ...counts, requests: counts.requests + 1 }));
    expect(kimi.counts().requests).toBe(8);
    const { sinceEpochSeconds = 0, ...fresh } = code.counts();
    expect(fresh).toEqual(endpointCounts());
    expect(Math.abs(sinceEpochSeconds - Date.now() / 1_000)).toBeLessThan(1_000);
    const ended = kimi.own.begin();
    expect(kimi.own.oldestMs()).toBeGreaterThanOrEqual(0);
    ended();
    kimi.flow.begin(false).came();
    expect(kimi.flow.sight().lastByteMsAgo).toBeGreaterThanOrEqual(0);
  });

  it('allow 64 waiting requests per parallel request, and at least 256 in total', async () => {
    for (const [endpoint, most, waiting] of makeEndpoints(config).map(
      (one, at) => [one, at === 0 ? 1 : 5, at === 0 ? 256 : 320] as const,
    )) {
      for (let taken = 0; taken < most; taken += 1) await endpoint.turns.take(never);
      for (let more = 0; more < waiting; more += 1) void endpoint.turns.take(never);
      expect(endpoint.turns.counts()).toEqual({ running: most, waiting });
      expect(await endpoint.turns.take(never)).toBeUndefined();
    }
  });

  it('are closed by a file whose first line is the reason, up to 500 characters', () => {
    const byOperator = 'it was closed by its operator.';
    expect(closingReason({ kind: 'absent' })).toBeUndefined();
    expect(closingReason({ kind: 'unreadable' })).toBe(byOperator);
    for (const text of ['', '  \nmore', '\n']) expect(closingReason({ kind: 'text', text })).toBe(byOperator);
    expect(closingReason({ kind: 'text', text: 'x'.repeat(501) })).toBe('x'.repeat(500));
  });
});

describe("a gateway's status", () => {
  it('shows each placement with its requests', async () => {
    const [kimi, code] = makeEndpoints(config);
    if (kimi === undefined || code === undefined) throw new Error('an endpoint is missing');
    await kimi.turns.take(never);
    void kimi.turns.take(never);
    const ask = (path: string, version?: string) =>
      statusAnswer(path, [kimi, code], { strangers: 3, ...(version === undefined ? {} : { version }) });
    const fresh = endpointCounts({ sinceEpochSeconds: expect.any(Number) });
    const placements = [
      endpointStatus({ running: 1, waiting: 1, counts: endpointCounts({ requests: 7 }) }),
      endpointStatus({ placement: 'code', closed: 'it is stopped.', counts: fresh }),
    ].map((one) => ({ ...one, servedName: 'tiny' }));
    const body = { formatVersion: 1, strangers: 3, version: 'v1', placements };
    expect(await ask('/gateway/status', 'v1')).toEqual({ status: 200, body });
    expect(await ask('/gateway/in-flight/kimi')).toEqual({ status: 200, body: 2 });
    const ended = kimi.own.begin();
    expect(await ask('/gateway/in-flight/kimi')).toEqual({ status: 200, body: 1 });
    const endedToo = kimi.own.begin();
    expect(await ask('/gateway/in-flight/kimi')).toEqual({ status: 200, body: 1 });
    ended();
    endedToo();
    for (const path of [
      '/gateway/in-flight/other',
      '/gateway/in-flight/kimi/x',
      '/gateway',
      '/x/gateway/in-flight/kimi',
    ]) {
      expect(await ask(path)).toMatchObject({ status: 404 });
    }
  });

  it('has paths for requests from the node', () => {
    const endpoints = makeEndpoints(config);
    const read = (path: string) => {
      const own = ownRequest(new URL(path, 'http://gateway'), endpoints);
      return own && [own.endpoint.upstream.placement, own.path];
    };
    expect(read('/gateway/ask/kimi')).toEqual(['kimi', '']);
    expect(read('/gateway/ask/kimi?a=1')).toEqual(['kimi', '']);
    expect(read('/gateway/ask/code/v1/x?a=1')).toEqual(['code', '/v1/x?a=1']);
    for (const path of ['/gateway/ask/other/v1/x', '/gateway/ask/', '/x/gateway/ask/kimi', '/gateway/status']) {
      expect(read(path)).toBeUndefined();
    }
  });
});

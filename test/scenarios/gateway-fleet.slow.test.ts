import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read } from '../../src/rack/fact.ts';
import type { Goal } from '../../src/rack/goal.ts';
import { gatewaysFact } from '../../src/rack/records/gateways-fact.ts';
import { inTurn } from '../in-turn.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { tracesOf } from '../secret-traces.ts';
import { asText } from '../unit/as-text.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { clientKey, publish } from './published-sources.ts';

const published = pairFile((file) => publish(file));

const rack = shared(() => startConvergeRack('gateway', published));

/** The port on this computer that represents a node's port. */
async function realPort(node: string, port: number): Promise<number> {
  const table = await readFile(`${rack.fleet().nodes[node]?.root}/.sim/link-table`, 'utf8');
  const line = table.split('\n').find((one) => one.startsWith(`127.0.0.1:${port} `));
  return Number(line?.slice(line.lastIndexOf(':') + 1));
}

async function chat(
  key: string | undefined,
  model = 'tiny',
  node: string = first,
  at = 8_080,
): Promise<{ status: number; text: string }> {
  const port = await realPort(node, at);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 4 }),
  });
  return { status: answer.status, text: await answer.text() };
}

const signalRank = (signal: 'SIGSTOP' | 'SIGCONT') =>
  rack.behindOurBack(() => rack.asRoot(first, `"$R/bin/launchctl" kill ${signal} system/dev.meshwright.rank.chat`));

/** The number of requests in flight; undefined if the placement lacks one of these keys. */
async function insideNow(keys: readonly string[] = []): Promise<number | undefined> {
  const own = await readFile(at('/Library/Application Support/meshwright/gateway/8080/own'), 'utf8');
  const [name = '', secret = ''] = own.trim().split(': ');
  const url = `http://127.0.0.1:${await realPort(first, 8_080)}/gateway/status`;
  const answer = await fetch(url, { headers: { [name]: secret } });
  const { placements } = (await answer.json()) as { placements: readonly Record<string, unknown>[] };
  const [gateway = {}] = placements;
  return keys.every((key) => key in gateway) ? Number(gateway['running']) + Number(gateway['waiting']) : undefined;
}

/** Suspends the rank and sends it a request, whose answer comes when the rank continues. */
async function requestInFlight(key?: string) {
  await signalRank('SIGSTOP');
  const answered = chat(key);
  expect(await eventually(async () => (await insideNow()) === 1)).toBe(true);
  return { answered };
}

const at = (path: string): string => `${rack.fleet().nodes[first]?.root}${path}`;
const label = 'dev.meshwright.gateway.8080';

/** Every file below /Library on the leader. */
async function keptTexts(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const entries = await readdir(at('/Library'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })));
}

describe('a published endpoint', { timeout: patience }, () => {
  it('gets a gateway that requires the key', async () => {
    const { plan } = await rack.converge();
    expect(changesIn(plan).filter((id) => id.includes('gateway'))).toEqual([
      `${first} runtime/gateway`,
      `${first} gateway/8080`,
      `${first} gateway/8080/chat/keys`,
    ]);
    const answered = await chat(clientKey);
    expect(answered).toMatchObject({ status: 200 });
    expect(JSON.parse(answered.text).choices[0].message.content).not.toBe('');
    expect((await chat(undefined)).status).toBe(401);
    expect((await chat('another-key-0123456789')).status).toBe(401);
    expect((await chat(clientKey, 'chat')).status).toBe(404);
  });

  inTurn(0, 3)('as its node sees it', () => {
    it('reports its counters in an observation without causing a change', async () => {
      const before = await rack.plan();
      await chat(clientKey);
      const gateways = read((await rack.observe()).nodes[first]?.facts, gatewaysFact);
      expect(gateways).toMatchObject({
        kind: 'known',
        value: [{ kind: 'answered', port: 8_080, endpoints: [{ placement: 'chat', running: 0, waiting: 0 }] }],
      });
      const [gateway] =
        gateways?.kind === 'known' && gateways.value[0]?.kind === 'answered' ? gateways.value[0].endpoints : [];
      expect(gateway?.counts.requests).toBeGreaterThanOrEqual(2);
      expect(gateway?.counts.tokens).toBeGreaterThan(0);
      expect(gateway?.counts.sinceEpochSeconds).toBeGreaterThan(1_700_000_000);
      expect(gateway?.lastByteMsAgo).toBeGreaterThanOrEqual(0);
      const after = await rack.plan();
      expect(leftIn(after)).toEqual([]);
      expect(after.observed).toEqual(before.observed);
    });

    it('stores no key, in any form, in any file on the node', async () => {
      const kept = await readFile(at('/Library/Application Support/meshwright/gateway/8080/keys/chat'), 'utf8');
      expect(JSON.parse(kept)).toEqual({ keys: [expect.stringMatching(/^[0-9a-f]{64}$/)] });
      const texts = await keptTexts();
      expect(texts.length).toBeGreaterThan(10);
      expect(texts.flatMap(({ text }) => tracesOf(clientKey, text))).toEqual([]);
    });

    it("leaves no prompt on its node and no answer in the gateway's files", async () => {
      const { content } = JSON.parse((await chat(clientKey)).text).choices[0].message;
      const texts = await keptTexts();
      expect(texts.filter(({ text }) => text.includes('Say hello.'))).toEqual([]);
      const own = texts.filter(({ path }) => path.includes('gateway') && !path.endsWith('.mjs'));
      expect(own.map(({ path }) => path)).toContainEqual(expect.stringMatching(/gateway\.8080\.log$/));
      expect(own.filter(({ text }) => text.includes(content))).toEqual([]);
      expect(JSON.stringify(read((await rack.observe()).nodes[first]?.facts, gatewaysFact))).not.toContain(content);
    });

    it('recovers when its process dies, and is restored by apply when it is unloaded', async () => {
      await rack.behindOurBack(async () => {
        await rack.asRoot(first, `"$R/bin/launchctl" kill SIGKILL system/${label}`);
      });
      expect(await eventually(async () => (await chat(clientKey).catch(() => ({ status: 0 }))).status === 200)).toBe(
        true,
      );
      await rack.behindOurBack(async () => {
        await rack.asRoot(first, `"$R/bin/launchctl" bootout system/${label}`);
      });
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toEqual([`${first} gateway/8080`]);
      expect((await chat(clientKey)).status).toBe(200);
    });

    it('gets its edited keys and settings restored while the mesh keeps running', async () => {
      const folder = '"$R/Library/Application Support/meshwright/gateway/8080"';
      await rack.behindOurBack(async () => {
        await rack.asRoot(first, `printf '{"keys":"anybody"}' >${folder}/keys/chat; rm ${folder}/config.json`);
      });
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toEqual([`${first} gateway/8080`, `${first} gateway/8080/chat/keys`]);
      expect((await chat(undefined)).status).toBe(401);
      expect((await chat(clientKey)).status).toBe(200);
    });

    it('responds with the reason while the mesh is down, and serves again after the next apply', async () => {
      await rack.behindOurBack(async () => {
        await rack.asRoot(first, '"$R/bin/launchctl" kill SIGKILL system/dev.meshwright.rank.chat');
      });
      expect(await eventually(async () => (await chat(clientKey)).status === 503)).toBe(true);
      expect((await chat(clientKey)).text).toContain('tiny is down');
      const { plan } = await rack.converge();
      const steps = plan.steps.map(({ id }) => String(id)).filter((id) => /endpoint|gateway/.test(id));
      expect(steps).toEqual([`${first}/placement/chat/close-endpoint`, `${first}/placement/chat/open-endpoint`]);
      expect((await chat(clientKey)).status).toBe(200);
    });
  });

  inTurn(1, 3)('that is closed and opened', () => {
    it('is closed with the reason while its placement is stopped, and opened by a start', async () => {
      await rack.apply({ goal: { kind: 'stop', placements: ['chat'] } });
      const closed = await chat(clientKey);
      expect(closed.status).toBe(503);
      expect(closed.text).toContain('tiny is not accepting requests: it is stopped.');
      await rack.apply({ goal: { kind: 'start', placements: ['chat'] } });
      expect((await chat(clientKey)).status).toBe(200);
      expect(leftIn(await rack.plan())).toEqual([]);
    });

    it("needs no changes while a client's request is in flight, and gets no second request", async () => {
      const { answered } = await requestInFlight(clientKey);
      const { changes } = await rack.plan();
      expect(changes.map(({ from }) => from)).toEqual([]);
      expect(await insideNow()).toBe(1);
      await signalRank('SIGCONT');
      expect((await answered).status).toBe(200);
      expect(leftIn(await rack.plan())).toEqual([]);
    });

    it('drains while its mesh keeps running: completes requests in flight and refuses new ones', async () => {
      const drain: Goal = { kind: 'drain', placements: ['chat'], waitMs: 60_000 };
      const { answered } = await requestInFlight(clientKey);
      const draining = rack.apply({ goal: drain });
      expect(await eventually(async () => (await insideNow(['closed'])) === 1)).toBe(true);
      const refused = await chat(clientKey);
      expect(refused.status).toBe(503);
      expect(refused.text).toContain('tiny is not accepting requests: it was drained by its operator.');
      await signalRank('SIGCONT');
      const { plan, report, after, exit } = await draining;
      expect(JSON.parse((await answered).text).choices[0].message.content).not.toBe('');
      expect(changesIn(plan)).toEqual([`${first} gateway/8080/chat/in-flight`]);
      expect(report?.steps.map(({ outcome }) => outcome)).toEqual(['changed', 'unchanged']);
      expect([leftIn(after), exit]).toEqual([[], 0]);
      expect(leftIn(await rack.plan(drain))).toEqual([]);
    });

    it('needs only one step to start after a drain: opening its gateway', async () => {
      const { plan } = await rack.apply({ goal: { kind: 'start', placements: ['chat'] } });
      expect(plan.steps.map(({ id }) => id)).toEqual([`${first}/gateway/8080/chat/endpoint/open`]);
      expect((await chat(clientKey)).status).toBe(200);
    });

    it('reports the requests still in flight when a drain misses its deadline', async () => {
      const { answered } = await requestInFlight(clientKey);
      const { report, exit } = await rack.apply({ goal: { kind: 'drain', placements: ['chat'], waitMs: 100 } });
      const last = report?.steps.at(-1);
      expect([last?.outcome, last?.diagnostics.map(asText)]).toMatchObject([
        'failed',
        [{ code: 'endpoint/still-in-flight', detail: `1 request in flight to chat on ${first}.` }],
      ]);
      expect(exit).toBe(1);
      await signalRank('SIGCONT');
      expect((await answered).status).toBe(200);
    });

    it('is opened by apply, as a listed step, if it was left closed', async () => {
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toEqual([`${first} gateway/8080/chat/endpoint`]);
      expect(plan.effects).toEqual([]);
      expect((await chat(clientKey)).status).toBe(200);
      await rack.apply({ goal: { kind: 'stop', placements: ['chat'] } });
      const started = await rack.converge();
      expect(started.plan.steps.map(({ id }) => id).at(-1)).toBe(`${first}/placement/chat/open-endpoint`);
      expect((await chat(clientKey)).status).toBe(200);
    });
  });

  inTurn(2, 3)('after an edit of the file', () => {
    it('accepts clients without a key if the file allows it, without a restart', async () => {
      await rack.declare(pairFile((file) => publish(file, { access: 'anybody' })));
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toEqual([`${first} gateway/8080/chat/keys`]);
      expect((await chat(undefined)).status).toBe(200);
    });

    it('completes requests at its old port before its mesh stops, and names the new port', async () => {
      const { answered } = await requestInFlight();
      await rack.declare(pairFile((file) => publish(file, { port: 8_090, access: 'anybody' })));
      // A suspended rank returns no token, so the plan also restarts the mesh.
      const moving = rack.converge();
      expect(await eventually(async () => (await insideNow(['closed'])) === 1)).toBe(true);
      const refused = await chat(undefined);
      expect([refused.status, refused.text]).toEqual([
        503,
        expect.stringContaining(`tiny is not accepting requests: its endpoint has moved to port 8090 of ${first}.`),
      ]);
      await signalRank('SIGCONT');
      const whole = await answered;
      expect(whole.status).toBe(200);
      expect(JSON.parse(whole.text).choices[0].message.content).not.toBe('');
      expect(changesIn((await moving).plan)).toEqual(
        expect.arrayContaining([`${first} gateway/8080`, `${first} gateway/8090`]),
      );
      expect((await chat(undefined, 'tiny', first, 8_090)).status).toBe(200);
      await rack.declare(pairFile((file) => publish(file, { access: 'anybody' })));
      await rack.converge();
    });

    it('leaves no files when it is no longer published', async () => {
      await rack.declare(pairFile());
      const { plan } = await rack.converge();
      expect(changesIn(plan)).toContain(`${first} gateway/8080`);
      const left = await rack.asRoot(
        first,
        'ls "$R/Library/LaunchDaemons" "$R/Library/Application Support/meshwright"',
      );
      expect(left.stdout).not.toContain('gateway');
    });

    it('replaces an unpublished endpoint that still uses the port', async () => {
      await rack.declare(published);
      await rack.converge();
      expect(await eventually(async () => (await chat(clientKey)).status === 200)).toBe(true);
      expect((await chat(undefined)).status).toBe(401);
    });
  });
});

inTurn(0, 3)('a published placement with a fallback on a different leader', () => {
  const fallen = pairFile((file) => {
    publish(file);
    filePart(file, 'placements', 'chat')['fallback'] = { nodes: [second], context: '4k' };
  });
  const statuses = async () => [(await chat(clientKey)).status, (await chat(clientKey, 'tiny', second)).status];

  it('has a gateway on both leaders, but serves requests only where the placement runs', async () => {
    expect(await rack.declare(fallen)).toEqual([]);
    const changes = changesIn((await rack.converge()).plan);
    expect(changes).toEqual(expect.arrayContaining([`${second} runtime/gateway`, `${second} gateway/8080`]));
    expect([changes.every((id) => id.startsWith(second)), await statuses()]).toEqual([true, [200, 503]]);
    const there = await rack.apply({ goal: { kind: 'start', placements: ['chat'], layout: 'fallback' } });
    const ids = there.plan.steps.map(({ id }) => String(id));
    const [closed = -1, stopped = -1] = ['close-endpoint', 'stop'].map((verb) =>
      ids.indexOf(`${first}/placement/chat/${verb}`),
    );
    expect([closed >= 0 && closed < stopped, leftIn(there.after), await statuses()]).toEqual([true, [], [503, 200]]);
    expect(changesIn((await rack.converge()).plan)).toEqual([`${first} placement/chat`]);
    expect(await statuses()).toEqual([200, 503]);
  });
});

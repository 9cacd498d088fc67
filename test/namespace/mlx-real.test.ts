import { cp, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { RecordedRank } from '../../src/model/facts/fact-values.ts';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { json } from '../cli/meshwright.ts';
import { inTurn } from '../in-turn.ts';
import { findRealMlx } from '../mlx/real-mlx.ts';
import { mlxPair, realRuntime, writeRealSources } from '../mlx/real-pair.ts';
import { type FileValue, filePart, first, second } from '../scenarios/converge-file.ts';
import { changesIn, expectNothingToDo, leftIn, patience, startConvergeRack } from '../scenarios/converge-rack.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';
import { curesOf, type TypedRack, typedRack } from './typed.ts';

const real = findRealMlx();
let folder: string;
let rack: NamespaceRack;
let typed: TypedRack;

const doubleRuntime = {
  archive: './dist/uv-aarch64-apple-darwin.tar.gz',
  python: '3.12',
  requirements: './requirements.lock',
};

/** The pair with mlx_lm, by default the real one. @param chat keys of the placement */
function mlxFile(chat: FileValue = {}, runtime = real === undefined ? {} : realRuntime(real, folder)): FileValue {
  const file = mlxPair(folder, runtime);
  filePart(file, 'models')['short'] = { source: join(folder, 'short') };
  Object.assign(filePart(file, 'placements', 'chat'), chat);
  return file;
}

beforeAll(async () => {
  if (real === undefined) return;
  folder = await mkdtemp(join(tmpdir(), 'mw-mlx-'));
  await writeRealSources(real, folder);
  await cp(real.model, join(folder, 'short'), { recursive: true });
  await truncate(join(folder, 'short/model.safetensors'), 100_000);
  rack = await startNamespaceRack('mlx', mlxFile());
}, patience);
afterAll(async () => {
  typed?.end();
  await rack?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, patience);

/** Commands that are repeated until something has happened: the longer it takes, the more. */
const repeated = /^(?:keep-lease|measure|observe|poll-job|rank-progress)$/;

/** Converges a rack. Returns also the steps, and the connections and commands of each node, in any order. */
async function countedStart(one: Pick<NamespaceRack, 'converge' | 'listen'>) {
  const sent: string[] = [];
  one.listen((event) => {
    if (event.kind === 'connected') sent.push(`${event.node} connected`);
    if (event.kind === 'sent' && !repeated.test(event.name)) sent.push(`${event.node} ${event.name}`);
  });
  const applied = await one.converge();
  one.listen();
  return { ...applied, taken: { steps: applied.plan.steps.map(({ id }) => id), sent: sent.sort() } };
}
let realStart: Awaited<ReturnType<typeof countedStart>>;

/** Sends a signal to the rank of a node, outside of every plan, and returns what the leader's rank shows then. */
const afterSignal = (node: string, name: string): Promise<RecordedRank | undefined> =>
  rack.behindOurBack(async (fleet) => {
    const rank = fleet.processes().find((one) => one.node === node && one.label.includes('.rank.'));
    expect((await rack.asRoot(node, `kill -${name} ${rank?.pid}`)).code).toBe(0);
    return rankOn(first);
  });

async function rankOn(node: string): Promise<RecordedRank | undefined> {
  const fact = read((await rack.observe()).nodes[node]?.facts, placementsFact);
  return fact?.kind === 'known' ? fact.value[0] : undefined;
}

/** Runs `recover`, and expects these cures, a token and no remaining changes. */
async function recover(...rungs: readonly string[]): Promise<void> {
  expect(curesOf(await typed.type('recover', '--yes', '--json'))).toEqual([0, ...rungs]);
  expect(await rankOn(first)).toMatchObject({ token: { kind: 'answered' } });
  expect(leftIn(await rack.plan())).toEqual([]);
}

describe.skipIf(real === undefined)('a mesh of the real mlx_lm on two Macs', { timeout: 2 * patience }, () => {
  it('starts from scratch and answers', async () => {
    realStart = await countedStart(rack);
    const { plan, report } = realStart;
    expect(changesIn(plan)).toEqual(
      expect.arrayContaining([`${second} runtime/mlx`, `${second} model/tiny`, `${first} placement/chat`]),
    );
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    const said = ['meshwright: group of 2 ranks over ring'];
    expect(await rankOn(first)).toMatchObject({ said, token: { kind: 'answered' }, isListening: true });
    expect(await rankOn(second)).toMatchObject({ said });
    typed = typedRack(rack, mlxFile());
  });

  it('needs no changes in a second apply', () => expectNothingToDo(rack));

  inTurn(0, 2)('that serves', () => {
    it('starts with the same steps, connections and commands as its double', async () => {
      const double = await startConvergeRack('mlx-double', mlxFile({}, doubleRuntime));
      const { taken } = await countedStart(double);
      await double.stop();
      expect(taken.steps.length).toBeGreaterThan(60);
      expect(realStart.taken).toEqual(taken);
    });

    it('works with the ask, status and bench commands', async () => {
      const asked = await typed.type('ask', 'chat', 'Tell me of the cable.', '--max-tokens', '8', '--json');
      expect(json(asked)).toMatchObject({ node: first, answer: expect.stringMatching(/./), diagnostics: [] });
      const chat = {
        state: 'serving',
        standing: 'met',
        seenTransport: 'tcp',
        transportProof: 'log',
        sharding: 'tensor',
      };
      expect(json(await typed.type('status', '--json'))).toMatchObject({ placements: { chat } });
      const short = ['--requests', '1', '--runs', '1', '--max-tokens', '8', '--words', '50'];
      const level = { requests: 1, answered: 1, failed: 0, totalSpeed: expect.any(Number) };
      const measured = json(await typed.type('bench', 'chat', ...short, '--json'));
      expect(measured).toMatchObject({ tokensAre: 'counted-by-runtime', levels: [level], diagnostics: [] });
    });

    it('answers four parallel requests through its gateway', async () => {
      const messages = [{ role: 'user', content: 'Tell me of the cable.' }];
      const body = JSON.stringify({ model: 'chat', messages, max_tokens: 8, temperature: null });
      const curl = `/usr/bin/curl -q -s -m 60 -H 'Content-Type: application/json' --data-binary '${body}'`;
      const url = 'http://127.0.0.1:8080/v1/chat/completions';
      const { stdout } = await rack.asRoot(first, `for n in 1 2 3 4; do { ${curl} ${url}; echo; } & done; wait`);
      expect(stdout.match(/"finish_reason": "length"/g)).toHaveLength(4);
    });

    it('restarts as a pipeline', async () => {
      const pipeline = mlxFile({ sharding: 'pipeline' });
      expect(await rack.declare(pipeline)).toEqual([]);
      const { plan, report } = await rack.converge();
      expect([changesIn(plan), report?.diagnostics]).toEqual([[`${first} placement/chat`], []]);
      expect(await rankOn(first)).toMatchObject({ token: { kind: 'answered' } });
      typed.end();
      typed = typedRack(rack, pipeline);
      const ranks = await Promise.all([first, second].map((node) => rack.asRoot(node, 'ps -axo command')));
      for (const { stdout } of ranks) expect(stdout).toMatch(/ ring 2 --model .* --pipeline$/m);
    });
  });

  inTurn(1, 2)('that loses a rank', () => {
    it('gives no token after a rank was killed, until recover restarts the mesh', async () => {
      const died = expect.stringContaining('generation thread died: [ring] connection to a peer was lost');
      expect(await afterSignal(second, 'KILL')).toMatchObject({
        token: { kind: 'silent' },
        said: expect.arrayContaining([died]),
      });
      expect(leftIn(await rack.plan())[0]).toContain(`partial: rank 1 on ${second} was ended by a signal (Killed: 9)`);
      await recover('restart');
    });

    it('gives no token while a rank is suspended, until recover resumes the rank', async () => {
      expect(await afterSignal(second, 'STOP')).toMatchObject({ token: { kind: 'silent', isTimeout: true } });
      expect(leftIn(await rack.plan())[0]).toContain('hung: no token: ');
      await recover('continue');
    });

    it('is restarted by recover after the Mac of a rank has crashed and come back', async () => {
      await rack.behindOurBack((fleet) => fleet.setFault(['crash', second]));
      await recover('restart');
    });

    it('is stopped by recover while its cable is unplugged, and started by recover when it is back', async () => {
      await rack.behindOurBack((fleet) => fleet.setFault(['cable-missing', `${first}:4`]));
      expect(curesOf(await typed.type('recover', '--yes', '--json'))).toEqual([3, 'stop']);
      await rack.behindOurBack((fleet) => fleet.clearFault([]));
      await recover('start');
    });
  });

  inTurn(1, 2)('with a model that cannot be loaded', () => {
    it('shows why its start fails, and starts again with a complete model', async () => {
      expect(await rack.declare(mlxFile({ model: 'short' }))).toEqual([]);
      const { report, exit } = await rack.apply();
      const said = (report?.diagnostics ?? []).map(({ detail }) => plainText(detail ?? ''));
      expect(exit).toBe(1);
      expect(said.join('\n')).toContain('generation thread died');
      expect(await rack.declare(mlxFile())).toEqual([]);
      await rack.converge();
    });
  });

  it('stops without leaving a rank process behind', async () => {
    expect(await rack.declare(mlxFile({ state: 'stopped' }))).toEqual([]);
    const { report } = await rack.converge();
    expect(report?.diagnostics).toEqual([]);
    const ranks = await Promise.all([first, second].map((node) => rack.asRoot(node, 'ps -axo command')));
    expect(ranks.map(({ stdout }) => stdout).join('')).not.toContain('rank.py');
  });
});

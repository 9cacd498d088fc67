import { copyFile, cp, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { RecordedRank } from '../../src/model/facts/fact-values.ts';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { json } from '../cli/meshwright.ts';
import { inTurn } from '../in-turn.ts';
import { findRealMlx, requirements } from '../mlx/real-mlx.ts';
import { type FileValue, filePart, first, pairFile, second } from '../scenarios/converge-file.ts';
import { changesIn, expectNothingToDo, leftIn, patience } from '../scenarios/converge-rack.ts';
import { nodeArchive } from '../scenarios/published-sources.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';
import { type TypedRack, typedRack } from './typed.ts';

const real = findRealMlx();
let folder: string;
let rack: NamespaceRack;
let typed: TypedRack;

/** The pair with the real mlx_lm. @param chat keys of the placement */
const mlxFile = (chat: FileValue = {}): FileValue =>
  pairFile((file) => {
    const python = real?.version;
    file['gateway'] = { node: nodeArchive };
    file['runtimes'] = { mlx: { driver: 'mlx', archive: join(folder, 'uv.tar.gz'), python, requirements } };
    file['models'] = { tiny: { source: join(folder, 'model') }, short: { source: join(folder, 'short') } };
    const more = { model: 'tiny', runtime: 'mlx', transport: 'tcp', context: '2k', expect: { firstToken: '20s' } };
    Object.assign(filePart(file, 'placements', 'chat'), more, chat);
  });

beforeAll(async () => {
  if (real === undefined) return;
  folder = await mkdtemp(join(tmpdir(), 'mw-mlx-'));
  await copyFile(real.archive(), join(folder, 'uv.tar.gz'));
  for (const name of ['model', 'short']) await cp(real.model, join(folder, name), { recursive: true });
  await truncate(join(folder, 'short/model.safetensors'), 100_000);
  rack = await startNamespaceRack('mlx', mlxFile());
}, patience);
afterAll(async () => {
  typed?.end();
  await rack?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, patience);

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

/** Starts the mesh again. Returns the codes of the run's diagnostics. */
async function healed(): Promise<readonly string[]> {
  const { plan, report } = await rack.converge();
  expect(changesIn(plan)).toEqual([`${first} placement/chat`]);
  expect(await rankOn(first)).toMatchObject({ token: { kind: 'answered' } });
  return (report?.diagnostics ?? []).map(({ code }) => code);
}

describe.skipIf(real === undefined)('a mesh of the real mlx_lm on two Macs', { timeout: 2 * patience }, () => {
  it('starts from scratch and answers', async () => {
    const { plan, report } = await rack.converge();
    expect(changesIn(plan)).toEqual(
      expect.arrayContaining([`${second} runtime/mlx`, `${second} model/tiny`, `${first} placement/chat`]),
    );
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    const said = ['meshwright: group of 2 ranks over ring'];
    expect(await rankOn(first)).toMatchObject({ said, token: { kind: 'answered' }, isListening: true });
    expect(await rankOn(second)).toMatchObject({ said });
  });

  it('needs no changes in a second apply', () => expectNothingToDo(rack));

  inTurn(0, 2)('that serves', () => {
    it('is asked, shown and measured by the commands', async () => {
      typed = typedRack(rack, mlxFile());
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

    it('answers four requests at once behind its gateway', async () => {
      const messages = [{ role: 'user', content: 'Tell me of the cable.' }];
      const body = JSON.stringify({ model: 'chat', messages, max_tokens: 8, temperature: null });
      const curl = `/usr/bin/curl -q -s -m 60 -H 'Content-Type: application/json' --data-binary '${body}'`;
      const url = 'http://127.0.0.1:8080/v1/chat/completions';
      const { stdout } = await rack.asRoot(first, `for n in 1 2 3 4; do { ${curl} ${url}; echo; } & done; wait`);
      expect(stdout.match(/"finish_reason": "length"/g)).toHaveLength(4);
    });

    it('becomes a pipeline', async () => {
      expect(await rack.declare(mlxFile({ sharding: 'pipeline' }))).toEqual([]);
      expect(await healed()).toEqual([]);
      const ranks = await Promise.all([first, second].map((node) => rack.asRoot(node, 'ps -axo command')));
      for (const { stdout } of ranks) expect(stdout).toMatch(/ ring 2 --model .* --pipeline$/m);
    });
  });

  inTurn(1, 2)('that loses a rank', () => {
    it('gives no token after a rank was killed, and starts again', async () => {
      const died = expect.stringContaining('generation thread died: [ring] connection to a peer was lost');
      expect(await afterSignal(second, 'KILL')).toMatchObject({
        token: { kind: 'silent' },
        said: expect.arrayContaining([died]),
      });
      expect(leftIn(await rack.plan())[0]).toContain(`partial: rank 1 on ${second} was ended by a signal (Killed: 9)`);
      expect(await healed()).toEqual([]);
    });

    it('gives no token while a rank is suspended, and starts again', async () => {
      expect(await afterSignal(second, 'STOP')).toMatchObject({ token: { kind: 'silent', isTimeout: true } });
      expect(leftIn(await rack.plan())[0]).toContain('hung: no token: ');
      expect(await healed()).toEqual(['mesh/killed']);
    });
  });

  inTurn(1, 2)('with a model that cannot be loaded', () => {
    it('shows why, and starts again with a whole model', async () => {
      expect(await rack.declare(mlxFile({ model: 'short' }))).toEqual([]);
      const { report, exit } = await rack.apply();
      const said = (report?.diagnostics ?? []).map(({ detail }) => plainText(detail ?? ''));
      expect(exit).toBe(1);
      expect(said.join('\n')).toContain('generation thread died');
      expect(await rack.declare(mlxFile())).toEqual([]);
      await rack.converge();
    });
  });

  it('stops with nothing left', async () => {
    expect(await rack.declare(mlxFile({ state: 'stopped' }))).toEqual([]);
    const { report } = await rack.converge();
    expect(report?.diagnostics).toEqual([]);
    const ranks = await Promise.all([first, second].map((node) => rack.asRoot(node, 'ps -axo command')));
    expect(ranks.map(({ stdout }) => stdout).join('')).not.toContain('rank.py');
  });
});

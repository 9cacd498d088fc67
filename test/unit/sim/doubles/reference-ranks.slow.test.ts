import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doubleText } from '../../../../src/sim/doubles/double-files.ts';
import { writeTinyModel } from '../../../../src/sim/doubles/reference.ts';
import { createPortClaims } from '../../../../src/sim/hosts/link-table.ts';

const endpoint = '127.0.0.1:8080';

let folder = '';
let program = '';
let claims: ReturnType<typeof createPortClaims>;
let ranks: readonly ChildProcess[] = [];
/** The addresses that each rank can reach, by rank: address → loopback address. */
let tables: Map<string, string>[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mw-ranks-'));
  program = join(folder, 'rank');
  await writeFile(program, doubleText('ranks/rank.pl'));
  claims = createPortClaims();
});
afterEach(async () => {
  for (const rank of ranks) rank.kill('SIGKILL');
  ranks = [];
  await claims.close();
  await rm(folder, { recursive: true, force: true });
});

const addressOf = (rank: number): string => `10.77.0.${rank + 1}:51000`;
const modelOf = (rank: number): string => join(folder, `model-${rank}`);
const tablePath = (rank: number): string => join(folder, `table-${rank}`);

async function writeTable(rank: number): Promise<void> {
  const lines = [...(tables[rank] ?? [])].map(([address, place]) => `${address} ${place}\n`);
  await writeFile(`${tablePath(rank)}.new`, lines.join(''));
  await rename(`${tablePath(rank)}.new`, tablePath(rank));
}

interface Mesh {
  readonly size: number;
  readonly generation?: number;
  /** The generation of the last rank, if it differs. */
  readonly oddGeneration?: number;
}

function startRank(rank: number, { size, generation = 1 }: Mesh): Promise<ChildProcess> {
  const peers = Array.from({ length: size }, (_, at) => addressOf(at)).join(',');
  const own = { rank, size, listen: addressOf(rank), peers, model: modelOf(rank) };
  // The deadline is longer than an answer takes on a busy machine.
  const words = Object.entries({ ...own, endpoint: 8080, generation, deadline: 20 });
  const child = spawn('perl', [program, ...words.flatMap(([name, value]) => [`--${name}`, String(value)])], {
    env: { PATH: process.env['PATH'], MESHWRIGHT_LINK_TABLE: tablePath(rank) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`rank ${rank} exited with ${code}`)));
  });
}

/** Starts all ranks: each reaches itself and the next rank, rank 0 also its endpoint. */
async function startMesh(mesh: Mesh): Promise<void> {
  const { size } = mesh;
  const places = await Promise.all(Array.from({ length: size + 1 }, async () => `127.0.0.1:${await claims.take()}`));
  tables = Array.from({ length: size }, (_, rank) => {
    const next = (rank + 1) % size;
    const seen = [...new Set([rank, next])].map((at) => [addressOf(at), places[at] ?? ''] as const);
    return new Map(rank === 0 ? [...seen, [endpoint, places[size] ?? '']] : seen);
  });
  await Promise.all(
    tables.map(async (_, rank) => {
      await writeTiny(rank);
      await writeTable(rank);
    }),
  );
  ranks = await Promise.all(
    tables.map((_, rank) => {
      const isOdd = mesh.oddGeneration !== undefined && rank === size - 1;
      return startRank(rank, isOdd ? { ...mesh, generation: mesh.oddGeneration } : mesh);
    }),
  );
}

const writeTiny = (rank: number): Promise<unknown> => writeTinyModel(modelOf(rank), 2_000);

interface Answer {
  readonly status: number;
  readonly text: string;
}

const baseUrl = (): string => `http://${tables[0]?.get(endpoint)}`;

async function ask(more: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const response = await fetch(`${baseUrl()}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'tiny', messages: [{ role: 'user', content: 'Who is there?' }], ...more }),
  });
  const answer = JSON.parse(await response.text());
  return { status: response.status, text: String(answer.choices?.[0].message.content ?? answer.error.message) };
}

const digest = /^[0-9a-f]{64}$/;

describe('the reference runtime', () => {
  it('answers equal questions with equal digests of the requested length', async () => {
    await startMesh({ size: 3 });
    const whole = await ask();
    expect(whole).toEqual({ status: 200, text: expect.stringMatching(digest) });
    expect(await ask()).toEqual(whole);
    expect(await ask({ max_tokens: 1 })).toEqual({ status: 200, text: whole.text.slice(0, 8) });
    expect(await ask({ messages: [{ role: 'user', content: 'Else?' }] })).not.toEqual(whole);
  });

  it('returns 503 while the receiving end of a cable is unplugged', async () => {
    await startMesh({ size: 2 });
    tables[1]?.delete(addressOf(1));
    await writeTable(1);
    expect(await ask()).toEqual({ status: 503, text: `rank 1 at ${addressOf(1)} sent no answer` });
  });

  it('returns 503 if a rank has a different generation', async () => {
    await startMesh({ size: 2, generation: 4, oddGeneration: 3 });
    expect(await ask()).toEqual({ status: 503, text: 'rank 1 is of generation 3' });
  });

  it('answers with a single rank, differently in each generation', async () => {
    await startMesh({ size: 1, generation: 1 });
    const first = await ask();
    ranks[0]?.kill('SIGKILL');
    await claims.close();
    await startMesh({ size: 1, generation: 2 });
    const second = await ask();
    expect([first.status, second.status, first.text === second.text]).toEqual([200, 200, false]);
  });

  it('lists its model and rejects unknown requests', async () => {
    await startMesh({ size: 1 });
    expect(await (await fetch(`${baseUrl()}/v1/models`)).json()).toMatchObject({ data: [{ id: 'model-0' }] });
    expect((await fetch(`${baseUrl()}/v1/completions`)).status).toBe(404);
    expect((await ask({ messages: [] })).status).toBe(400);
  });

  it('does not start on an address missing from its machine', async () => {
    tables = [new Map()];
    await writeTiny(0);
    await writeTable(0);
    await expect(startRank(0, { size: 1 })).rejects.toThrow('rank 0 exited with 1');
  });
});

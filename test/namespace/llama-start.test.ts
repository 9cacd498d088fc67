import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { lastWordsPath, writeLlamaArchive } from '../llama/llama-archive.ts';
import { llamaFile, meshNodes } from '../llama/llama-file.ts';
import { findLlamaPackages, llamaPackages } from '../llama/packages.ts';
import { sampleOf } from '../sample.ts';
import { filePart } from '../scenarios/converge-file.ts';
import { patience, rankNodes } from '../scenarios/converge-rack.ts';
import { justBefore, toldOfRanks } from '../scenarios/failed-start.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';

const found = findLlamaPackages();
let folder: string;
let rack: NamespaceRack;

const file = (state: 'serving' | 'stopped') =>
  llamaFile(folder, (value) => {
    filePart(value, 'placements', 'chat')['state'] = state;
  });

beforeAll(async () => {
  if (found.kind === 'missing') return;
  folder = await mkdtemp(join(tmpdir(), 'mw-llama-'));
  await writeLlamaArchive(join(folder, 'llama.tar.gz'), llamaPackages(found));
  await writeTinyGguf(join(folder, 'model/tiny.gguf'), tinyShape);
  rack = await startNamespaceRack('starts', file('stopped'));
  await rack.converge();
  expect(await rack.declare(file('serving'))).toEqual([]);
}, patience);
afterAll(async () => {
  await rack?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Workers start first. Rank 0 is the server. */
const ranks = meshNodes.map((node, rank) => [rank, node] as const);

/** The error messages of the programs. */
const lastWords = (rank: number): string =>
  rank === 0 ? "error loading model: unknown model architecture: 'new'" : 'Failed to create server socket';

const stopOnceItRuns = `pid() { launchctl print system/dev.meshwright.rank.chat | awk '$1 == "pid" { print $3 }'; }
until p=$(pid) && [ -n "$p" ]; do sleep 0.05; done
kill -STOP "$p"`;

const apply = (listen = justBefore('none', () => undefined).listen) =>
  rack.behindOurBack(() => rack.apply({ onEvent: listen }));

describe.skipIf(found.kind === 'missing')('a start of the real llama.cpp', { timeout: patience }, () => {
  it.each(sampleOf(ranks, { few: 1, oneIn: 3 }))(
    'leaves nothing running if rank %i on %s exits with a reason',
    async (rank, node) => {
      await rack.asRoot(node, `printf '%s\\n' "${lastWords(rank)}" > ${lastWordsPath}`);
      const { report } = await apply();
      expect(rack.fleet().processes()).toEqual([]);
      expect(toldOfRanks(report)).toEqual([
        {
          code: 'mesh/first-failing-rank',
          detail: expect.stringMatching(
            new RegExp(`^Rank ${rank} on ${node} exited \\(1\\)\\. .*It logged:\\n${lastWords(rank)}`, 's'),
          ),
        },
      ]);
      await rack.asRoot(node, `rm ${lastWordsPath}`);
    },
  );

  it.each(sampleOf(ranks, { few: 1, oneIn: 3 }))(
    'leaves nothing running if rank %i on %s is suspended',
    async (_rank, node) => {
      let stopped: Promise<unknown> | undefined;
      const happening = justBefore(
        'kick',
        () => {
          stopped = rack.asRoot(node, stopOnceItRuns);
        },
        node,
      );
      const { report } = await apply(happening.listen);
      expect(await stopped).toMatchObject({ code: 0 });
      expect(rack.fleet().processes()).toEqual([]);
      expect(toldOfRanks(report)).toEqual([
        { code: 'mesh/no-failing-rank', detail: expect.stringMatching(/^No rank exited or logged a known error\./) },
      ]);
    },
  );

  it('succeeds once the fault is gone', async () => {
    await rack.converge();
    expect(rankNodes(rack)).toEqual([...meshNodes]);
  });
});

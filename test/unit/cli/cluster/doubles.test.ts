import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  doublesIn,
  doublesText,
  withDoubles,
  withoutDoubled,
  writeDoubles,
} from '../../../../src/cli/cluster/doubles.ts';
import { exampleDrivers, exampleText } from '../../../../src/cli/sim/sim-example.ts';
import type { Run } from '../../../../src/cli/verb.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digest } from '../../../../src/model/digest.ts';
import { textOf } from '../../../architecture/sources.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const { path: folder, at, write } = temporaryFolder();

const file = at('cluster.yaml');
const runOf = (sim: boolean) =>
  ({ env: { MESHWRIGHT_STATE: folder }, options: { sim }, console: { columns: 62 } }) as unknown as Run;

function load(text: string): DesiredFleet {
  const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined || diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  return fleet;
}

const example = (driver: (typeof exampleDrivers)[number], isPublished = true): DesiredFleet =>
  load(exampleText(textOf('cluster.example.yaml'), { driver, isPublished }));

/** The fleet with this file as every runtime's archive. */
const withArchive = (fleet: DesiredFleet, archive: string): DesiredFleet => ({
  ...fleet,
  runtimes: fleet.runtimes.map(({ release: _, ...one }) => ({ ...one, archive })),
});

const namesOf = (fleet: DesiredFleet, sim = true): readonly string[] =>
  doublesIn(runOf(sim), file, fleet).map(({ name }) => name);

describe('doubles on a simulated rack', () => {
  it('replace missing archives, with the names and versions in the file', () => {
    expect(exampleDrivers.map((driver) => namesOf(example(driver)))).toEqual([
      ['double of exo 1.0.71', 'double of Node 22.22.0'],
      ['double of uv and mlx-lm', 'double of Node 22.22.0'],
      ['double of llama.cpp b10950', 'double of Node 22.22.0'],
      ['double of Node 22.22.0'],
    ]);
  });

  it('are not used for real Macs or for existing archives', () => {
    expect(namesOf(example('exo'), false)).toEqual([]);
    const archive = write('there.tar.gz', 'an archive');
    expect(namesOf(withArchive(example('llamacpp', false), archive))).toEqual([]);
  });

  it('replace a disk image that only a Mac can mount', () => {
    const archive = write('EXO-1.0.71.dmg', 'koly');
    const [one] = doublesIn(runOf(true), file, withArchive(example('exo', false), archive));
    expect(one?.why).toBe('is a disk image, which only a Mac can mount');
  });

  it('are listed with a reason in lines that fit the terminal', () => {
    const exo = withArchive(example('exo'), './dist/EXO-of-a-site-of-its-own.dmg');
    const text = sayValue(doublesText(runOf(true), file, exo));
    expect(text.split('\n').every((line) => line.length <= 62)).toBe(true);
    expect(text).toContain('simulated: double of exo 1.0.71:\n  ./dist/EXO-of');
    expect(text).toContain('simulated: double of Node 22.22.0: a rehearsal downloads no\n  release');
    expect(doublesText(runOf(false), file, example('llamacpp'))).toBe('');
  });

  it('are archives with every program at the path that the file gives', async () => {
    const fleet = {
      ...example('mlx'),
      runtimes: ['exo', 'mlx', 'llamacpp'].flatMap((one) => example(one as 'exo').runtimes),
    };
    const doubles = doublesIn(runOf(true), file, fleet);
    await writeDoubles(doubles);
    const { runtimes, gateway } = withDoubles(fleet, doubles);
    const [exo = '', mlx = '', llama = '', node = ''] = await Promise.all(
      [...runtimes, gateway].map((one) => readFile(one?.archive ?? '', 'latin1')),
    );
    expect(exo).toContain('EXO.app/Contents/Resources/exo/exo\0');
    expect(mlx).toContain('uv-aarch64-apple-darwin/uv\0');
    expect(llama).toContain('bin/llama-server\0');
    expect(llama).toContain('bin/ggml-rpc-server\0');
    expect(node).toContain('node-v22.22.0-darwin-arm64/bin/node\0');
    const list = runtimes.flatMap(({ extras }) => extras.map(({ source }) => source));
    expect(await readFile(list[0] ?? '', 'utf8')).toContain('mlx-lm==');
  });

  it('do not use the digests in the lock', () => {
    const kept = { sha256: digest('a'.repeat(64)), sizeBytes: 1 };
    const lock = {
      ...emptyLock('cluster.lock'),
      runtimes: { exo: kept, reference: kept },
      releases: { exo: 'https://a.lan/exo.dmg', reference: 'https://a.lan/reference.tar.gz' },
      runtimeFiles: { 'exo/list': kept, 'reference/list': kept },
    };
    const left = withoutDoubled(lock, doublesIn(runOf(true), file, example('exo')));
    const { runtimes, releases = {}, runtimeFiles = {} } = left;
    expect([runtimes, releases, runtimeFiles].map(Object.keys)).toEqual([
      ['reference'],
      ['reference'],
      ['reference/list'],
    ]);
    expect(withoutDoubled(lock, [])).toBe(lock);
  });
});

onOnePage('doubles');

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type FileValue, filePart, pairFile } from '../scenarios/converge-file.ts';
import { json } from './meshwright.ts';
import { pairPlace } from './pair.ts';

/** The reference runtime mixes this generation into every answer: a constant, or that of each start. */
const withGeneration =
  (generation: string) =>
  (file: FileValue): void => {
    const reference = filePart(file, 'runtimes', 'reference');
    const words = Object.values(filePart(file, 'runtimes', 'reference', 'command')).map(String);
    reference['command'] = words.map((word) => (word === '{generation}' ? generation : word));
    reference['token'] = { golden: 'equal' };
  };

interface Rank {
  readonly generation: number;
  readonly golden?: { readonly sha256: string; readonly firstTokenMs: number };
}

async function leader(): Promise<Rank | undefined> {
  const document = json(await run('facts', '--sim', '--json', '--fact', 'placements', '--nodes', 'studio-1')) as {
    readonly nodes: Readonly<Record<string, { readonly placements: { readonly value: readonly Rank[] } }>>;
  };
  return document.nodes['studio-1']?.placements.value[0];
}

const { place, run } = pairPlace(pairFile(withGeneration('1')), { isApplied: true });

describe('the golden answer', () => {
  it('is recorded at the first start, and is the same after a restart', async () => {
    const first = await leader();
    expect(first?.golden?.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
    const second = await leader();
    expect([second?.golden?.sha256, second?.generation]).toEqual([first?.golden?.sha256, (first?.generation ?? 0) + 1]);
    expect((await run('plan', '--sim', '--detailed-exitcode')).code).toBe(0);
  });

  it('fails a start with a different answer, and leaves nothing running', async () => {
    place.write('cluster.yaml', stringify(pairFile(withGeneration('{generation}'))));
    const other = await run('apply', '--sim', '--yes', '--allow', 'interrupt');
    expect([other.code, other.stderr]).toEqual([0, '']);
    const ran = await run('restart', 'chat', '--sim', '--yes');
    expect(ran.code).toBe(1);
    expect(ran.stdout + ran.stderr).toContain('mesh/another-answer');
    const status = await run('status', '--sim', '--json');
    const { placements } = json(status) as {
      readonly placements: Readonly<Record<string, { readonly state: string }>>;
    };
    expect(placements['chat']?.state).toBe('stopped');
  });
});

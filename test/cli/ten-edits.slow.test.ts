import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { EndpointsDocument } from '../../src/model/documents.generated.ts';
import { askAllTheTime, type Endpoint } from '../rack/steady-clients.ts';
import { type FileValue, filePart, fileText, writeSources } from '../scenarios/converge-file.ts';
import { nodeArchive, writePublishedSources } from '../scenarios/published-sources.ts';
import { placeOf } from './fleet.ts';
import { json, meshwright } from './meshwright.ts';
import { exampleText } from './place.ts';

const endpoint = { port: 8_080, listen: 'lan', access: 'anybody' };

/** The simulated rack: chat on two of four Macs, behind a gateway. */
const rack = parse(exampleText) as FileValue;
rack['gateway'] = { node: nodeArchive };
filePart(rack, 'thunderbolt')['rdma'] = 'auto';
Object.assign(filePart(rack, 'placements', 'chat'), { nodes: ['studio-1', 'studio-2'], endpoint });

/** The file, which each test edits. At first, it has only three of the Macs. */
const file = structuredClone(rack);
const part = (...keys: readonly string[]): FileValue => filePart(file, ...keys);
const links = Object.values(part('thunderbolt', 'links')).map(String);
const ofLast = (link: string): boolean => link.includes('studio-4');
const isUnused = (link: string): boolean => link === 'studio-2:3 <-> studio-3:3';
const keepLinks = (isKept: (link: string) => boolean): void =>
  void Object.assign(part('thunderbolt'), { links: links.filter(isKept) });
delete part('nodes')['studio-4'];
keepLinks((link) => !ofLast(link));

const { place, run } = placeOf(fileText(rack), {
  write: async (folder) => {
    await writeSources(folder);
    await writePublishedSources(folder);
  },
});

/** The endpoint of each placement in the file. */
async function endpoints(): Promise<readonly Endpoint[]> {
  const printed = json(await run('endpoints', '--sim', '--json')) as EndpointsDocument;
  return printed.endpoints.map(({ placement, url, model }) => ({ placement, url: () => url, model }));
}

interface Planned {
  readonly changes: readonly unknown[];
  readonly effects: readonly { readonly kind: string; readonly placements: readonly string[] }[];
}

/**
 * Edits the file, plans and applies, while a client of each placement asks all the time. Expects that the plan lists
 * exactly the placements that stopped answering, and returns them.
 */
async function interruptedBy(edit: () => void): Promise<readonly string[]> {
  const clients = await askAllTheTime(await endpoints());
  edit();
  place.write('cluster.yaml', fileText(file));
  const planned = json(await run('plan', '--sim', '--json')) as Planned;
  const applied = await run('apply', '--sim', '--yes', '--allow', 'interrupt');
  const lost = await clients.stop();
  expect([applied.code, planned.changes.length > 0], `${applied.stdout}${applied.stderr}`).toEqual([0, true]);
  const listed = planned.effects.flatMap(({ kind, placements }) => (kind === 'interrupt' ? placements : []));
  expect(Object.keys(lost).sort(), JSON.stringify(lost)).toEqual(listed);
  return listed;
}

/** A new Mac in place of a dead one, whose host key a person has compared. */
async function replaceMac(node: string): Promise<void> {
  await run('sim', 'fault', 'mac-replaced', node);
  const words = ['replace', node, '--sim', '--yes', '--json', '--password-env', 'ITS_PASSWORD'];
  const replace = (...more: readonly string[]) =>
    meshwright(place, [...words, ...more], { env: { ITS_PASSWORD: 'simulated' } });
  const { nodes } = json(await replace()) as Readonly<
    Record<'nodes', Readonly<Record<string, { fingerprint: string }>>>
  >;
  const replaced = await replace('--expect', String(nodes[node]?.fingerprint));
  expect(replaced.code, replaced.stdout).toBe(0);
}

/** Every edit of an ordinary month but one: a node cannot be renamed yet. */
const edits: readonly (readonly [string, interrupted: readonly string[], edit: () => void])[] = [
  [
    'a new model with a placement',
    [],
    () => {
      part('runtimes')['own'] = structuredClone(part('runtimes', 'reference'));
      part('models')['newer'] = { source: './models/newer' };
      const ports = { ...endpoint, port: 8_081 };
      const solo = { model: 'newer', runtime: 'own', nodes: ['studio-2'], transport: 'tcp', context: '8k' };
      part('placements')['solo'] = { ...solo, endpoint: ports };
    },
  ],
  ['a move', ['solo'], () => Object.assign(part('placements', 'solo'), { nodes: ['studio-3'] })],
  ['a new version', ['chat'], () => Object.assign(part('runtimes', 'reference'), { archive: './dist/newer.tar.gz' })],
  ['the removal of an unused cable', [], () => keepLinks((link) => !ofLast(link) && !isUnused(link))],
  [
    'one more Mac',
    [],
    () => {
      part('nodes')['studio-4'] = filePart(rack, 'nodes', 'studio-4');
      keepLinks((link) => !isUnused(link));
    },
  ],
  ['a new address pool', ['chat'], () => Object.assign(part('thunderbolt', 'addressing'), { pool: '10.78.0.0/24' })],
  [
    'mlx instead of a program',
    ['chat'],
    () => {
      part('runtimes')['mlx'] = { driver: 'mlx', python: '3.12', requirements: './requirements.lock' };
      part('models')['llama'] = { source: './models/llama' };
      Object.assign(part('placements', 'chat'), { runtime: 'mlx', model: 'llama' });
    },
  ],
  ['a larger context', ['chat'], () => Object.assign(part('placements', 'chat'), { context: '16k' })],
];

describe('an edit to the file', () => {
  // The tests continue on one rack in this order, so they do not run alone.
  it('interrupts nothing before the first start', async () => {
    expect(await interruptedBy(() => undefined)).toEqual([]);
  });

  it.each(edits)('interrupts exactly the placements that the plan lists: %s', async (_title, interrupted, edit) => {
    expect(await interruptedBy(edit)).toEqual(interrupted);
  });

  it('interrupts exactly the placements that the plan lists: a dead Mac replaced by a new Mac', async () => {
    await replaceMac('studio-3');
    expect(await interruptedBy(() => undefined)).toEqual([]);
    expect((await run('ask', 'solo', 'Hello', '--sim')).code).toBe(0);
  });

  it('interrupts exactly the placements that the plan lists: a removed placement', async () => {
    expect(await interruptedBy(() => delete part('placements')['solo'])).toEqual(['solo']);
  });
});

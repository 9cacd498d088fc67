import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleText as exampleFor, prepareDemo } from '../../src/cli/sim/sim-example.ts';
import { textOf } from '../architecture/sources.ts';
import { type FileValue, filePart, fileText, writeSources } from '../scenarios/converge-file.ts';
import { nodeArchive, writePublishedSources } from '../scenarios/published-sources.ts';
import { endPlace, placeWithFile } from './fleet.ts';
import { meshwright, meshwrightHere } from './meshwright.ts';
import { exampleText, type Place } from './place.ts';
import { stable } from './placeholders.ts';

interface Edit {
  /** The name of the golden file. */
  readonly name: string;
  readonly edit?: (file: FileValue) => void;
  /** A fault of the simulated rack during the plan. */
  readonly fault?: readonly [fault: string, target: string];
  /** What the first five lines must say. */
  readonly says: RegExp;
}

const published = { listen: 'lan', access: 'anybody' };

/** Four Macs with two placements, and a fifth Mac that is not in the file yet. */
function rack(): { readonly whole: FileValue; readonly file: FileValue } {
  const whole = parse(exampleText) as FileValue;
  whole['gateway'] = { node: nodeArchive };
  filePart(whole, 'thunderbolt')['rdma'] = 'auto';
  filePart(whole, 'nodes')['studio-5'] = structuredClone(filePart(whole, 'nodes', 'studio-3'));
  filePart(whole, 'nodes', 'studio-5')['host'] = 'studio-5.lan';
  filePart(whole, 'runtimes')['own'] = structuredClone(filePart(whole, 'runtimes', 'reference'));
  filePart(whole, 'models')['newer'] = { source: './models/newer' };
  const placements = filePart(whole, 'placements');
  Object.assign(filePart(placements, 'chat'), {
    nodes: ['studio-1', 'studio-2'],
    endpoint: { port: 8_080, ...published },
  });
  const solo = { model: 'newer', runtime: 'own', nodes: ['studio-3'], transport: 'tcp', context: '8k' };
  placements['solo'] = { ...solo, endpoint: { port: 8_081, ...published } };
  const file = structuredClone(whole);
  delete filePart(file, 'nodes')['studio-5'];
  return { whole, file };
}

const { whole, file } = rack();

const chat = (keys: FileValue) => (edited: FileValue) =>
  void Object.assign(filePart(edited, 'placements', 'chat'), keys);
const solo = (keys: FileValue) => (edited: FileValue) =>
  void Object.assign(filePart(edited, 'placements', 'solo'), keys);
const section = (name: string, keys: FileValue) => (edited: FileValue) =>
  void Object.assign(filePart(edited, name), keys);

const commandEdits: readonly Edit[] = [
  { name: 'nothing', says: /Interrupts nothing[\s\S]*Nothing to change on 4 Macs/ },
  {
    name: 'add-a-model',
    edit: (edited) => {
      filePart(edited, 'models')['large'] = { source: './models/large' };
      filePart(edited, 'placements')['more'] = {
        ...structuredClone(filePart(file, 'placements', 'solo')),
        ...{ model: 'large', nodes: ['studio-4'], endpoint: { port: 8_082, ...published } },
      };
    },
    says: /Interrupts nothing[\s\S]*starts more/,
  },
  { name: 'move-a-placement', edit: solo({ nodes: ['studio-4'] }), says: /Interrupts `solo` for up to \d+/ },
  { name: 'turn-the-order', edit: chat({ nodes: ['studio-2', 'studio-1'] }), says: /Interrupts `chat` for up to/ },
  {
    name: 'remove-a-placement',
    edit: (edited) => void delete filePart(edited, 'placements')['solo'],
    says: /Stops `solo`/,
  },
  { name: 'stop-a-placement', edit: chat({ state: 'stopped' }), says: /Stops `chat`/ },
  { name: 'larger-context', edit: chat({ context: '16k' }), says: /Interrupts `chat` for up to/ },
  {
    name: 'new-runtime-archive',
    edit: (edited) =>
      section('runtimes', { own: { ...filePart(edited, 'runtimes', 'own'), archive: './dist/newer.tar.gz' } })(edited),
    says: /Interrupts `solo` for up to/,
  },
  {
    name: 'another-runtime',
    edit: (edited) => {
      filePart(edited, 'runtimes')['mlx'] = { driver: 'mlx', python: '3.12', requirements: './requirements.lock' };
      filePart(edited, 'models')['llama'] = { source: './models/llama' };
      chat({ runtime: 'mlx', model: 'llama' })(edited);
    },
    says: /Interrupts `chat` for up to/,
  },
  {
    name: 'remove-a-cable',
    edit: (edited) => {
      const links = Object.values(filePart(edited, 'thunderbolt', 'links')).map(String);
      filePart(edited, 'thunderbolt')['links'] = links.filter((link) => link !== 'studio-2:3 <-> studio-3:3');
    },
    says: /Interrupts nothing/,
  },
  {
    name: 'another-address-pool',
    edit: section('thunderbolt', { addressing: { pool: '10.78.0.0/24' } }),
    says: /Interrupts `chat`/,
  },
  {
    name: 'a-fifth-mac',
    edit: (edited) => {
      filePart(edited, 'nodes')['studio-5'] = structuredClone(filePart(whole, 'nodes', 'studio-5'));
      const links = Object.values(filePart(edited, 'thunderbolt', 'links')).map(String);
      filePart(edited, 'thunderbolt')['links'] = [...links, 'studio-4:5 <-> studio-5:2'];
    },
    says: /Interrupts nothing/,
  },
  { name: 'another-port', edit: solo({ endpoint: { port: 8_090, ...published } }), says: /Interrupts `solo`/ },
  { name: 'a-setting-of-every-mac', edit: section('power', { sleep: 30 }), says: /Interrupts nothing/ },
  {
    name: 'a-mac-does-not-answer',
    edit: chat({ context: '4k' }),
    fault: ['connection-drop', 'studio-2'],
    says: /still wait[\s\S]*Not reached/,
  },
  { name: 'rdma-is-off', edit: chat({ transport: 'rdma' }), fault: ['rdma-disabled', 'studio-2'], says: /manual step/ },
  { name: 'a-replaced-mac', fault: ['mac-replaced', 'studio-3'], says: /Not reached, so not in this plan: studio-3/ },
];

const exoEdits: readonly Edit[] = [
  {
    name: 'exo-to-mlx',
    edit: (edited) => {
      filePart(edited, 'runtimes')['mlx'] = { driver: 'mlx', python: '3.12', requirements: './requirements.lock' };
      chat({ runtime: 'mlx' })(edited);
    },
    says: /Interrupts `chat` for up to/,
  },
  {
    name: 'another-exo',
    edit: (edited) => section('runtimes', { exo: { driver: 'exo', version: '1.0.72' } })(edited),
    says: /Interrupts `chat` for up to/,
  },
  {
    name: 'a-smaller-mesh',
    edit: chat({ nodes: ['studio-1', 'studio-2'], context: '32k' }),
    says: /Interrupts `chat` for up to/,
  },
];

describe.each([
  { of: 'a program', edits: commandEdits },
  { of: 'exo', edits: exoEdits },
])('plan --format markdown on a rack that serves with $of', ({ of, edits }) => {
  let place: Place;
  let base: FileValue;

  beforeAll(async () => {
    if (of === 'exo') {
      const text = exampleFor(textOf('cluster.example.yaml'), { driver: 'exo', isPublished: true });
      place = await placeWithFile(text, (folder) => prepareDemo(folder));
      base = parse(text) as FileValue;
    } else {
      place = await placeWithFile(fileText(whole), async (folder) => {
        await writeSources(folder);
        await writePublishedSources(folder);
      });
      base = file;
    }
    place.write('cluster.yaml', fileText(base));
    const applied = await meshwright(place, ['apply', '--sim', '--yes']);
    expect(applied.code, applied.stdout).toBe(0);
  });
  afterAll(() => endPlace(place));

  it.each(edits)('says first what is interrupted: $name', async ({ name, edit, fault, says }) => {
    const edited = structuredClone(base);
    edit?.(edited);
    place.write('cluster.yaml', fileText(edited));
    if (fault !== undefined) await meshwright(place, ['sim', 'fault', ...fault]);
    const { stdout, stderr } = await meshwrightHere(place, ['plan', '--sim', '--format', 'markdown']);
    if (fault !== undefined) await meshwright(place, ['sim', 'fault', '--clear', ...fault]);
    const text = stable(place, stdout)
      .replaceAll(/\b[0-9a-f]{32}\b/g, 'DIGEST')
      // They follow from our own programs, such as the gateway's.
      .replaceAll(/\bversion [0-9a-f]{16}\b/g, 'version DIGEST')
      .replaceAll(/\b\d+ kB (to|from)\b/g, 'N kB $1')
      .replaceAll(/\bpid \d+/g, 'pid N');
    await expect(text, stderr).toMatchFileSnapshot(`golden/plan-markdown/${name}.md`);
    expect(text.split('\n').slice(0, 5).join('\n')).toMatch(says);
  });
});

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { type ConvergeRack, leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { snippetsIn } from './page-snippets.ts';

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
const double = (name: string): Buffer =>
  Buffer.from(doubleText(...['http', name].map((part) => `../../../test/doubles/${part}.pl`)));

const [ds4, omlx, , tensorfold] = snippetsIn(textOf('../../docs/other-runtimes.md'));

/** llama.cpp on one node, with this drafter. */
const drafted = (drafter: string): FileValue =>
  pairFile((value) => {
    const llama = { driver: 'llamacpp-rpc', archive: './dist/llama.tar.gz', server: 'llama-server' };
    const models = ['large', 'small', 'other'].map((name) => [name, { source: `./models/${name}` }] as const);
    Object.assign(value, { runtimes: { llama }, models: Object.fromEntries(models) });
    value['placements'] = {
      chat: { model: 'large', drafter, runtime: 'llama', nodes: [first], transport: 'tcp', context: 512 },
    };
  });

async function writeDrafters(folder: string): Promise<void> {
  const content = Buffer.from(doubleText('llamacpp/llama.pl'));
  await writeFile(join(folder, 'dist/llama.tar.gz'), tarGz([{ path: 'llama-server', mode: 0o755, content }]));
  for (const [index, name] of ['large', 'small', 'other'].entries()) {
    await writeTinyGguf(join(folder, `models/${name}/${name}.gguf`), { ...tinyShape, layers: 4 - index });
  }
}

/** The page's examples for ds4, oMLX and TensorFold on the pair, with archives that tar can unpack. */
const file = (change: (value: FileValue) => void = () => undefined): FileValue =>
  pairFile((value) => {
    Object.assign(value, {
      runtimes: { ...ds4?.runtimes, ...omlx?.runtimes, ...tensorfold?.runtimes },
      models: { ...ds4?.models, ...tensorfold?.models, ...omlx?.models },
    });
    const folded = filePart(value, 'runtimes', 'tensorfold');
    for (const key of ['python', 'requirements', 'wheels']) delete folded[key];
    const [, ...words] = folded['command'] as readonly string[];
    Object.assign(folded, { archive: './dist/tensorfold.tar.gz', command: ['{runtime}/tensorfold', ...words] });
    filePart(value, 'runtimes', 'omlx')['archive'] = './dist/oMLX.tar.gz';
    value['placements'] = { ...ds4?.placements, ...omlx?.placements, ...tensorfold?.placements };
    Object.assign(filePart(value, 'placements', 'folded'), { nodes: [second], endpoint: { port: 8_091 } });
    filePart(value, 'placements', 'flash')['nodes'] = [first, second];
    filePart(value, 'placements', 'assistant')['endpoint'] = { port: 8_090 };
    delete value['gateway'];
    change(value);
  });

async function writeDoubles(folder: string): Promise<void> {
  const program = (path: string, name: string) => ({ path, mode: 0o755, content: double(name) });
  await mkdir(join(folder, 'models'), { recursive: true });
  await writeFile(join(folder, 'dist/ds4.tar.gz'), tarGz([program('ds4', 'ds4'), program('ds4-server', 'ds4')]));
  const cli = program('oMLX.app/Contents/MacOS/omlx-cli', 'omlx');
  await writeFile(join(folder, 'dist/oMLX.tar.gz'), tarGz([cli]));
  await writeFile(join(folder, 'dist/tensorfold.tar.gz'), tarGz([program('tensorfold', 'tensorfold')]));
  await writeTinyGguf(join(folder, 'models/ds4flash/ds4flash.gguf'), tinyShape);
  await writeTinyModel(join(folder, 'models/qwen3'));
}

describe('the runtimes in docs/other-runtimes.md', { timeout: patience }, () => {
  let rack: ConvergeRack;
  beforeAll(async () => {
    rack = await startConvergeRack('other-runtimes');
    await writeDoubles(rack.folder);
    await writeDrafters(rack.folder);
  }, patience);
  afterAll(() => rack.stop());

  it('produce a token: a ds4 pair over RDMA, oMLX after its preparation, and TensorFold', async () => {
    expect(await rack.declare(file())).toEqual([]);
    const { report, plan } = await rack.converge();
    expect(report?.diagnostics).toEqual([]);
    expect(plan.steps.filter(({ act }) => act.kind === 'job' && act.name === 'prepare-rank')).toHaveLength(1);
    const { nodes } = await rack.observe();
    expect(read(nodes[second]?.facts ?? {}, placementsFact)).toMatchObject({
      value: expect.arrayContaining([
        expect.objectContaining({ placement: 'folded', token: { kind: 'answered', text: 'Hello' } }),
      ]),
    });
    expect(read(nodes[first]?.facts ?? {}, placementsFact)).toMatchObject({
      kind: 'known',
      value: [
        { placement: 'assistant', token: { kind: 'answered', text: 'Hello' } },
        { placement: 'flash', token: { kind: 'answered', text: 'Hello' } },
      ],
    });
    expect(leftIn((await rack.apply()).plan)).toEqual([]);
  });

  it('keep serving if the next preparation fails, and report its last lines', async () => {
    const broken = file((value) => {
      filePart(value, 'runtimes', 'omlx')['prepare'] = ['/bin/sh', '-c', 'echo no room; exit 7'];
    });
    expect(await rack.declare(broken)).toEqual([]);
    const { report } = await rack.apply();
    expect(JSON.stringify(report?.diagnostics)).toContain('it exited with 7: no room');
    const seen = read((await rack.observe()).nodes[first]?.facts ?? {}, placementsFact);
    expect(seen).toMatchObject({ value: [{ placement: 'assistant', token: { kind: 'answered' } }, {}] });
  });

  it('produce a token on llama.cpp with a drafter, and the same answer with a different drafter', async () => {
    const seen = async () => {
      const facts = (await rack.observe()).nodes[first]?.facts ?? {};
      const placements = read(facts, placementsFact);
      const [chat] = placements.kind === 'known' ? placements.value : [];
      return { ...chat, drafter: Object(JSON.parse(chat?.declared ?? '{}')).drafter };
    };
    const published = async (): Promise<readonly string[]> =>
      (await rack.asRoot(first, 'ls "$R/opt/meshwright/models"')).stdout.trim().split('\n');
    expect(await rack.declare(drafted('small'))).toEqual([]);
    expect((await rack.converge()).report?.diagnostics).toEqual([]);
    const small = await seen();
    expect(small).toMatchObject({
      token: { kind: 'answered' },
      drafter: expect.stringMatching(/^small [0-9a-f]{16}$/),
    });
    expect(await published()).toEqual(expect.arrayContaining(['large', 'small']));
    expect(await rack.declare(drafted('other'))).toEqual([]);
    const { plan } = await rack.converge();
    expect(plan.effects.map(({ kind }) => kind)).toContain('interrupt');
    const other = await seen();
    expect([other.generation, other.golden?.sha256]).toEqual([(small.generation ?? 0) + 1, small.golden?.sha256]);
    expect(other.drafter).toMatch(/^other /);
  });
});

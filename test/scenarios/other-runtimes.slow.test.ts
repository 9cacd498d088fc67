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
import { tinyShape, writeTinyGguf } from '../../src/sim/doubles/tiny-gguf.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { type ConvergeRack, leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { snippetsIn } from './page-snippets.ts';

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
const double = (name: string): Buffer =>
  Buffer.from(doubleText(...['http', name].map((part) => `../../../test/doubles/${part}.pl`)));

const [ds4, omlx] = snippetsIn(textOf('../../docs/other-runtimes.md'));

/** The page's examples for ds4 and oMLX on the pair, with an archive that tar can unpack. */
const file = (change: (value: FileValue) => void = () => undefined): FileValue =>
  pairFile((value) => {
    Object.assign(value, {
      runtimes: { ...ds4?.runtimes, ...omlx?.runtimes },
      models: { ...ds4?.models, ...omlx?.models },
    });
    filePart(value, 'runtimes', 'omlx')['archive'] = './dist/oMLX.tar.gz';
    value['placements'] = { ...ds4?.placements, ...omlx?.placements };
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
  await writeTinyGguf(join(folder, 'models/ds4flash/ds4flash.gguf'), tinyShape);
  await writeTinyModel(join(folder, 'models/qwen3'));
}

describe('the runtimes of the page', { timeout: patience }, () => {
  let rack: ConvergeRack;
  beforeAll(async () => {
    rack = await startConvergeRack('other-runtimes');
    await writeDoubles(rack.folder);
  }, patience);
  afterAll(() => rack.stop());

  it('reach a token: a ds4 pair over RDMA, and oMLX after its preparation', async () => {
    expect(await rack.declare(file())).toEqual([]);
    const { report, plan } = await rack.converge();
    expect(report?.diagnostics).toEqual([]);
    expect(plan.steps.filter(({ act }) => act.kind === 'job' && act.name === 'prepare-rank')).toHaveLength(1);
    const seen = read((await rack.observe()).nodes[first]?.facts ?? {}, placementsFact);
    expect(seen).toMatchObject({
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
});

import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { type FileValue, filePart, first, pairFile } from './converge-file.ts';
import { type ConvergeRack, changesIn, leftIn, patience, startConvergeRack } from './converge-rack.ts';

const server = fileURLToPath(new URL('../llama/openai-server.mjs', import.meta.url));

/** The reason to skip these tests: the package has no library for this system. */
function whyNot(): string | undefined {
  try {
    createRequire(import.meta.url).resolve(`@fugood/node-llama-${process.platform}-${process.arch}/package.json`);
    return undefined;
  } catch {
    return `@fugood/llama.node has no library for ${process.platform} ${process.arch}`;
  }
}
const reason = whyNot();

/** One node with a real llama.cpp that computes with random weights. */
const file = (token?: FileValue): FileValue =>
  pairFile((value) => {
    filePart(value, 'runtimes')['llama'] = {
      driver: 'command',
      archive: './dist/llama.tar.gz',
      command: ['{runtime}/bin/serve', '{model}/tiny.gguf', '{endpoint}', '{context}'],
      joined: { listening: '{endpoint}' },
      ...(token === undefined ? {} : { token }),
    };
    filePart(value, 'models')['random'] = { source: './models/random' };
    value['placements'] = {
      chat: { model: 'random', runtime: 'llama', nodes: [first], transport: 'tcp', context: 256 },
    };
  });

async function writeLlama(folder: string): Promise<void> {
  const content = Buffer.from(`#!/bin/sh\nexec '${process.execPath}' '${server}' "$@"\n`);
  await writeFile(join(folder, 'dist/llama.tar.gz'), tarGz([{ path: 'bin/serve', mode: 0o755, content }]));
  await writeTinyGguf(join(folder, 'models/random/tiny.gguf'), tinyShape);
}

describe.skipIf(reason !== undefined)('a placement on a real llama.cpp', { timeout: patience }, () => {
  let rack: ConvergeRack;
  beforeAll(async () => {
    rack = await startConvergeRack('command-llama');
    await writeLlama(rack.folder);
  }, patience);
  afterAll(() => rack.stop());

  it('is installed with its model, started, and produces a token', async () => {
    expect(await rack.declare(file())).toEqual([]);
    const { plan, report } = await rack.converge();
    expect(changesIn(plan)).toEqual(expect.arrayContaining([`${first} model/random`, `${first} placement/chat`]));
    expect(report?.diagnostics).toEqual([]);
    const placements = read((await rack.observe()).nodes[first]?.facts ?? {}, placementsFact);
    expect(placements).toMatchObject({ kind: 'known', value: [{ token: { kind: 'answered' } }] });
  });

  it('needs no changes in a second apply', async () => {
    expect(leftIn((await rack.apply()).plan)).toEqual([]);
  });

  it('is started again after its process dies', async () => {
    await rack.behindOurBack(() =>
      rack.asRoot(
        first,
        'kill -9 "$("$R/bin/launchctl" print system/dev.meshwright.rank.chat | sed -n "s/^.pid = //p")"',
      ),
    );
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual([`${first} placement/chat`]);
  });

  it('answers the token request and the golden request on the older completions path', async () => {
    expect(await rack.declare(file({ path: '/v1/completions', golden: 'equal' }))).toEqual([]);
    const { report } = await rack.converge();
    expect(report?.diagnostics).toEqual([]);
    const placements = read((await rack.observe()).nodes[first]?.facts ?? {}, placementsFact);
    expect(placements).toMatchObject({
      kind: 'known',
      value: [{ tokenPointer: '/choices/0/text', token: { kind: 'answered' }, golden: { sha256: expect.any(String) } }],
    });
  });
});

it.runIf(reason !== undefined)(`the real llama.cpp is skipped: ${reason}`, () => {
  expect(reason).not.toBe('');
});

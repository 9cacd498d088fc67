import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyLock } from '../../src/config/lock.ts';
import { renderLock } from '../../src/config/lock-text.ts';
import { digest, digestOf } from '../../src/model/digest.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { listening } from '../rack/listening.ts';
import { evenShape } from '../unit/engine/plan/fit-shapes.ts';
import { ggufBytes, safetensorsBytes, tensorsInRow } from '../unit/rack/artifacts/shapes/headers.ts';
import { codesOf, expectGolden, json, meshwrightHere, widest } from './meshwright.ts';
import { exampleText, makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
const run = (...words: string[]) => meshwrightHere(place, words);

const layerCount = 61;
const config = {
  model_type: 'kimi_k2',
  num_hidden_layers: layerCount,
  hidden_size: 7_168,
  num_attention_heads: 64,
  kv_lora_rank: 512,
  qk_rope_head_dim: 64,
  moe_intermediate_size: 2_048,
};

/** 579.4 GB in 61 layers: each file has its header, followed by zeros for its data. */
const { header, dataBytes } = tensorsInRow(
  Object.fromEntries(
    Array.from({ length: layerCount * 3 }, (_, index) => [
      `model.layers.${Math.floor(index / 3)}.mlp.switch_mlp.${['gate', 'up', 'down'][index % 3]}_proj.weight`,
      Math.round((1.03e12 * 4.5) / 8 / layerCount / 3),
    ]),
  ),
);
const head = safetensorsBytes(header);
const requested: string[] = [];

/** Serves a model that is too large to download: only its headers are real. */
const server = createServer(({ url = '', headers }, response) => {
  const file = url.replace('/kimi/', '');
  requested.push(`${file} ${headers.range ?? 'whole'}`);
  const files: Readonly<Record<string, readonly [bytes: Buffer, size: number]>> = {
    'config.json': [Buffer.from(JSON.stringify(config)), JSON.stringify(config).length],
    'model.safetensors.index.json': [Buffer.from('{"weight_map":{"a":"model-00001-of-00001.safetensors"}}'), 55],
    'model-00001-of-00001.safetensors': [head, head.length + dataBytes],
  };
  const [bytes, size] = files[file] ?? [];
  if (bytes === undefined) return void response.writeHead(404).end();
  const [, from = 0, to = 0] = (/^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []).map(Number);
  const end = Math.min(to, Number(size) - 1);
  const body = Buffer.concat([bytes, Buffer.alloc(Math.max(0, end + 1 - bytes.length))]).subarray(from, end + 1);
  response.writeHead(206, { 'content-range': `bytes ${from}-${end}/${size}` }).end(body);
});

let base = '';
const tiny = ggufBytes(
  {
    'general.architecture': 'llama',
    'llama.block_count': 1,
    'llama.embedding_length': 256,
    'llama.attention.head_count': 8,
    'llama.attention.head_count_kv': 2,
  },
  [{ name: 'blk.0.ffn_up.weight', dims: [256, 256], type: 1, offset: 0 }],
);

/** Writes a cluster file with one model of this size, and a lock with the model's shape. */
function writeCluster(bytes: number, changes: (text: string) => string = (text) => text): void {
  const files = [{ path: 'config.json', sha256: digest('a'.repeat(64)), sizeBytes: 2 }];
  const shape = evenShape(bytes, { cache: 1_152 });
  place.write('cluster.yaml', changes(exampleText));
  place.write(
    'cluster.lock',
    renderLock({
      ...emptyLock('cluster.lock'),
      models: { tiny: { source: './models/tiny', files } },
      shapes: { tiny: { of: digestOf(files.map((file) => ({ ...file }))), shape } },
    }),
  );
}

beforeAll(async () => {
  mkdirSync(join(place.folder, 'small'));
  writeFileSync(join(place.folder, 'small', 'small.gguf'), Buffer.concat([tiny, Buffer.alloc(131_072)]));
  writeFileSync(join(place.folder, 'bad.gguf'), 'GGML');
  base = `http://127.0.0.1:${await listening(server)}/kimi/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  place.remove();
});

/** Replaces the address, whose port differs from run to run. */
const steady = <T extends { readonly words: readonly string[] }>(ran: T): T => ({
  ...ran,
  words: ran.words.map((word) => word.replace(base, 'https://models.lan/kimi/')),
});

describe('fit MODEL', () => {
  it('shows in 80 columns whether a model fits on planned Macs, and a configuration that would suffice', async () => {
    const rans = [
      await run('fit', base, '--on', '2xMac15,14:512GB', '--context', '128k'),
      await run('fit', base, '--on', '3xMac15,14:512GB'),
      await run('fit', base, '--on', '2xMac15,14:256GB'),
      await run('fit', base, '--on', '2xMac15,14:512GB', '--sharding', 'pipeline', '--mlx-lm', '0.30.7'),
      await run('fit', base, '--on', '2xMac15,14:512GB,2xMac15,14:256GB', '--runtime', 'exo', '--sharding', 'pipeline'),
      await run('fit', './small/small.gguf', '--on', 'Mac16,11:64GB', '--requests', '4'),
      await run(
        'fit',
        base,
        '--on',
        '2xMac17,15:256GB,2xMac16,9:128GB',
        '--context',
        '4k',
        '--sharding',
        'pipeline',
        '--mlx-lm',
        '0.31.3',
      ),
    ];
    expect(rans.map(({ code }) => code)).toEqual([0, 1, 1, 1, 0, 0, 1]);
    expect(Math.max(...rans.map((ran) => widest(ran.stdout + ran.stderr)))).toBeLessThanOrEqual(80);
    await expectGolden('fit-model', place, rans.map(steady));
  });

  it('checks known models by name, using published sizes', async () => {
    const elsewhere = makePlace();
    const ask = (...words: string[]) => meshwrightHere(elsewhere, ['fit', ...words]);
    const rans = [
      await ask('kimi-k2', '--on', '2xM3 Ultra:512GB'),
      await ask(
        'hf:mlx-community/DeepSeek-V3.1-8bit',
        '--on',
        '2xMac15,14:512GB',
        '--runtime',
        'exo',
        '--sharding',
        'pipeline',
      ),
      await ask('Kimi-K3', '--on', '4xMac15,14:512GB'),
      await ask('DeepSeek-V4-Flash', '--on', '2xMac15,14:256GB'),
      await ask('DeepSeek-V4-Flash', '--on', '2xMac15,14:256GB', '--runtime', 'exo'),
      await ask('kimmi-k2.6', '--on', '2xMac15,14:256GB'),
      await ask('qwen3-235b-a22b', '--on', '4xMac15,14:256GB'),
    ];
    expect(rans.map(({ code }) => code)).toEqual([0, 1, 1, 1, 1, 64, 0]);
    await expectGolden('fit-known', elsewhere, rans);
    const ran = await ask('mlx-community/DeepSeek-V3.2-4bit', '--on', '2xMac15,14:512GB', '--runtime', 'exo', '--json');
    expect(schemaCheck('fit')(json(ran))).toEqual([]);
    expect(json(ran)).toMatchObject({
      fits: true,
      exo: { version: '1.0.71', assumed: true },
      published: { repository: 'mlx-community/DeepSeek-V3.2-4bit', weightBytes: 378_086_226_621, rounded: false },
    });
  });

  it('prefers a model in the file, or in a folder, to a known model of the same name', async () => {
    writeCluster(61e9, (text) => text.replaceAll('tiny', 'kimi-k2'));
    const ran = await run('fit', 'kimi-k2', '--on', 'studio-1', '--json');
    expect(json(ran)).not.toHaveProperty('published');
    mkdirSync(join(place.folder, 'Kimi-K2.6'), { recursive: true });
    expect(json(await run('fit', 'kimi-k2.6', '--on', 'Mac15,14:512GB', '--json'))).toHaveProperty('published');
    expect((await run('fit', './Kimi-K2.6', '--on', 'Mac15,14:512GB')).stderr).toContain('model/shape-unknown');
  });

  it('uses published sizes for a known model in the file that is not in the lock yet', async () => {
    const elsewhere = makePlace();
    const ask = async (source: string) => {
      elsewhere.write('cluster.yaml', exampleText.replace(/tiny: \{[^}]*\}/, `tiny: { source: "hf:${source}" }`));
      return meshwrightHere(elsewhere, ['fit', 'tiny', '--on', 'studio-1', '--json']);
    };
    const known = await ask('mlx-community/DeepSeek-V3.2-4bit');
    expect([known.code, json(known)]).toMatchObject([
      0,
      { model: 'tiny', published: { repository: 'mlx-community/DeepSeek-V3.2-4bit' } },
    ]);
    expect(codesOf(json(await ask('acme/own-model')))).toEqual(['model/shape-unknown']);
  });

  it('downloads only headers, using range requests', () => {
    expect(new Set(requested)).toEqual(
      new Set([
        'model.safetensors.index.json bytes=0-67108863',
        'config.json bytes=0-4194303',
        'model-00001-of-00001.safetensors bytes=0-131071',
      ]),
    );
  });

  it('prints one JSON document that matches its schema', async () => {
    const check = schemaCheck('fit');
    const rans = [
      await run('fit', base, '--on', '2xMac15,14:512GB', '--json'),
      await run('fit', base, '--on', '2xMac15,14:256GB', '--json'),
      await run('fit', './small', '--on', 'Mac16,11:64GB', '--json'),
      await run('fit', './small', '--on', 'Mac16,11:64GB+Mac17,14:36GB', '--json'),
    ];
    expect(rans.map((ran) => check(json(ran)))).toEqual([[], [], [], []]);
    expect(json(rans[3] ?? (await run('fit')))).toMatchObject({ pace: expect.stringMatching(/^mini-1 sets the pace/) });
    expect(json(rans[1] ?? (await run('fit')))).toMatchObject({
      model: 'kimi',
      fits: false,
      verdict: 'does-not-fit',
      advice: 'The model fits on 4 Macs of this kind.',
      shape: { architecture: 'kimi_k2', layers: 61 },
    });
  });

  it('takes the other placements on the nodes into account when it checks a model in the file', async () => {
    writeCluster(61 * 5e9, (text) =>
      `${text}  second:\n    model: other\n    runtime: reference\n    nodes: [studio-1]\n    transport: tcp\n    context: 4k\n    endpoint: { port: 8081 }\n`.replace(
        'models:\n',
        'models:\n  other: { source: ./small }\n',
      ),
    );
    const ran = await run('fit', 'tiny', '--on', 'studio-1,studio-2', '--json');
    expect(json(ran)).toMatchObject({
      model: 'tiny',
      nodes: [
        { node: 'studio-1', placements: [{ placement: 'second' }, { placement: 'tiny' }] },
        { node: 'studio-2', placements: [{ placement: 'tiny' }] },
      ],
    });
  });

  it("uses the placement's runtime and its locked mlx-lm, unless --mlx-lm is given", async () => {
    mkdirSync(join(place.folder, 'mlx'), { recursive: true });
    const hash = '0'.repeat(64);
    const list = ['mlx==0.32.1', 'mlx-lm==0.31.3'].map((line) => `${line} --hash=sha256:${hash}\n`).join('');
    writeFileSync(join(place.folder, 'mlx/requirements.lock'), list);
    const mlx = `    driver: mlx
    archive: ./mlx/uv.tar.gz
    python: "3.12"
    requirements: ./mlx/requirements.lock
`;
    writeCluster(61 * 5e9, (text) => text.replace(/ {4}driver: command[\s\S]*?\n\nmodels:/, `${mlx}\nmodels:`));
    const ran = await run('fit', 'tiny', '--on', 'studio-1,studio-2', '--json');
    expect(json(ran)).toMatchObject({ driver: 'mlx', mlxLm: { version: '0.31.3', assumed: false }, problems: [] });
    const explicit = await run('fit', 'tiny', '--on', 'studio-1,studio-2', '--mlx-lm', '0.29.1', '--json');
    expect(json(explicit)).toMatchObject({
      mlxLm: { version: '0.29.1', assumed: false },
      problems: ['mlx-lm 0.29.1 is too old; at least 0.31.0 is needed.'],
    });
  });

  it('rejects invalid arguments and unreadable models', async () => {
    writeCluster(61e6);
    const rans = [
      await run('fit', 'tiny'),
      await run('fit', 'tyni', '--on', 'studio-1'),
      await run('fit', 'tiny', '--on', 'studio-9'),
      await run('fit', 'tiny', '--on', 'studio-1,studio-1'),
      await run('fit', './small', '--on', '2xMac15,14'),
      await run('fit', './small', '--on', 'Mac15,14:512GB', '--context', 'much'),
      await run('fit', './small', '--on', 'Mac15,14:512GB', '--sharding', 'both'),
      await run('fit', './small', '--on', 'Mac15,14:512GB', '--runtime', 'vllm'),
      await run('fit', './small', '--on', 'Mac15,14:512GB', '--mlx-lm', '0.31.3'),
      await run('fit', './small', '--on', 'Mac15,14:512GB', '--runtime', 'mlx', '--mlx-lm', 'latest'),
      await run('fit', './gone', '--on', 'Mac15,14:512GB'),
      await run('fit', './bad.gguf', '--on', 'Mac15,14:512GB'),
      await run('fit', `${base}gone/`, '--on', 'Mac15,14:512GB'),
    ];
    expect(rans.map(({ code }) => code)).toEqual([64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 1, 1, 1]);
    await expectGolden(
      'fit-model-refused',
      place,
      rans.map(steady).map((ran) => ({ ...ran, stderr: ran.stderr.replaceAll(base, 'https://models.lan/kimi/') })),
    );
  });
});

describe('validate', () => {
  beforeAll(() => {
    mkdirSync(join(place.folder, 'dist'));
    const content = Buffer.from('#!/bin/sh\n');
    place.write('dist/reference.tar.gz', tarGz([{ path: 'bin/rank', mode: 0o755, content }]));
  });

  it('rejects a placement that does not fit, with its position in the file', async () => {
    writeCluster(61 * 50e9);
    const ran = await run('validate', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([65, ['placement/does-not-fit']]);
    const line = exampleText.split('\n').indexOf('  chat:') + 1;
    expect(json(ran)).toMatchObject({
      diagnostics: [{ subject: 'placement chat', where: { file: 'cluster.yaml', line, column: 3 } }],
    });
  });

  it('accepts a placement that fits or that it cannot check', async () => {
    writeCluster(61 * 5e9);
    expect(await run('validate')).toMatchObject({ code: 0, stdout: 'cluster.yaml is valid.\n' });
    place.write('cluster.lock', renderLock(emptyLock('cluster.lock')));
    const ran = await run('validate', '--json');
    expect([ran.code, codesOf(json(ran))]).toEqual([0, ['model/folder-missing']]);
  });
});

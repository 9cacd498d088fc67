import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { nextAddress } from '../../../../src/cli/sources/http-get.ts';
import { type ByteSource, folderSource, readShape, urlSource } from '../../../../src/cli/sources/read-shapes.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { ggufBytes, safetensorsBytes, tensorsInRow } from '../../rack/artifacts/shapes/headers.ts';

const { path: root, at, write } = temporaryFolder();
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

const config = JSON.stringify({
  model_type: 'llama',
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  num_key_value_heads: 2,
});

const part = (layer: number): Buffer => {
  const { header, dataBytes } = tensorsInRow({
    [`model.layers.${layer}.mlp.up_proj.weight`]: 700,
    ...(layer === 0 ? { 'model.embed_tokens.weight': 100 } : {}),
  });
  return Buffer.concat([safetensorsBytes(header), Buffer.alloc(dataBytes)]);
};

const files: Readonly<Record<string, Buffer>> = {
  'config.json': Buffer.from(config),
  'model-00001-of-00002.safetensors': part(0),
  'model-00002-of-00002.safetensors': part(1),
};
const names = Object.keys(files);

for (const [name, bytes] of Object.entries(files)) write(`model/${name}`, bytes);

const wanted = {
  kind: 'known',
  shape: {
    architecture: 'llama',
    embeddingBytes: 100,
    layers: [
      { bytes: 700, sharded: 700, cachePerToken: 128 },
      { bytes: 700, sharded: 700, cachePerToken: 128 },
    ],
  },
};

/** Starts a server, and returns its address. */
async function serverOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny/`;
}

const { signal } = new AbortController();

/** Serves the files in ranges, like a web server. */
const byRange: RequestListener = ({ url = '', headers }, response) => {
  const bytes = files[decodeURIComponent(url.replace('/tiny/', ''))];
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (bytes === undefined) return void response.writeHead(404).end();
  const end = Math.min(Number(to), bytes.length - 1);
  response.writeHead(206, { 'content-range': `bytes ${from}-${end}/${bytes.length}` });
  response.end(bytes.subarray(Number(from), end + 1));
};

describe("a model's shape", () => {
  it('is read from the headers in a folder', async () => {
    expect(await readShape(folderSource(at('model')), names)).toMatchObject(wanted);
  });

  it('is read from a server by range requests', async () => {
    expect(await readShape(urlSource(await serverOf(byRange), { signal, deadlineMs: 30_000 }), names)).toMatchObject(
      wanted,
    );
  });

  it('is read after a redirect', async () => {
    const base = await serverOf(byRange);
    const other = await serverOf(({ url = '' }, response) => {
      response.writeHead(302, { location: base + url.replace('/tiny/', '') }).end('over there');
    });
    expect(await readShape(urlSource(other, { signal, deadlineMs: 30_000 }), names)).toMatchObject(wanted);
  });

  it('is never redirected away from https', () => {
    const from = new URL('https://models.lan/tiny/config.json');
    const allowed = ['/other', 'https://cdn.lan/x', '//cdn.lan'].map((place) => nextAddress(from, place)?.href);
    expect(allowed).toEqual(['https://models.lan/other', 'https://cdn.lan/x', 'https://cdn.lan/']);
    for (const place of ['http://models.lan/x', 'ftp://models.lan/x', 'http://[']) {
      expect(nextAddress(from, place)).toBeUndefined();
    }
    expect(nextAddress(new URL('http://models.lan'), 'https://models.lan')?.href).toBe('https://models.lan/');
  });

  it('is read from a server without range support, before the response ends', async () => {
    const base = await serverOf(({ url = '' }, response) => {
      const bytes = files[url.replace('/tiny/', '')] ?? Buffer.alloc(0);
      // The server announces a terabyte, and sends only a header.
      response.writeHead(200, { 'content-length': url.endsWith('.json') ? bytes.length : 1e12 });
      response.write(Buffer.concat([bytes, Buffer.alloc(url.endsWith('.json') ? 0 : 200_000)]));
    });
    expect(await readShape(urlSource(base, { signal, deadlineMs: 30_000 }), names)).toMatchObject(wanted);
  });

  it('is read in several parts if the header is long', async () => {
    const words = Array.from({ length: 40_000 }, (_, index) => `word-${index}`);
    const metadata = {
      'general.architecture': 'llama',
      'llama.block_count': 1,
      'llama.embedding_length': 64,
      'llama.attention.head_count': 4,
      'tokenizer.ggml.tokens': words,
    };
    const head = ggufBytes(metadata, [{ name: 'blk.0.ffn_up.weight', dims: [64], type: 1, offset: 0 }]);
    write('large.gguf', Buffer.concat([head, Buffer.alloc(128)]));
    expect(head.length).toBeGreaterThan(3 * 131_072);
    const reads: number[] = [];
    const source = folderSource(root);
    const counting: ByteSource = {
      read: (path, from, to) => {
        reads.push(to - from);
        return source.read(path, from, to);
      },
    };
    expect(await readShape(counting, ['large.gguf'])).toMatchObject({ shape: { vocabulary: 40_000 } });
    expect(reads).toEqual([131_072, 131_072, 262_144, 524_288]);
  });

  const failures: readonly (readonly [string, RequestListener, string])[] = [
    ['rejects the request', (_, response) => void response.writeHead(401).end(), 'config.json failed with HTTP 401'],
    [
      'redirects in a circle',
      ({ url = '' }, response) => void response.writeHead(301, { location: url }).end(),
      'config.json cannot be fetched: its server redirects too often',
    ],
    ['reports no size', (_, response) => void response.writeHead(206).end('{}'), 'config.json came without a size'],
    [
      'announces a configuration that is too large',
      (_, response) => void response.writeHead(200, { 'content-length': 1e10 }).write(Buffer.alloc(5_000_000)),
      'config.json is larger than 4 MiB',
    ],
    [
      'closes the connection too early',
      (_, response) => {
        response.writeHead(200, { 'content-length': 400 }).write('{', () => response.destroy());
      },
      'config.json cannot be fetched: its server cannot be reached (ECONNRESET)',
    ],
  ];

  it.each(failures)('is unknown if it comes from a server that %s', async (_name, answer, why) => {
    expect(await readShape(urlSource(await serverOf(answer), { signal, deadlineMs: 30_000 }), names)).toEqual({
      kind: 'unknown',
      why,
    });
  });

  it('is unknown if the model folder is missing, or if one of its files is a folder', async () => {
    const gone = await readShape(folderSource(at('gone')), names);
    expect(gone).toEqual({ kind: 'unknown', why: 'config.json does not exist' });
    const none = { kind: 'unknown', why: 'it has neither safetensors nor GGUF files' };
    expect(await readShape(folderSource(root), ['config.json', 'model'])).toEqual(none);
  });

  it('is unknown if a file is damaged, and the reason names that file', async () => {
    write('bad.gguf', 'GGML');
    const damaged = { kind: 'unknown', why: 'the header of bad.gguf does not begin with GGUF' };
    expect(await readShape(folderSource(root), ['bad.gguf'])).toEqual(damaged);
  });
});

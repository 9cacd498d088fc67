import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRehearsalWeb } from '../../../../src/sim/web/rehearsal-web.ts';
import { shared } from '../../../rack/kept-running.ts';
import { bareNode } from '../hosts/bare-node.ts';

const node = shared(bareNode);
let web: Awaited<ReturnType<typeof openRehearsalWeb>>;
let ca = '';

beforeAll(async () => {
  web = await openRehearsalWeb(node.folder, [node.root]);
  ca = await readFile(web.caFile, 'utf8');
});
afterAll(async () => {
  await web.close();
});

function get(path: string, token?: string, origin = web.origin, trusted = ca, host = 'huggingface.co') {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise<{ status: number; text: string; location: string }>((resolve, reject) => {
    const asked = request(`${origin}/${host}${path}`, { ca: trusted, headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString('latin1');
      });
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text, location: response.headers.location ?? '' }),
      );
    });
    asked.once('error', reject);
    asked.end();
  });
}

interface Entry {
  readonly path: string;
  readonly size: number;
  readonly lfs?: { readonly oid: string };
}
const listed = async (id: string): Promise<readonly Entry[]> =>
  JSON.parse((await get(`/api/models/${id}/tree/main?recursive=true`)).text);

/** The whole output of a command on the node. */
async function onNode(command: string, input = '') {
  const { out, err } = await node.sh(command, input);
  return out + err;
}

describe("a rehearsal's Hub", () => {
  it('has a model in safetensors files under every name', async () => {
    expect((await listed('acme/some-model')).map(({ path }) => path)).toEqual([
      'README.md',
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
      'tokenizer.json',
    ]);
  });

  it.each([
    ['acme/tiny-GGUF', 'tiny-Q4_K_M.gguf'],
    ['acme/tiny-Q8_0-GGUF', 'tiny-Q8_0.gguf'],
    ['acme/tiny-IQ2_XXS-gguf', 'tiny-IQ2_XXS.gguf'],
  ])('has a GGUF file for %s', async (id, name) => {
    expect((await listed(id)).map(({ path }) => path)).toEqual(['README.md', name]);
  });

  it('gives each model name its own commit and content, and keeps them in every rehearsal', async () => {
    const again = await openRehearsalWeb(node.folder, []);
    const trusted = await readFile(again.caFile, 'utf8');
    const answers = async (id: string, origin: string, authority: string) => {
      const info = await get(`/api/models/${id}/revision/main`, undefined, origin, authority);
      const tree = await get(`/api/models/${id}/tree/main?recursive=true`, undefined, origin, authority);
      return [JSON.parse(info.text).sha, tree.text];
    };
    const first = await answers('acme/one', web.origin, ca);
    expect(await answers('acme/one', again.origin, trusted)).toEqual(first);
    const [commit, tree] = await answers('acme/two', again.origin, trusted);
    expect([commit === first[0], tree === first[1]]).toEqual([false, false]);
    await again.close();
  });

  it('has every commit, and a separate commit for each branch', async () => {
    const commit = 'a'.repeat(40);
    const sha = async (revision: string) =>
      JSON.parse((await get(`/api/models/acme/one/revision/${revision}`)).text).sha;
    expect(await sha(commit)).toBe(commit);
    expect(await sha('v2')).not.toBe(await sha('main'));
  });

  it.each([
    ['/api/models/acme/missing/revision/main', undefined, 401],
    ['/api/models/acme/missing/revision/main', 'hf_any', 404],
    ['/api/models/acme/one/revision/missing', undefined, 404],
    ['/api/models/acme/private-one/revision/main', undefined, 401],
    ['/api/models/acme/private-one/revision/main', 'hf_any', 200],
    ['/acme/gated-one/resolve/main/config.json', undefined, 401],
    ['/acme/gated-one/resolve/main/config.json', 'hf_any', 307],
  ])('responds to %s with token %s: %i', async (path, token, status) => {
    expect((await get(path, token)).status).toBe(status);
  });

  it('serves simulated Macs under its real name, and follows links', async () => {
    const [, , weights] = await listed('acme/some-model');
    const url = `https://huggingface.co/acme/some-model/resolve/main/${weights?.path}`;
    const config = `header = "Authorization: Bearer hf_any"\nurl = "${url}"\n`;
    expect(await onNode('curl -q -f -s -S -L --proto =https --proto-redir =https -o got -K -', config)).toBe('');
    const got = await readFile(node.home('got'));
    expect([got.length, createHash('sha256').update(got).digest('hex')]).toEqual([weights?.size, weights?.lfs?.oid]);
  });

  it('serves simulated Macs as a mirror', async () => {
    const url = `${web.origin}/huggingface.co/acme/tiny-GGUF/resolve/main/tiny-Q4_K_M.gguf`;
    expect(await onNode(`curl -q -f -s -S -L -o got ${url}; head -c 4 got`)).toBe('GGUF');
  });
});

describe("a rehearsal's model servers", () => {
  const from = (host: string, path: string) => get(path, undefined, undefined, undefined, host);

  it('have a model in every folder, with a checksum list that matches its files', async () => {
    const { text } = await from('models.lan', '/llm/kimi/SHA256SUMS');
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const [, sha256 = '', path = ''] = /^([0-9a-f]{64}) {2}\.\/(.+)$/.exec(line) ?? [];
      const file = await from('models.lan', `/llm/kimi/${path}`);
      expect([path, createHash('sha256').update(Buffer.from(file.text, 'latin1')).digest('hex')]).toEqual([
        path,
        sha256,
      ]);
    }
    const gguf = await from('models.lan', '/llm/kimi-GGUF/SHA256SUMS');
    expect(gguf.text).toMatch(/ \.\/kimi-Q4_K_M\.gguf$/m);
    expect(gguf.text).not.toBe((await from('nas.lan', '/llm/kimi-GGUF/SHA256SUMS')).text);
  });

  it('have no other files, and nothing in a folder with `missing`', async () => {
    const statuses = ['/llm/kimi/other', '/missing/SHA256SUMS', '/'].map(
      async (path) => (await from('a.lan', path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 404]);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { textOf } from '../architecture/sources.ts';
import { expectGolden, json, meshwright, widest } from './meshwright.ts';
import { exampleText, makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
afterAll(() => place.remove());

/** The example with its placement published, and two further placements: one open to anyone, one unpublished. */
const text = `${exampleText
  .replace(
    'endpoint: { port: 8080 }',
    'endpoint: { port: 8080, listen: lan, servedName: tiny-1, apiKey: { env: CHAT_KEY } }',
  )
  .replace('placements:\n', 'gateway: { node: ./dist/node-v22.0.0-darwin-arm64.tar.gz }\n\nplacements:\n')}
  open:
    model: tiny
    runtime: reference
    nodes: [studio-1]
    transport: tcp
    context: 4k
    endpoint: { port: 8081, listen: lan, access: anybody }
  inner:
    model: tiny
    runtime: reference
    nodes: [studio-2]
    transport: tcp
    context: 4k
    endpoint: { port: 8082 }
`;
place.write('cluster.yaml', text);
const run = (...words: string[]) => meshwright(place, words, { env: { CHAT_KEY: 'never-to-be-shown-0123456789' } });

describe('endpoints', () => {
  it('prints the settings for each client, without the key', async () => {
    const rans = [await run('endpoints'), await run('endpoints', 'inner'), await run('endpoints', 'innr')];
    expect(rans.map(({ code }) => code)).toEqual([0, 0, 64]);
    for (const { stdout, stderr } of rans) expect(stdout + stderr).not.toContain('never-to-be-shown');
    expect(Math.max(...rans.map(({ stdout }) => widest(stdout)))).toBeLessThanOrEqual(90);
    await expectGolden('endpoints', place, rans);
  });

  it("prints settings for OpenCode that match OpenCode's published schema", async () => {
    const { stdout } = await run('endpoints');
    const blocks = stdout.split('OpenCode: opencode.json\n').slice(1);
    expect(blocks).toHaveLength(3);
    const check = schemaCheck('opencode', 'test/cases/clients');
    for (const block of blocks) expect(check(JSON.parse(block.split('\n\n')[0] ?? ''))).toEqual([]);
  });

  it("prints settings for Open WebUI with the names of Open WebUI's form", async () => {
    const { stdout } = await run('endpoints');
    const { path, form, advanced } = JSON.parse(textOf('test/cases/clients/open-webui.json'));
    const blocks = stdout.split('\n\n').filter((block) => block.startsWith('  Open WebUI: '));
    expect(blocks).toHaveLength(3);
    for (const block of blocks)
      expect(block.split('\n').map((line) => line.trim().split('  ')[0])).toEqual([
        `Open WebUI: ${path.join(', ')}`,
        ...form,
        ...advanced.map((name: string) => `Advanced, ${name}`),
      ]);
  });

  it('wraps its sentences at 40 columns, but not the text to copy', async () => {
    const [wide, narrow] = await Promise.all(
      ['80', '40'].map((COLUMNS) => meshwright(place, ['endpoints'], { env: { COLUMNS } })),
    );
    const copied = /^ +\S+ +\S+$|["'{}\\]|^ +(tunnel|curl|-H|-d|printf) /;
    const lines = (narrow?.stdout ?? '').split('\n');
    expect(widest(lines.filter((line) => !copied.test(line)).join('\n'))).toBeLessThanOrEqual(40);
    const words = (text = '') => text.split(/\s+/).join(' ');
    expect(words(narrow?.stdout)).toBe(words(wide?.stdout));
    for (const line of (wide?.stdout ?? '').split('\n').filter((one) => copied.test(one)))
      expect(lines).toContain(line);
  });

  it('prints the absolute path of a key file, and keeps the key out of curl arguments', async () => {
    place.write('filed.yaml', text.replace('{ env: CHAT_KEY }', '{ file: keys/chat }'));
    const { stdout } = await run('endpoints', 'chat', '--file', 'filed.yaml');
    const path = `${place.folder}/keys/chat`;
    expect(stdout).toContain(`printf 'Authorization: Bearer %s\\n' "$(cat "${path}")" |\n    curl `);
    expect(stdout).toContain('      -H @- \\\n');
    expect(stdout).toContain(`{file:${path}}`);
  });

  it('prints one JSON document that matches its schema and names the key source', async () => {
    const ran = await run('endpoints', '--json');
    const document = json(ran);
    expect(schemaCheck('endpoints')(document)).toEqual([]);
    expect(document).toMatchObject({
      endpoints: [
        {
          placement: 'chat',
          baseUrl: 'http://studio-1.lan:8080/v1',
          model: 'tiny-1',
          access: { source: 'env CHAT_KEY' },
        },
        { placement: 'inner', access: { kind: 'tunnel' } },
        { placement: 'open', baseUrl: 'http://studio-1.lan:8081/v1', model: 'open', access: { kind: 'anybody' } },
      ],
    });
    expect(ran.stdout).not.toContain('never-to-be-shown');
  });
});

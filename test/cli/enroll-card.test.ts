import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { expectGolden, json, meshwrightHere, type Ran } from './meshwright.ts';
import { makePlace } from './place.ts';
import { schemaCheck } from './schema-check.ts';

const place = makePlace();
afterAll(() => place.remove());

const run = (...words: string[]): Promise<Ran> => meshwrightHere(place, words);
const text = readFileSync(new URL('../rack/reference.yaml', import.meta.url), 'utf8');

describe('enroll --card', () => {
  it('prints an 80-column ASCII page for each node in the file, in text and JSON', async () => {
    place.write('cluster.yaml', text);
    const [page, all, asJson] = [
      await run('enroll', '--card', 'studio-1'),
      await run('enroll', '--card'),
      await run('enroll', '--card', 'studio-1', '--json'),
    ];
    expect([page.code, all.code, asJson.code]).toEqual([0, 0, 0]);
    await expectGolden('enroll-card', place, [page]);
    expect(all.stdout.split('\f')).toHaveLength(4);
    expect(all.stdout).toMatch(/^[\n\f\x20-\x7e]*$/);
    expect(all.stdout.split(/[\n\f]/).filter((line) => line.length > 80)).toEqual([]);
    expect(schemaCheck('enroll')(json(asJson))).toEqual([]);
  });

  it("follows the file's settings for FileVault, login, account and RDMA", async () => {
    const file = (system: string, model: string): string =>
      `schema: 1\nname: rack\n${system}nodes:\n  mini: { host: mini.lan, hardware: { model: "${model}" } }\n`;
    place.write('cluster.yaml', file('system: { fileVault: disabled, automaticLogin: required }\n', 'Mac16,10'));
    const required = (await run('enroll', '--card', 'mini')).stdout;
    expect(required).toContain('Leave FileVault off');
    expect(required).toContain('Automatically log in as: that account');
    expect(required).toMatch(/enter\s+its\s+name\s+in\s+the\s+file\s+as\s+ssh\.user/);
    expect(required).not.toContain('Recovery, once');
    place.write('cluster.yaml', file('system: { fileVault: enabled, automaticLogin: disabled }\n', 'Mac16,10'));
    const enabled = (await run('enroll', '--card', 'mini')).stdout;
    expect(enabled).toContain('keep the recovery key');
    expect(enabled).toContain('Automatically log in as: Off.');
  });
});

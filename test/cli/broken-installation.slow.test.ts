import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { codesOf, ended, json, mainFile, runWith } from './meshwright.ts';
import { makePlace } from './place.ts';

const place = makePlace();
afterAll(() => place.remove());

describe('a broken installation', () => {
  it('is reported as a bug with exit code 70, without a bare stack trace', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'mw-broken-')));
    const own = dirname(dirname(dirname(mainFile)));
    cpSync(join(own, 'dist'), join(root, 'dist'), { recursive: true });
    cpSync(join(own, 'package.json'), join(root, 'package.json'));
    symlinkSync(join(own, 'node_modules'), join(root, 'node_modules'));
    const main = join(root, 'dist', 'cli', 'main.js');
    const [text, asJson] = await Promise.all([
      ended(runWith(main, place, ['schema']), []),
      ended(runWith(main, place, ['schema', '--json']), []),
    ]);
    rmSync(root, { recursive: true, force: true });
    expect([text.code, text.stdout]).toEqual([70, '']);
    expect(text.stderr).toMatch(/^error {2}internal\/bug\n {2}This is a bug in meshwright\.\n/);
    expect([asJson.code, codesOf(json(asJson)), asJson.stderr]).toEqual([70, ['internal/bug'], '']);
  });
});

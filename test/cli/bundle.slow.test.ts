import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BundleDocument } from '../../src/model/documents.generated.ts';
import { textBelow, tracesOf } from '../secret-traces.ts';
import { rootsOf } from './kill/killed-command.ts';
import { codesOf, json, meshwright } from './meshwright.ts';
import { driverPlace } from './pair.ts';

const secret = 'n0t-for-Strangers-5';

describe('the evidence of a hang', () => {
  const { place, run } = driverPlace('mlx', 'rdma');
  const env = { CHAT_API_KEY: secret };
  const bundle = async (...words: string[]) => {
    const ran = await meshwright(place, ['bundle', '--sim', '--json', ...words], { env });
    const document = json(ran) as BundleDocument;
    return { code: ran.code, document, codes: codesOf(document) };
  };
  const logOn = async (at: 0 | 1): Promise<string> =>
    join((await rootsOf(place))[at] ?? '', 'Library/Application Support/meshwright/log/chat.log');
  const unpacked = <T>(file: string, readIn: (folder: string) => T): T => {
    const folder = mkdtempSync(join(place.tmp, 'unpacked-'));
    execFileSync('tar', ['-xzf', file, '-C', folder, '--strip-components', '1']);
    const found = readIn(folder);
    rmSync(folder, { recursive: true });
    return found;
  };
  const fileIn = ({ document }: Awaited<ReturnType<typeof bundle>>, name: string): string =>
    unpacked(document.file, (folder) => readFileSync(join(folder, name), 'utf8'));
  let first: Awaited<ReturnType<typeof bundle>>;

  beforeAll(async () => {
    expect((await run('apply', '--sim', '--yes', '--update-lock')).code).toBe(0);
    appendFileSync(await logOn(1), `2026-11-30 03:00:02,000 - later\nHF_TOKEN=${secret}\n`);
    appendFileSync(await logOn(0), `2026-11-30 03:00:01,000 - earlier with ${secret}\n`);
    await run('sim', 'fault', 'rdma-hang', 'studio-4');
    await run('ask', 'chat', 'Hello', '--sim', '--deadline', '5s');
    first = await bundle();
  }, 300_000);

  it('contains logs in time order, a stack of every rank, facts, causes, versions and journals', () => {
    expect([first.code, first.codes]).toEqual([0, []]);
    const lines = fileIn(first, 'logs.txt').split('\n');
    const at = (text: string): number => lines.findIndex((line) => line.includes(text));
    expect(at('earlier')).toBeGreaterThan(0);
    expect(at('later')).toBeGreaterThan(at('earlier'));
    expect(fileIn(first, 'stacks.txt').match(/^=== .*|^Call graph:/gm)).toEqual([
      ...['=== chat on studio-1', 'Call graph:'],
      ...['=== chat on studio-4', 'Call graph:'],
    ]);
    expect(JSON.parse(fileIn(first, 'facts.json')).nodes['studio-4']).toHaveProperty('rdma-ports');
    expect(codesIn(JSON.parse(fileIn(first, 'doctor.json')))).not.toEqual([]);
    expect(fileIn(first, 'cluster.lock')).toContain('runtimes:');
    expect(fileIn(first, 'README.txt')).toContain('chat: hung');
    expect(first.document.contents.some(({ name }) => name.includes('/journal/'))).toBe(true);
    expect(first.document.sizeBytes).toBeLessThan(500_000);
  });

  it('contains no secret, neither in the archive nor in the saved copy', () => {
    const archived = unpacked(first.document.file, textBelow);
    expect(archived).toContain('earlier with ********');
    expect(tracesOf(secret, archived)).toEqual([]);
    expect(tracesOf(secret, textBelow(join(place.state, 'journal')))).toEqual([]);
  });

  it('lists what could not be read on a Mac, and contains everything else', async () => {
    rmSync(await logOn(1));
    await run('sim', 'fault', 'sudo-denied', 'studio-4');
    const ended = await bundle('--out', 'partly.tar.gz');
    expect([ended.code, ended.document.unread, ended.codes]).toEqual([
      4,
      ['studio-4'],
      ['evidence/incomplete', 'ssh/sudo-needs-password'],
    ]);
    expect(ended.document.file).toBe(join(place.folder, 'partly.tar.gz'));
    expect(fileIn(ended, 'logs.txt')).toContain('earlier');
    expect(fileIn(ended, 'stacks.txt')).toMatch(/studio-1\nAnalysis[\s\S]*studio-4\nnot read\n/);
  });

  it('is complete for an earlier incident although a Mac is gone now', async () => {
    await run('sim', 'fault', '--clear');
    await run('sim', 'fault', 'power-cut', 'studio-4');
    const now = await bundle();
    expect([now.code, now.document.unread]).toEqual([4, ['studio-4']]);
    expect(fileIn(now, 'README.txt')).toContain('Not read:');
    const again = await bundle(first.document.incident);
    expect([again.code, again.codes]).toEqual([0, []]);
    expect(fileIn(again, 'stacks.txt')).toBe(fileIn(first, 'stacks.txt'));
  });

  it('of an incident whose saved copy is damaged is refused', async () => {
    const { incident } = (await bundle()).document;
    const copy = (readdirSync(place.state, { recursive: true }) as string[]).find((one) =>
      one.endsWith(`${incident}.json`),
    );
    truncateSync(join(place.state, copy ?? ''), 100);
    const { code, stderr } = await run('bundle', incident, '--sim');
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      65,
      expect.stringContaining(`${incident}.json is damaged`),
    ]);
  });

  it('of an unknown incident is refused with the known ones', async () => {
    const { code, stderr } = await run('bundle', '../../journal', '--sim');
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([64, expect.stringContaining(first.document.incident)]);
  });
});

/** The codes in a document of `doctor`. */
const codesIn = ({ troubles }: { readonly troubles: readonly { readonly code: string }[] }): readonly string[] =>
  troubles.map(({ code }) => code);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { codesOf, ended, expectGolden, json, meshwright, start } from './meshwright.ts';
import { fileTree, serviceList } from './node-snapshot.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';

const names = ['studio-1', 'studio-4'] as const;
const password = { env: { OWN_PASSWORD: 'simulated' } };
const whole = ['uninstall', '--all', '--sim', '--restore', '--models', '--yes'];

let roots: Readonly<Record<string, string>>;
const { place, run } = pairPlace(pairFile());
beforeAll(async () => {
  const { nodes } = json(await run('sim', 'status', '--json')) as { nodes: Record<string, { root: string }> };
  roots = Object.fromEntries(names.map((name) => [name, nodes[name]?.root ?? '']));
  for (const name of names) {
    for (const fault of ['dhcp-reset', 'bridge-active', 'power-wrong', 'not-enrolled'])
      await run('sim', 'fault', fault, name);
  }
});

/** All files and launchd services of both Macs. */
const seen = (): unknown =>
  names.map((name) => ({ files: fileTree(roots[name] ?? ''), services: serviceList(roots[name] ?? '') }));

async function setUp(): Promise<void> {
  const words = ['enroll', '--all', '--sim', '--yes', '--password-env', 'OWN_PASSWORD'];
  const enrolled = await meshwright(place, words, password);
  expect([enrolled.code, enrolled.stderr]).toEqual([0, '']);
  const applied = await run('apply', '--sim', '--yes');
  expect([applied.code, applied.stderr]).toEqual([0, '']);
}

/** Runs the command, and kills it when it prints this text. */
async function killedAt(text: string): Promise<void> {
  const child = start(place, whole);
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes(text)) child.kill('SIGKILL');
  });
  expect((await ended(child, whole)).signal).toBe('SIGKILL');
}

describe('uninstall', () => {
  it('restores a Mac to its state before enroll, even if it is killed repeatedly', async () => {
    const before = seen();
    await setUp();
    const shown = await run('uninstall', '--all', '--sim', '--restore', '--models');
    expect(shown.code).toBe(5);
    await expectGolden('uninstall-plan', place, [shown]);
    for (const step of ['keeper/files', 'uninstall/network', 'uninstall/trees']) await killedAt(`${step} changed`);
    const last = await run(...whole, '--json');
    expect([last.code, last.stderr]).toEqual([0, '']);
    expect(schemaCheck('report')(json(last))).toEqual([]);
    expect(json(last)).toMatchObject({ lock: { written: true } });
    expect(seen()).toEqual(before);
  });

  it('has nothing to do a second time, even though no login works', async () => {
    const [text, asJson] = [await run(...whole), await run(...whole, '--json')];
    expect([text.code, asJson.code, codesOf(json(asJson))]).toEqual([0, 0, []]);
    await expectGolden('uninstall-again', place, [text]);
  });

  it('keeps models and settings without --models and --restore, and leaves the other Mac installed', async () => {
    await setUp();
    const ran = await run('uninstall', 'studio-4', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toContain('Removed studio-4 from');
    const [other, gone] = [fileTree(roots['studio-1'] ?? ''), fileTree(roots['studio-4'] ?? '')];
    const ours = gone.filter((line) => /meshwright/.test(line)).map((line) => line.split('/').slice(0, 4).join('/'));
    expect([...new Set(ours)].sort()).toEqual([
      'opt/meshwright/ 755',
      'opt/meshwright/models/ 755',
      'opt/meshwright/models/tiny',
    ]);
    expect(other.some((line) => line.startsWith('Library/LaunchDaemons/dev.meshwright.rank.chat.plist'))).toBe(true);
    const power = readFileSync(join(roots['studio-4'] ?? '', '.sim/answers/pmset/-g_custom.out'), 'utf8');
    expect(power).toMatch(/autorestart +1/);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { fileText, first, pairFile } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const file = (port: number) => pairFile((value) => publish(value, { access: 'anybody', port }));
const flat = (text: string): string => text.replace(/\s+/g, ' ');

const run = (...words: string[]) => meshwright(place, [...words, '--sim']);
const { place } = pairPlace(file(8_080));
beforeAll(async () => {
  await writePublishedSources(place.folder);
  const ran = await run('apply', '--yes');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

describe('drain', () => {
  it('closes the gateway for clients, but not for ask and bench, until the next start', async () => {
    const drained = await run('drain', 'chat', '--yes');
    expect([drained.code, drained.stderr]).toEqual([0, '']);
    expect(flat(drained.stdout)).toContain(
      'chat is drained: its gateway is closed, with no request in flight. To reopen it: meshwright start chat --sim, or the next apply.',
    );
    const again = await run('drain', '--all');
    expect([again.code, again.stderr]).toEqual([0, '']);
    expect(again.stdout).toContain('chat is drained');
    const doctor = await run('doctor');
    expect([doctor.code, doctor.stdout]).toEqual([
      0,
      expect.stringMatching(/get\s+503: it was drained by its operator/),
    ]);
    // `ask` and `bench` bypass the gateway, which remains closed.
    const bypassing = [
      await run('ask', 'chat', 'Hello?'),
      await run('bench', 'chat', '--requests', '1', '--runs', '1'),
    ];
    expect(bypassing.map(({ code }) => code)).toEqual([0, 0]);
    expect((await run('drain', 'chat')).stdout).toContain('chat is drained');
    const started = await run('start', 'chat', '--yes');
    expect([started.code, started.stderr]).toEqual([0, '']);
    expect(started.stdout).toContain('gateway/8080/chat/endpoint');
    expect((await run('doctor')).stdout).not.toContain('503');
  });

  it('reports that apply must run first, or that the Mac is unreachable', async () => {
    place.write('cluster.yaml', fileText(file(8_090)));
    const moved = await run('drain', 'chat', '--yes');
    expect([moved.code, moved.stderr]).toEqual([3, '']);
    const text = flat(moved.stdout);
    expect(text).toContain('Run apply first (1)');
    expect(text).toContain('Apply needed first: 1 changed');
    expect(text).toContain('Run meshwright apply --sim first, then meshwright drain chat --sim.');
    expect(text).not.toMatch(/hands|Do this first/);
    place.write('cluster.yaml', fileText(file(8_080)));
    expect((await meshwright(place, ['sim', 'fault', 'power-cut', first])).code).toBe(0);
    const away = await run('drain', 'chat', '--yes');
    expect(away.code).toBe(1);
    expect(flat(away.stdout)).toContain(`chat: could not ask ${first} whether its gateway for chat is closed`);
    expect(flat(away.stdout)).toContain(`Bring ${first} back, then: meshwright drain chat --sim.`);
    const document: { readonly diagnostics: readonly { readonly code: string }[] } = JSON.parse(
      (await run('drain', 'chat', '--yes', '--json')).stdout,
    );
    expect(document.diagnostics.map(({ code }) => code)).toContain('endpoint/not-asked');
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { expectGolden, json, meshwright, type Ran, widest } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { onTerminal } from './terminal.ts';

let never: Ran;
const { place, run } = pairPlace(pairFile());
beforeAll(async () => {
  never = await meshwright(place, ['status', '--sim']);
  const ran = await meshwright(place, ['apply', '--sim', '--yes']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

interface StatusDocument {
  readonly placements: Readonly<Record<string, { readonly state: string; readonly standing: string }>>;
}

async function chatNow(...words: string[]): Promise<readonly [number | null, string | undefined, string | undefined]> {
  const ran = await run('status', '--sim', '--json', ...words);
  const document = json(ran) as StatusDocument;
  expect(schemaCheck('status')(document)).toEqual([]);
  const chat = document.placements['chat'];
  return [ran.code, chat?.state, chat?.standing];
}

describe('the status of placements', () => {
  it('reports a placement that was never started, and how to start it', () => {
    expect(never.code).toBe(1);
    expect(never.stdout).toContain('  chat   not placed   tcp   studio-1,4   tensor\n');
    expect(never.stdout).toContain('Start it: meshwright apply --sim');
  });

  it('shows a serving placement in 80 columns, and exits with 0', async () => {
    const [text, terminal] = await Promise.all([run('status', '--sim'), onTerminal(place, ['status', '--sim'])]);
    expect([text.code, terminal.code, widest(text.stdout) <= 80]).toEqual([0, 0, true]);
    expect(terminal.stdout).toContain('\u001b[32mserving');
    expect(await chatNow()).toEqual([0, 'serving', 'met']);
    await expectGolden('status-serving', place, [text]);
  });

  it('shows a placement as unknown if only some of its nodes were chosen', async () => {
    expect(await chatNow('studio-1')).toEqual([0, 'unknown', 'not-asked']);
  });

  it('shows a placement with an unreachable node as unknown', async () => {
    await run('sim', 'fault', 'connection-drop', 'studio-4');
    const seen = await chatNow();
    await run('sim', 'fault', '--clear');
    expect(seen).toEqual([4, 'unknown', 'unknown']);
  });

  it('reports a hung placement, and how to repair it', async () => {
    const signal = ['launchctl', 'kill', 'SIGUSR1', 'system/dev.meshwright.rank.chat'];
    expect((await run('exec', '--sim', 'studio-4', '--', 'sudo', '-n', ...signal)).code).toBe(0);
    const text = await run('status', '--sim');
    expect(text.code).toBe(1);
    await expectGolden('status-hung', place, [text]);
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(0);
    expect(await chatNow()).toEqual([0, 'serving', 'met']);
  });

  it('compares a stopped placement with the state in the file', async () => {
    expect((await run('stop', 'chat', '--sim', '--yes')).code).toBe(0);
    expect(await chatNow()).toEqual([1, 'stopped', 'differs']);
    const stopped = pairFile((file) => {
      filePart(file, 'placements', 'chat')['state'] = 'stopped';
    });
    place.write('cluster.yaml', fileText(stopped));
    expect(await chatNow()).toEqual([0, 'stopped', 'met']);
  });
});

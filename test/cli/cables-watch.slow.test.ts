import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { pairFile } from '../scenarios/converge-file.ts';
import { fleetPlace } from './fleet.ts';
import { codesOf, json, widest } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import type { Place } from './place.ts';
import { schemaCheck } from './schema-check.ts';
import { listenTo, type Talking } from './talking.ts';
import { onTerminal } from './terminal.ts';

const { place, run } = fleetPlace();

/** Performs one manual step at the simulated rack, or all remaining ones. */
async function hands(...words: string[]): Promise<void> {
  const ran = await run('sim', 'hands', ...words);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
}

afterEach(async () => {
  await run('sim', 'fault', '--clear');
  await hands();
});

const watchIn = (where: Place, ...words: string[]): Talking => listenTo(where, ['cables', '--sim', ...words]);

const watch = (...words: string[]): Talking => watchIn(place, ...words);

describe('cables --watch', () => {
  it('exits immediately with 0 if all cables match the file', async () => {
    const ran = await run('cables', '--sim', '--watch');
    expect(ran).toMatchObject({ code: 0, stdout: 'All 6 links match the file.\n', stderr: '' });
  });

  it('prints a line for each move, even a wrong one, and exits when all cables match', async () => {
    await hands('unplug', 'studio-2:4');
    await hands('unplug', 'studio-1:2');
    const watching = watch('--watch');
    await watching.until('missing: 1-2  2-4\n');
    await hands('plug', 'studio-2:5', 'studio-4:3');
    await watching.until('plugged in: studio-2 receptacle 5; move it to receptacle 4 (back, 4th from\n');
    await hands('move', 'studio-2:5', 'studio-2:4');
    await watching.until('studio-2:4 <-> studio-4:3 matches the file at 80 Gb/s\n');
    await hands('plug', 'studio-1:2', 'studio-2:2');
    const ran = await watching.end;
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout.split('\n')).toEqual([
      '  next: connect studio-1 receptacle 2 and studio-2 receptacle 2 with a',
      '        Thunderbolt 5 cable (studio-1:2: back, 2nd from Ethernet; studio-2:2:',
      '        back, 2nd from Ethernet)',
      '  done: 1-3  1-4  2-3  3-4     missing: 1-2  2-4',
      'plugged in: studio-2 receptacle 5; move it to receptacle 4 (back, 4th from',
      '            Ethernet)',
      '  done: 1-3  1-4  2-3  3-4     wrong: 2-4     missing: 1-2',
      'unplugged: studio-2 receptacle 5, from studio-4 receptacle 3',
      'studio-2:4 <-> studio-4:3 matches the file at 80 Gb/s',
      '  done: 1-3  1-4  2-3  2-4  3-4     missing: 1-2',
      'studio-1:2 <-> studio-2:2 matches the file at 80 Gb/s',
      'All 6 links match the file.',
      '',
    ]);
  });

  it('sends a short command per round, and the full one only after a change', async () => {
    rmSync(join(place.folder, 'sent.ndjson'), { force: true });
    await hands('unplug', 'studio-1:2');
    const watching = watch('--watch', '--record', 'sent.ndjson');
    await watching.until('missing: 1-2');
    await hands('plug', 'studio-1:2', 'studio-2:2');
    await watching.end;
    const lines = readFileSync(join(place.folder, 'sent.ndjson'), 'utf8').trimEnd().split('\n');
    const sent = lines.map((line) => JSON.parse(line) as { readonly node: string; readonly command: string });
    const ofNode = (name: string): readonly string[] =>
      sent
        .filter(({ node }) => node === name)
        .map(({ command }) => (command.includes('networksetup') ? 'full' : 'short'));
    expect(new Set(sent.map(({ node }) => node)).size).toBe(4);
    // Full checks: the first, the second (because the first found changes), and the last, which confirms the result.
    expect(ofNode('studio-3').slice(0, 2)).toEqual(['full', 'full']);
    expect(ofNode('studio-3').at(-1)).toBe('full');
    for (const name of ['studio-1', 'studio-2', 'studio-4']) expect(ofNode(name)).toEqual(ofNode('studio-3'));
    for (const { command } of sent) {
      expect(command).toContain('SPThunderboltDataType');
      expect(command).not.toMatch(/ibv_dev|rdma_ctl|data-binary/);
    }
  });

  it('reports an unreachable node, continues with the others, and resumes when it answers', async () => {
    await hands('unplug', 'studio-1:2');
    await run('sim', 'fault', 'connection-drop', 'studio-4');
    const watching = watch('--watch');
    await watching.until('studio-4 does not answer: ');
    await watching.until('  not observed: studio-4\n');
    await hands('plug', 'studio-1:2', 'studio-2:2');
    await watching.until('studio-1:2 <-> studio-2:2 matches the file at 80 Gb/s\n');
    await run('sim', 'fault', '--clear', 'connection-drop', 'studio-4');
    await watching.until('studio-4 answers again\n');
    const ran = await watching.end;
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout.match(/unknown until studio-4 can be observed/g)).toHaveLength(1);
  });

  it('redraws its last lines on a terminal, and shows success in green', async () => {
    await hands('unplug', 'studio-1:2');
    let notify = (): void => undefined;
    const notified = new Promise<void>((resolve) => {
      notify = resolve;
    });
    const notice = { after: '1-2', notify: () => notify() };
    const terminal = onTerminal(place, ['cables', '--sim', '--watch'], { notice });
    await Promise.race([notified, terminal]);
    await hands('plug', 'studio-1:2', 'studio-2:2');
    const ran = await terminal;
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('\u001b[0J');
    expect(ran.stdout).toContain('\u001b[32mAll 6 links match the file.\u001b[39m');
  });

  it('exits with 130 after Ctrl-C, and prints one document at the end with --json', async () => {
    await hands('unplug', 'studio-1:2');
    const watching = watch('--watch');
    await watching.until('missing: 1-2');
    const ran = await watching.interrupt();
    expect([ran.code, ran.stderr]).toEqual([
      130,
      'interrupted: stopping cleanly; press Ctrl-C again to stop immediately\n',
    ]);
    expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
    await hands();
    const document = json(await run('cables', '--sim', '--watch', '--json'));
    expect(schemaCheck('cables')(document)).toEqual([]);
    expect(document).toMatchObject({ moves: [], diagnostics: [] });
  });
});

describe('a cable that a placement uses', () => {
  const { place: pair, run: inPair } = pairPlace(pairFile(), { isApplied: true });

  it('can be moved only after the placement has stopped', async () => {
    await inPair('sim', 'hands', 'move', 'studio-4:2', 'studio-4:5');
    const once = await inPair('cables', '--sim');
    expect(once.code).toBe(3);
    expect(once.stdout).toContain(
      'Manual steps for later (1)\n  1  First stop chat (meshwright stop chat --sim); then',
    );
    const watching = watchIn(pair, '--watch');
    await watching.until('  next: no cable can be moved yet\n');
    await watching.until('  wait: first stop chat (meshwright stop chat --sim); then move the cable end in');
    await inPair('stop', 'chat', '--sim', '--yes');
    await watching.until('  next: move the cable end in studio-4 receptacle 5 to receptacle 2 (');
    await inPair('sim', 'hands', 'move', 'studio-4:5', 'studio-4:2');
    const ran = await watching.end;
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout.endsWith('The only link matches the file.\n')).toBe(true);
  });
});

describe('cables --identify', () => {
  it('names each receptacle that is plugged or unplugged, until Ctrl-C', async () => {
    const watching = watch('--identify');
    await watching.until('Press Ctrl-C to stop.\n');
    await hands('unplug', 'studio-2:4');
    await watching.until('unplugged');
    await hands('plug', 'studio-2:6', 'studio-4:3');
    await watching.until('plugged in');
    await hands('move', 'studio-2:6', 'studio-2:5');
    await watching.until('plugged in, sees');
    const ran = await watching.interrupt();
    expect(ran.code).toBe(130);
    expect(ran.stdout).toBe(
      [
        'studio-2 receptacle 4 or studio-4 receptacle 3: unplugged',
        'studio-2 receptacle 6 or studio-4 receptacle 3: plugged in at 80 Gb/s',
        'studio-2 receptacle 6: unplugged from studio-4 receptacle 3',
        'studio-2 receptacle 5: plugged in, sees studio-4 receptacle 3 at 80 Gb/s',
        '',
      ].join('\n'),
    );
  });

  it('accepts neither --json nor --watch', async () => {
    const rans = await Promise.all([run('cables', '--identify', '--json'), run('cables', '--identify', '--watch')]);
    expect(rans.map(({ code }) => code)).toEqual([64, 64]);
    expect(codesOf(json(rans[0]))).toEqual(['cli/usage']);
  });
});

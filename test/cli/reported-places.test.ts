import { describe, expect, it } from 'vitest';
import { filePart } from '../scenarios/converge-file.ts';
import { meshwrightHere, type Ran } from './meshwright.ts';
import { bareFile, pairPlace } from './pair.ts';

/** A Mac Studio whose front receptacles are missing from the table, and a laptop. */
const file = bareFile((value) => {
  filePart(value, 'nodes', 'studio-1')['hardware'] = { model: 'Mac17,15' };
  filePart(value, 'nodes', 'studio-4')['hardware'] = { model: 'Mac17,7' };
  filePart(value, 'macos')['version'] = '27.0';
  filePart(value, 'macos')['accept'] = '>=26.4 <28';
  filePart(value, 'thunderbolt')['links'] = ['studio-1:6 <-> studio-4:3'];
});
const { place } = pairPlace(file);
const run = (...words: string[]): Promise<Ran> => meshwrightHere(place, words);

describe('receptacle positions reported by Macs', () => {
  it('are facts about their node', async () => {
    const { stdout, code } = await run('facts', 'studio-4', '--sim', '--fact', 'receptacle-places');
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 left-back, 2 left-front, 3 right')]);
  });

  it('are shown by cables and graph if the table of Macs has no position', async () => {
    const cables = await run('cables', '--sim');
    expect(cables.stdout).toContain('studio-1:6: front, left\n');
    expect(cables.stdout).toContain('studio-4:3: right\n');
    const graph = await run('graph', '--sim', '--json');
    expect(graph.stdout).toMatch(/"place": ?"back, next to Ethernet"/);
    expect(graph.stdout).toMatch(/"place": ?"back, right middle"/);
  });
});

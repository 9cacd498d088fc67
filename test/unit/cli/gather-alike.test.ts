import { describe, expect, it } from 'vitest';
import { gatherAlike } from '../../../src/cli/gather-alike.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';

const about = (...subjects: readonly string[]) =>
  subjects.map((subject) => diagnose('ssh/refused', { subject, detail: 'Nobody answers.' }));

describe('what gathered diagnostics are about', () => {
  it.each([
    [['node studio-1'], 'node studio-1'],
    [['node studio-1', 'node studio-1'], 'node studio-1'],
    [['node studio-1', 'node studio-2'], 'nodes studio-1, studio-2'],
    [['nodes studio-1, studio-2'], 'nodes studio-1, studio-2'],
    [['placement chat'], 'placement chat'],
    [['link studio-1:2 <-> studio-2:2'], 'link studio-1:2 <-> studio-2:2'],
    [
      ['link studio-1:2 <-> studio-2:2', 'link studio-1:3 <-> studio-3:2'],
      'links studio-1:2 <-> studio-2:2, studio-1:3 <-> studio-3:2',
    ],
    [['node studio-1', 'placement chat'], 'studio-1, placement chat'],
  ])('is of %j: %s', (subjects, gathered) => {
    expect(gatherAlike(about(...subjects)).map(({ subject }) => subject)).toEqual([gathered]);
  });
});

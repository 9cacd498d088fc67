import { describe, expect, it } from 'vitest';
import { parseLinkEnd } from '../../../src/desired/addresses.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import {
  linkSubject,
  nodeSubject,
  nodesSubject,
  placementSubject,
  type Subject,
  subjectText,
} from '../../../src/model/subject.ts';
import { gatherAlike } from '../../../src/report/findings.ts';

const link = (a: string, b: string): Subject => {
  const [from, to] = [a, b].map((text) => parseLinkEnd(text));
  if (from === undefined || to === undefined) throw new Error('no link');
  return linkSubject([from, to]);
};

const about = (...subjects: readonly Subject[]) =>
  subjects.map((subject) => diagnose('ssh/refused', { subject, detail: 'No answer.' }));

describe('the subject of grouped diagnostics', () => {
  it.each([
    [[nodeSubject('studio-1')], 'node studio-1'],
    [[nodeSubject('studio-1'), nodeSubject('studio-1')], 'node studio-1'],
    [[nodeSubject('studio-1'), nodeSubject('studio-2')], 'nodes studio-1, studio-2'],
    [[nodesSubject(['studio-1', 'studio-2'])], 'nodes studio-1, studio-2'],
    [[placementSubject('chat')], 'placement chat'],
    [[link('studio-1:2', 'studio-2:2')], 'link studio-1:2 <-> studio-2:2'],
    [
      [link('studio-1:2', 'studio-2:2'), link('studio-1:3', 'studio-3:2')],
      'links studio-1:2 <-> studio-2:2, studio-1:3 <-> studio-3:2',
    ],
    [[nodeSubject('studio-1'), placementSubject('chat')], 'studio-1, placement chat'],
  ])('combines %j: %s', (subjects, gathered) => {
    const other = diagnose('ssh/no-key', { subject: nodeSubject('b'), detail: 'No key.' });
    const all = gatherAlike([...about(...subjects), other]);
    expect([all.slice(0, -1).map(({ subject }) => subjectText(subject)), all.at(-1)]).toEqual([[gathered], other]);
  });
});

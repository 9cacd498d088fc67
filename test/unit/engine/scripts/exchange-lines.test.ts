import { describe, expect, it } from 'vitest';
import { parseJobPoll } from '../../../../src/engine/scripts/job.ts';
import { nodes } from '../../../rack/plans.ts';

const polled = (...lines: readonly string[]) => parseJobPoll(['state=running', ...lines, 'end', ''].join('\n'));
const many = Array.from({ length: 33 }, (_, at) => `n${at}`).join(' ');

describe("the lines about other Macs in a job's status", () => {
  it('are accepted only if they contain a list of Mac names', () => {
    const lines = ['progress=7 9', 'activity=receiving 2'];
    const plain = { state: 'running', done: 7, total: 9, activity: 'receiving', kept: 2 };
    expect(polled(...lines, 'sources=studio-1 studio-3')).toEqual({ ...plain, sources: nodes(1, 3) });
    for (const names of ['', ' ', 'studio-1  studio-3', 'Studio-1', '../x', 'a\u001b[2J', 'n'.repeat(64), many]) {
      expect([names, polled(...lines, `sources=${names}`)]).toEqual([names, plain]);
    }
  });

  it('name the Macs that a serving job sends to', () => {
    const serving = { report: 3, sentBytes: 4_096, feeds: nodes(2, 3) };
    const activity = { state: 'running', activity: 'serving', kept: 0 };
    expect(polled('activity=serving 0', 'serving=3 4096 studio-2 studio-3')).toEqual({ ...activity, serving });
    expect(polled('serving=1 0')?.serving).toEqual({ report: 1, sentBytes: 0, feeds: [] });
    for (const text of ['', '3', '3 x', '-1 2', `3 ${'9'.repeat(17)}`, '3 4096 ', '3 4096 Studio', `3 1 ${many}`]) {
      expect([text, polled(`serving=${text}`)]).toEqual([text, { state: 'running' }]);
    }
  });

  it('show the bytes that came over each cable once the job has ended', () => {
    expect(
      polled(
        'exchange=peer studio-2 4096 12 10.77.0.2',
        'exchange=drop studio-3 17 10.77.0.6',
        'exchange=peer studio-2 4096 12',
        'exchange=drop ../x 17 10.77.0.6',
        'exchange=drop studio-3 17 localhost',
        'exchange=refused studio-4 Host key verification failed.',
        'exchange=refused ../x Permission denied',
        'exchange=hello',
      )?.exchange,
    ).toEqual({
      cables: [{ node: 'studio-2', address: '10.77.0.2', bytes: 4_096, ms: 12 }],
      drops: [{ node: 'studio-3', address: '10.77.0.6' }],
      refusals: [{ node: 'studio-4', why: 'Host key verification failed.' }],
    });
    expect(polled('exchange=hello')).toEqual({ state: 'running' });
  });
});

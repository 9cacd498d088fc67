import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../src/apply/journal-record.ts';
import { mergeHistory } from '../../../src/cli/merge-history.ts';
import { historyText } from '../../../src/report/history-text.ts';
import type { HistoryEntry } from '../../../src/script/history.ts';

const at = (second: number): string => new Date(1_795_000_000_000 + second * 1_000).toISOString();
const seconds = (second: number): number => 1_795_000_000 + second;

const intent = (step: string, node: string, second: number): JournalRecord => ({
  seq: 1,
  runId: 'run-a',
  at: at(second),
  phase: 'intent',
  step,
  node,
  act: 'script',
  class: 'converge',
  effect: 'none',
  changes: [],
});

const journal = {
  runId: 'run-a',
  isEnded: false,
  records: [
    { seq: 1, runId: 'run-a', at: at(0), phase: 'run', cluster: 'rack', verb: 'apply', controller: 'ana@desk' },
    intent('studio-1/power/set', 'studio-1', 1),
    {
      seq: 3,
      runId: 'run-a',
      at: at(2),
      phase: 'outcome',
      step: 'studio-1/power/set',
      node: 'studio-1',
      outcome: 'changed',
      ms: 900,
      problems: [],
    },
    intent('studio-2/power/set', 'studio-2', 3),
  ] satisfies readonly JournalRecord[],
};

const entry = (
  run: string,
  step: string,
  second: number,
  result: HistoryEntry['result'] = 'changed',
): HistoryEntry => ({
  atEpochSeconds: seconds(second),
  run,
  token: 1,
  step,
  verb: 'reboot',
  by: 'bea@lab',
  config: 'abc',
  result,
});

describe('the history of a rack', () => {
  const runs = mergeHistory(
    [journal],
    [
      { node: 'studio-1', entries: [entry('run-a', 'studio-1/power/set', 1), entry('run-b', 'studio-1/reboot', 60)] },
      { node: 'studio-3', entries: [entry('run-b', 'studio-3/reboot', 61, 'failed')] },
    ],
  );

  it('tells every run once, newest first, with what anybody knows of it', () => {
    expect(runs.map(({ run, verb, by, from, isEnded }) => [run, verb, by, from, isEnded])).toEqual([
      ['run-b', 'reboot', 'bea@lab', ['node'], undefined],
      ['run-a', 'apply', 'ana@desk', ['journal', 'node'], false],
    ]);
  });

  it('tells a step that both know once, and calls one without an outcome unknown', () => {
    expect(runs[1]?.steps.map(({ step, result }) => [step, result])).toEqual([
      ['studio-1/power/set', 'changed'],
      ['studio-2/power/set', 'unknown'],
    ]);
  });

  it('reads well in 80 columns', async () => {
    const text = historyText({ cluster: 'rack', runs, isSimulated: true, columns: 80, unicode: false });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await expect(text).toMatchFileSnapshot('golden/history.txt');
  });

  it('is said to be empty when nobody remembers anything', () => {
    const text = historyText({ cluster: 'rack', runs: [], isSimulated: false, columns: 80, unicode: false });
    expect(text).toBe('rack   0 runs\n\nNothing was done yet, as far as anybody knows.\n');
    expect(mergeHistory([{ runId: 'x', records: [], isEnded: false }], [])).toEqual([]);
  });
});

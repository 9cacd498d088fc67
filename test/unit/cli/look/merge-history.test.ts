import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../../../../src/apply/journal/journal.ts';
import { mergeHistory as merged, historyText as textOf } from '../../../../src/cli/look/history.ts';
import type { StepOutcome } from '../../../../src/model/step.ts';
import type { HistoryEntry } from '../../../../src/node/root-script.ts';
import { plainPage } from '../../../rack/page.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const historyText = onPage(textOf);
const mergeHistory = onPage(merged);

const at = (second: number): string => new Date(1_795_000_000_000 + second * 1_000).toISOString();
const seconds = (second: number): number => 1_795_000_000 + second;

function intent(step: string, node: string, second: number, changes: readonly string[] = []): JournalRecord {
  const act = { act: 'script', class: 'converge', effect: 'none', changes } as const;
  return { seq: 1, runId: 'run-a', at: at(second), phase: 'intent', step, node, ...act };
}

function outcome(step: string, node: string, second: number, result: StepOutcome): JournalRecord {
  const ended = { outcome: result, ms: 900, problems: [] };
  return { seq: 3, runId: 'run-a', at: at(second), phase: 'outcome', step, node, ...ended };
}

const journal = {
  runId: 'run-a',
  damaged: 0,
  isEnded: false,
  records: [
    { seq: 1, runId: 'run-a', at: at(0), phase: 'run', cluster: 'rack', verb: 'apply', controller: 'ana@desk' },
    intent('studio-1/power/set', 'studio-1', 1),
    outcome('studio-1/power/set', 'studio-1', 2, 'changed'),
    intent('studio-2/power/set', 'studio-2', 3),
  ] satisfies readonly JournalRecord[],
};

function entry(run: string, step: string, second: number, result: HistoryEntry['result'] = 'changed'): HistoryEntry {
  const about = { token: 1, verb: 'reboot', by: 'bea@lab', config: 'abc' };
  return { atEpochSeconds: seconds(second), run, step, result, ...about };
}

const about = { cluster: 'rack', seen: 3, unreached: {}, isWhole: false };

describe('the history of a rack', () => {
  const runs = mergeHistory(
    [journal],
    [
      { node: 'studio-1', entries: [entry('run-a', 'studio-1/power/set', 1), entry('run-b', 'studio-1/reboot', 60)] },
      { node: 'studio-3', entries: [entry('run-b', 'studio-3/reboot', 61, 'failed')] },
    ],
  );

  it('lists every run once, newest first, with its sources', () => {
    expect(runs.map(({ run, verb, by, from, end }) => [run, verb, by, from, end])).toEqual([
      ['run-b', 'reboot', 'bea@lab', ['node'], undefined],
      ['run-a', 'apply', 'ana@desk', ['journal', 'node'], 'open'],
    ]);
  });

  it('lists a step found in both sources once, and a step without an outcome as unknown', () => {
    expect(runs[1]?.steps.map(({ step, result }) => [step, result])).toEqual([
      ['studio-1/power/set', 'changed'],
      ['studio-2/power/set', 'unknown'],
    ]);
  });

  it('fits in 80 columns', async () => {
    const text = historyText({ ...about, runs }, plainPage({ isSimulated: true }));
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await expect(text).toMatchFileSnapshot('golden/history.txt');
  });

  it('reports that no run is recorded', () => {
    const text = (seen: number, unreached = {}) => historyText({ ...about, runs: [], seen, unreached }, plainPage());
    expect(text(2)).toBe('rack   0 runs, 2 nodes\n\nNo run is recorded, here or on the nodes.\n');
    const refused = { code: 'ssh/refused', reason: 'The node refused the connection.' } as const;
    expect(text(1, { 'studio-2': refused })).toBe(
      'rack   0 runs, 1 of 2 nodes observed\n\n' +
        'No run is recorded here or on the nodes that were reached. Not reached:\nstudio-2.\n',
    );
    expect(text(0, { 'studio-2': refused })).toContain('No run is recorded here. Not reached: studio-2.');
    expect(mergeHistory([{ runId: 'x', records: [], damaged: 0, isEnded: false }], [])).toEqual([]);
  });

  it('reports damaged journal records, even for a run without an intact one', () => {
    const gone = { runId: '20260102T030405-aaaaaa', records: [], damaged: 4, isEnded: false };
    const text = historyText({ ...about, runs: mergeHistory([gone, { ...journal, damaged: 1 }], []) }, plainPage());
    expect(text).toContain('  1 record of its journal damaged or missing, so the run may have done more\n');
    expect(text).toContain('2026-01-02 03:04:05 UTC   unknown by this controller\n  run 20260102T030405-aaaaaa\n');
  });
});

/** A run with one plan of five changes, from its journal. */
function runWith(end: 'none' | 'interrupted', steps: number | null = 2) {
  const change = (id: string) => ({ id, from: 'sleeps', to: 'never', ...(steps === null ? {} : { steps }) });
  const ids = ['power/sleep', 'identity/name', 'time/clock', 'memory/wired', 'files/a'].map((one) => `studio-1 ${one}`);
  const [sleep = '', name = '', clock = '', memory = ''] = ids;
  const seq = { seq: 2, runId: 'run-a' };
  const [about] = journal.records;
  if (about === undefined) throw new Error('the journal is empty');
  const records: readonly JournalRecord[] = [
    about,
    { ...seq, at: at(0), phase: 'plan', config: 'c', plan: 'p', steps: 8, changes: ids.map(change) },
    intent('a', 'studio-1', 1, [sleep, name]),
    outcome('a', 'studio-1', 2, 'changed'),
    intent('b', 'studio-1', 3, [sleep]),
    outcome('b', 'studio-1', 5, 'unchanged'),
    intent('c', 'studio-1', 3, [clock]),
    outcome('c', 'studio-1', 4, 'failed'),
    intent('d', 'studio-1', 5, [memory]),
    ...(end === 'none' ? [] : [{ ...seq, at: at(9), phase: 'end', isInterrupted: true } as const]),
  ];
  const [run] = mergeHistory([{ runId: 'run-a', records, damaged: 0, isEnded: end !== 'none' }], []);
  if (run === undefined) throw new Error('the history has no run');
  return run;
}

describe("a run's changes", () => {
  it('are counted by property, as in apply, with a note if the run was interrupted', () => {
    const text = historyText({ ...about, runs: [runWith('interrupted')] }, plainPage());
    expect(text).toContain('  1 changed, 2 not finished, 1 failed, 1 not begun; interrupted\n');
    expect(text).toMatch(/ apply by ana@desk {3}9 s$/m);
    expect(text).toContain('List the changes of one run: meshwright history RUN');
    expect(historyText({ ...about, runs: [runWith('none')] }, plainPage())).toContain('; killed or still running');
  });

  it('are listed for one run with old value, new value and duration', () => {
    const text = historyText({ ...about, runs: [runWith('interrupted')], isWhole: true }, plainPage());
    expect(text).toContain('    studio-1 power/sleep: sleeps -> never (changed 4 s)\n');
    expect(text).toContain('    studio-1 files/a: sleeps -> never (not begun)\n');
    expect(text).not.toContain('meshwright history RUN');
  });

  it('are never counted as made in a journal without step counts', () => {
    const { changes = [] } = runWith('interrupted', null);
    expect(changes.map(({ result }) => result)).toEqual(['unknown', 'unknown', 'failed', 'not finished', 'unknown']);
  });

  it('are unknown if only the nodes have recorded the run', () => {
    const [run] = mergeHistory([], [{ node: 'studio-1', entries: [entry('run-b', 'studio-1/reboot', 60)] }]);
    if (run === undefined) throw new Error('the history has no run');
    const text = historyText({ ...about, runs: [run], isWhole: true }, plainPage());
    expect(text).toContain('  1 step changed (recorded by the nodes)\n');
    expect(text).toContain('  The journal of this run is not on this computer, and nodes record only steps.\n');
  });
});

onOnePage('merge-history');

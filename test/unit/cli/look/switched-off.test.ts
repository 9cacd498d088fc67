import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../src/apply/journal/journal.ts';
import { shutdownOf as shutdownItself } from '../../../../src/cli/look/status.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { EffectKind, StepOutcome } from '../../../../src/model/step.ts';

const shutdownOf = (...asked: Parameters<typeof shutdownItself>): string | undefined => {
  const text = shutdownItself(...asked);
  return text && plainText(text);
};

const run = (effect: EffectKind, outcome: StepOutcome, more: readonly JournalEntry[] = []) => {
  const entries: readonly JournalEntry[] = [
    { phase: 'run', cluster: 'rack', verb: 'x', controller: 'ana@desk' },
    { phase: 'intent', step: 's', node: 'studio-4', act: 'reboot', class: 'once', effect, changes: [] },
    { phase: 'outcome', step: 's', node: 'studio-4', outcome, ms: 1, problems: [] },
    ...more,
  ];
  const at = '2026-11-22T09:12:30.000Z';
  const records = entries.map((entry, index) => ({ seq: index + 1, runId: 'r', at, ...entry }));
  return { runId: 'r', records, damaged: 0, isEnded: true };
};

describe('a Mac that does not answer', () => {
  const off = run('shutdown', 'changed');

  it('is reported as shut down if its newest run completed the shutdown', () => {
    const words = 'ana@desk shut this Mac down (meshwright shutdown) at 2026-11-22 09:12:30 UTC.';
    expect(shutdownOf([off], 'studio-4')).toBe(words);
    expect(shutdownOf([off], 'studio-1')).toBeUndefined();
    expect(shutdownOf([], 'studio-4')).toBeUndefined();
    expect(shutdownOf([run('shutdown', 'unknown')], 'studio-4')).toBeUndefined();
    expect(shutdownOf([run('reboot', 'changed'), off], 'studio-4')).toBeUndefined();
  });

  it('is not reported as shut down if a later run has taken its lease', () => {
    const lease: JournalEntry = { phase: 'lease', node: 'studio-4', state: 'taken', token: 3 };
    const later = { ...off, records: [{ seq: 1, runId: 'q', at: '2026-11-22T10:00:00.000Z', ...lease }] };
    expect(shutdownOf([later, off], 'studio-4')).toBeUndefined();
    const refused = { ...later, records: later.records.map((one) => ({ ...one, node: 'studio-1' })) };
    expect(shutdownOf([refused, off], 'studio-4')).toMatch(/^ana@desk shut this Mac down/);
  });
});

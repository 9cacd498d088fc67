import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/apply/run-events.ts';
import { type LogEvent, printedEvents } from '../../../../src/cli/files/event-lines.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { aStep, blocker, emptyPlan, nodes } from '../../../rack/plans.ts';

const time = '2026-11-25T21:00:00.000Z';
const node = nodeName('studio-1');
const step = aStep('studio-1/model/fetch');
const failure = diagnose('cli/cannot-write', { detail: 'No\nspace\u001b left.' });

/** One event of each kind. */
const events: { readonly [K in RunEvent['kind']]: Extract<RunEvent, { readonly kind: K }> } = {
  'run-started': { kind: 'run-started', runId: 'r1', nodes: [node] },
  lease: { kind: 'lease', node, state: 'taken' },
  reconnecting: { kind: 'reconnecting', node, attempt: 2 },
  'step-started': { kind: 'step-started', step },
  'step-progress': {
    kind: 'step-progress',
    step: step.id,
    node,
    doneBytes: 3,
    totalBytes: 9,
    keptBytes: 1,
    activity: 'receiving',
    sources: nodes(1, 3),
    feeds: nodes(2),
    sentBytes: 4,
  },
  'step-ended': { kind: 'step-ended', step, outcome: 'failed', ms: 7, diagnostics: [failure] },
  'rescue-started': { kind: 'rescue-started', group: 'kimi' },
  'plan-ended': { kind: 'plan-ended' },
  interrupted: { kind: 'interrupted' },
  'run-ended': { kind: 'run-ended' },
};

describe('the events for programs', () => {
  const plan: LogEvent = { kind: 'plan', plan: emptyPlan({ blockers: [blocker('studio-1')] }) };

  it('are one line of JSON each that matches the schema', () => {
    const lines = [...Object.values(events), plan].flatMap((event) => printedEvents(event, time));
    expect(lines.filter((line) => /[\n\u001b]/.test(line))).toEqual([]);
    const values = lines.map((line): unknown => JSON.parse(line));
    expect(values.flatMap(schemaCheck('event'))).toEqual([]);
    const kinds = values.map((value) => (value as { readonly event: string }).event);
    expect(new Set(kinds)).toEqual(new Set([...Object.keys(events), 'finding', 'plan', 'blocker']));
  });

  it('have the bytes of a transfer, and those that were on the node before', () => {
    const [line = ''] = printedEvents(events['step-progress'], time);
    expect(JSON.parse(line)).toMatchObject({ node, doneBytes: 3, totalBytes: 9, keptBytes: 1, activity: 'receiving' });
    expect(JSON.parse(line)).toMatchObject({ sources: nodes(1, 3), feeds: nodes(2), sentBytes: 4 });
  });
});

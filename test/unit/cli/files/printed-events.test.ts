import { describe, expect, it } from 'vitest';
import { type LogEvent, printedEvents } from '../../../../src/cli/files/event-lines.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { unknownExit } from '../../../../src/remote/remote.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { aStep, blocker, change, emptyPlan, gateAct, nodes, waits } from '../../../rack/plans.ts';

const time = '2026-11-25T21:00:00.000Z';
const node = nodeName('studio-1');
const step = aStep('studio-1/model/fetch');
const failure = diagnose('cli/cannot-write', { detail: 'No\nspace\u001b left.' });

const holder = { run: 'r0', owner: 'ana', verb: 'apply', phase: 'starting', since: 'now' };
const exit = { kind: 'exited', code: 0 } as const;
const bytes = { doneBytes: 3, totalBytes: 9, keptBytes: 1, sentBytes: 4 };

const plan = emptyPlan({
  changes: ['power/sleep', 'power/wake', 'clock'].map((name) => change('studio-1', name, 'a', 'b')),
  steps: [step, step],
  waiting: [waits('placement/kimi', 'studio-1', [])],
  blockers: [blocker('studio-1')],
  effects: [{ kind: 'network', nodes: nodes(1), placements: [] }],
  diagnostics: [failure],
});

/** Events of each kind. */
const events: { readonly [K in LogEvent['kind']]: readonly Extract<LogEvent, { readonly kind: K }>[] } = {
  'verb-started': [{ kind: 'verb-started', version: '1.2.3' }],
  'verb-ended': [0, 4].map((code) => ({ kind: 'verb-ended', exit: code })),
  connecting: [{ kind: 'connecting', node, address: 'mesh@studio-1:22' }],
  'host-key': [
    { kind: 'host-key', node, verdict: 'accepted', fingerprint: 'SHA256:x' },
    { kind: 'host-key', node, verdict: 'changed' },
  ],
  connected: [{ kind: 'connected', node }],
  refused: [{ kind: 'refused', node, diagnostics: [failure, diagnose('ssh/no-key', { detail: 'No key.' })] }],
  sent: [
    { kind: 'sent', node, name: 'set-power', command: 'sudo', script: 'é' },
    { kind: 'sent', node, name: 'poll-job', command: 'true' },
  ],
  answered: [
    { kind: 'answered', node, name: 'set-power', exit, ms: 12 },
    { kind: 'answered', node, name: 'poll-job', exit, ms: 13 },
    { kind: 'answered', node, name: 'poll-job', exit: unknownExit.ended, ms: 14 },
  ],
  finding: [{ kind: 'finding', diagnostic: diagnose('ssh/dropped', { detail: 'Lost.', subject: nodeSubject('a') }) }],
  plan: [{ kind: 'plan', plan }],
  'run-started': [{ kind: 'run-started', runId: 'r1', nodes: [node] }],
  lease: [
    { kind: 'lease', node, state: 'waiting', holder },
    ...(['taken', 'expired', 'refused', 'lost', 'released'] as const).map(
      (state) => ({ kind: 'lease', node, state }) as const,
    ),
  ],
  reconnecting: [{ kind: 'reconnecting', node, attempt: 2 }],
  'step-started': [step, aStep('gate', { act: gateAct })].map((one) => ({ kind: 'step-started', step: one })),
  'step-progress': [
    {
      kind: 'step-progress',
      step: step.id,
      node,
      activity: 'receiving',
      sources: nodes(1, 3),
      feeds: nodes(2),
      ...bytes,
    },
    { kind: 'step-progress', step: step.id, node, text: 'rank 2 is not listening' },
  ],
  'step-ended': (['changed', 'unchanged', 'skipped', 'blocked', 'interrupted', 'unknown', 'failed'] as const).map(
    (outcome) => ({ kind: 'step-ended', step, outcome, ms: 7.4, diagnostics: outcome === 'failed' ? [failure] : [] }),
  ),
  'rescue-started': [{ kind: 'rescue-started', group: 'kimi' }],
  'plan-ended': [{ kind: 'plan-ended' }],
  interrupted: [{ kind: 'interrupted' }],
  'run-ended': [{ kind: 'run-ended' }],
};

describe('the events for programs', () => {
  it('are printed as one JSON line each, and match the run schema or the log schema', async () => {
    const lines = Object.values(events).flatMap((all) => all.flatMap((event) => printedEvents(event, time)));
    expect(lines.filter((line) => /[\n\u001b]/.test(line))).toEqual([]);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/events.ndjson');
    const ofRun = schemaCheck('event');
    const ofLog = schemaCheck('log-line');
    for (const value of lines.map((line) => JSON.parse(line))) {
      expect(ofRun(value).length === 0 || ofLog({ ...value, run: 'r1', verb: 'apply' }).length === 0).toBe(true);
    }
  });
});

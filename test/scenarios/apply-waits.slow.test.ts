import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import type { Patch } from '../../src/model/step.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { eventually } from '../rack/running.ts';
import { asText } from '../unit/as-text.ts';
import { controller, keptJournal, planOf, quickTiming, runOptions, startApplyRack } from './apply-rack.ts';
import {
  codes,
  cuttingProxies,
  gate,
  ours,
  outcomes,
  ownerFile,
  patientTiming,
  seenSleep,
  sleepAfter,
  timesRun,
} from './apply-steps.ts';
import { runPlan } from './run-plan.ts';

const rack = shared(() => startApplyRack('waits'));

const proxied = cuttingProxies();

describe('a lease', () => {
  it('stops a whole plan before it starts if another run has the lease', async () => {
    const person = new AbortController();
    const holder = runPlan(
      planOf([gate('wait', seenSleep('studio-2', 9_999))]),
      runOptions(rack, { journal: keptJournal('run-holder'), signal: person.signal }),
    );
    expect(await eventually(() => rack.read('studio-2', ownerFile)?.includes('run=run-holder') === true)).toBe(true);
    const journal = keptJournal();
    const report = await runPlan(
      planOf([sleepAfter('studio-1/g', 'studio-1'), sleepAfter('studio-2/g', 'studio-2')]),
      runOptions(rack, { journal, controller: controller('ffff00000000'), timing: patientTiming }),
    );
    expect(report.refusals).toEqual([
      { node: 'studio-2', holder: expect.objectContaining({ run: 'run-holder', verb: 'apply', owner: 'ana@desk-01' }) },
    ]);
    expect([Object.values(outcomes(report)), codes(report)]).toEqual([['skipped', 'skipped'], ['lease/held']]);
    expect(journal.entries.filter(({ phase }) => phase === 'intent')).toEqual([]);
    person.abort();
    expect(outcomes(await holder)).toEqual({ wait: 'interrupted' });
  });

  it('rejects every later script on all nodes once it has been stolen', async () => {
    const journal = keptJournal('run-old', (entry) => {
      if (entry.phase !== 'intent' || entry.step !== 'studio-1/h') return;
      const stolen = `${rack.fleet.nodes['studio-1']?.root}${ownerFile}`;
      writeFileSync(stolen, 'run=run-new\ntoken=999999\n');
    });
    const steps = [
      sleepAfter('studio-1/h', 'studio-1'),
      sleepAfter('studio-2/h', 'studio-2', { needs: ['studio-1/h'] }),
      sleepAfter('studio-1/i', 'studio-1'),
    ];
    const slow = { ...quickTiming, heartbeatMs: 60_000 };
    const report = await runPlan(planOf(steps), runOptions(rack, { journal, timing: slow }));
    expect(outcomes(report)).toEqual({ 'studio-1/h': 'failed', 'studio-2/h': 'skipped', 'studio-1/i': 'skipped' });
    expect([report.isLeaseLost, codes(report), timesRun(rack, 'studio-1', 'studio-1/h')]).toEqual([
      true,
      ['lease/lost'],
      0,
    ]);
    rmSync(`${rack.fleet.nodes['studio-1']?.root}${ours}/lease`, { recursive: true, force: true });
  });
});

describe('an interrupt', () => {
  it("ends a gate, runs its group's rescue steps, and releases the leases", async () => {
    const person = new AbortController();
    const events: RunEvent[] = [];
    const group = 'kimi/1';
    const steps = [
      sleepAfter('studio-1/kick', 'studio-1', { group }),
      aStep('wait', {
        class: 'probe',
        group,
        needs: ['studio-1/kick'],
        act: { kind: 'gate', expect: [seenSleep('studio-1', 9_999)], aborts: [] },
      }),
    ];
    const rescue = { group, steps: [sleepAfter('studio-1/stop', 'studio-1'), sleepAfter('studio-2/stop', 'studio-2')] };
    const journal = keptJournal();
    const running = runPlan(planOf(steps, [rescue]), {
      ...runOptions(rack, { journal, signal: person.signal }),
      onEvent: (event) => {
        events.push(event);
        if (event.kind === 'step-progress') person.abort();
      },
    });
    const report = await running;
    expect(report.steps.map(({ step, outcome, rescues }) => [step.id, outcome, rescues])).toEqual([
      ['studio-1/kick', 'changed', undefined],
      ['wait', 'interrupted', undefined],
      ['studio-1/stop', 'changed', group],
      ['studio-2/stop', 'changed', group],
    ]);
    expect([report.isInterrupted, journal.entries.at(-1)]).toEqual([true, { phase: 'end', isInterrupted: true }]);
    expect(events.map(({ kind }) => kind)).toContain('interrupted');
    expect([rack.read('studio-1', ownerFile), rack.read('studio-2', ownerFile)]).toEqual([undefined, undefined]);
  });
});

describe('a gate', () => {
  const wait = (patch: Patch, aborts: readonly Patch[], deadlineMs = 20_000): Promise<RunReport> =>
    runPlan(
      planOf([
        aStep('wait', { node: patch.node, class: 'probe', deadlineMs, act: { kind: 'gate', expect: [patch], aborts } }),
      ]),
      runOptions(rack),
    );

  it('names both values when it times out', async () => {
    const report = await wait(seenSleep('studio-3', 77), [], 100);
    expect(report.diagnostics.map(asText)).toMatchObject([
      {
        code: 'gate/not-reached',
        subject: nodeSubject('studio-3'),
        detail: 'power/sleep on studio-3: expected 77, found 0.',
      },
    ]);
  });

  it('ends immediately at a value that rules out the expected one', async () => {
    const report = await wait(seenSleep('studio-3', 77), [seenSleep('studio-3', 0)]);
    expect(report.diagnostics).toMatchObject([{ code: 'gate/aborted', related: [{ code: 'gate/not-reached' }] }]);
  });

  it('reports if the node could not be observed', async () => {
    const { proxy, ways } = await proxied(rack, 'studio-3');
    const running = runPlan(planOf([gate('wait', seenSleep('studio-3', 77))]), {
      ...runOptions(rack, { ways }),
      onEvent: ({ kind }) => {
        if (kind === 'step-progress') void proxy.vanish();
      },
    });
    expect(codes(await running)).toEqual(['gate/not-seen']);
    rmSync(`${rack.fleet.nodes['studio-3']?.root}${ours}/lease`, { recursive: true, force: true });
  });
});

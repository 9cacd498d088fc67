import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { FleetError } from '../../src/diagnostics/diagnostic.ts';
import type { Step } from '../../src/model/step.ts';
import { nodePath } from '../../src/node/paths/node-paths.ts';
import { onSent } from '../on-sent.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep, type StepChange } from '../rack/plans.ts';
import { eventually } from '../rack/running.ts';
import { keptJournal, planOf, runOptions, startApplyRack } from './apply-rack.ts';
import {
  codes,
  cuttingProxies,
  gate,
  historyFile,
  ours,
  outcomes,
  ownerFile,
  seenSleep,
  sleepAfter,
  timesRun,
} from './apply-steps.ts';
import type { CuttingProxy } from './cutting-proxy.ts';
import { runPlan } from './run-plan.ts';

const rack = shared(() => startApplyRack('run'));

const proxied = cuttingProxies();
const file = (node: string, name = randomUUID()): Step =>
  aStep(`${node}/put`, {
    node,
    act: { kind: 'put', path: nodePath(`${ours}/test/${name}`), mode: 0o644, content: [`${name}\n`] },
  });

describe('a run of a plan', () => {
  it("makes its steps' changes, confirms them at a gate, and releases its leases", async () => {
    const power = sleepAfter('studio-1/power', 'studio-1');
    const put = file('studio-2');
    const steps = [power, put, gate('seen', seenSleep('studio-1'), { needs: ['studio-1/power'] })];
    const events: RunEvent[] = [];
    const report = await runPlan(planOf(steps), runOptions(rack, { events }));
    expect(outcomes(report)).toEqual({ 'studio-1/power': 'changed', 'studio-2/put': 'changed', seen: 'unchanged' });
    expect([report.diagnostics, report.isInterrupted, report.isLeaseLost]).toEqual([[], false, false]);
    expect([rack.read('studio-1', ownerFile), rack.read('studio-2', ownerFile)]).toEqual([undefined, undefined]);
    expect(events.map(({ kind }) => kind).filter((kind) => kind !== 'step-progress')).toEqual([
      'run-started',
      'lease',
      'lease',
      'step-started',
      'step-started',
      expect.stringMatching(/^step-/),
      expect.stringMatching(/^step-/),
      expect.stringMatching(/^step-/),
      'step-ended',
      'plan-ended',
      'lease',
      'lease',
      'run-ended',
    ]);
    expect(rack.read('studio-1', historyFile)).toContain(`run=${report.runId} `);
    const again = await runPlan(planOf(steps), runOptions(rack));
    expect(Object.values(outcomes(again))).toEqual(['unchanged', 'unchanged', 'unchanged']);
  });

  it('uses one connection per node and reports every command with its script', async () => {
    const { proxy, ways } = await proxied(rack, 'studio-1');
    const sent: (readonly [string, string | undefined])[] = [];
    const power = sleepAfter('studio-1/power', 'studio-1');
    await runPlan(
      planOf([power, gate('seen', seenSleep('studio-1'), { needs: ['studio-1/power'] })]),
      runOptions(rack, { ways, onRemote: onSent((command, script) => void sent.push([command, script])) }),
    );
    expect(proxy.counts.connections).toBe(1);
    const asRoot = sent.filter(([command]) => / -n '[^']*\/bin\/sh' -s$/.test(command));
    expect(asRoot.filter(([, script]) => script === undefined)).toEqual([]);
    expect(asRoot.some(([, script]) => script?.includes('must pmset'))).toBe(true);
  });

  it('writes each intent to the journal before it sends the step', async () => {
    const steps = [sleepAfter('studio-1/a', 'studio-1'), sleepAfter('studio-1/b', 'studio-1')];
    const seen: string[] = [];
    const journal = keptJournal('run-order', (entry) => {
      if (entry.phase === 'intent') seen.push(`${entry.step}: run ${timesRun(rack, 'studio-1', entry.step)} times`);
    });
    await runPlan(planOf(steps), runOptions(rack, { journal }));
    expect(seen).toEqual(['studio-1/a: run 0 times', 'studio-1/b: run 0 times']);
    const phases = journal.entries.map((one) => one.phase);
    expect(phases.join(' ')).toBe('run plan lease intent outcome intent outcome lease end');
  });

  it('sends nothing more when the journal cannot be written', async () => {
    const steps = [sleepAfter('studio-1/c', 'studio-1'), sleepAfter('studio-1/d', 'studio-1')];
    const full = new FleetError([diagnose('journal/cannot-write', { detail: 'no space' })]);
    const journal = keptJournal('run-full', (entry) => {
      if (entry.phase === 'outcome') throw full;
    });
    const report = await runPlan(planOf(steps), runOptions(rack, { journal }));
    expect(outcomes(report)).toEqual({ 'studio-1/c': 'changed', 'studio-1/d': 'skipped' });
    expect([codes(report), timesRun(rack, 'studio-1', 'studio-1/d')]).toEqual([['journal/cannot-write'], 0]);
    expect(rack.read('studio-1', ownerFile)).toBeUndefined();
    const never = keptJournal('run-never', () => {
      throw full;
    });
    await expect(runPlan(planOf(steps), runOptions(rack, { journal: never }))).rejects.toBe(full);
  });

  it('takes no lease and contacts no node for a manual step', async () => {
    const hands = aStep('studio-1/hands', { class: 'manual', act: { kind: 'hands', code: 'rdma/disabled' } });
    const sent: string[] = [];
    const journal = keptJournal();
    const report = await runPlan(
      planOf([hands]),
      runOptions(rack, { journal, onRemote: onSent((_command, _script, node) => void sent.push(node)) }),
    );
    expect([outcomes(report), sent]).toEqual([{ 'studio-1/hands': 'blocked' }, []]);
    expect(journal.entries.map(({ phase }) => phase)).toEqual(['run', 'end']);
  });

  it("fails an unreachable node's steps and runs the others", async () => {
    const { proxy, ways } = await proxied(rack, 'studio-1');
    await proxy.vanish();
    const steps = [
      sleepAfter('studio-1/e', 'studio-1'),
      sleepAfter('studio-1/f', 'studio-1', { needs: ['studio-1/e'] }),
      file('studio-2'),
    ];
    const report = await runPlan(planOf(steps), runOptions(rack, { ways }));
    expect(outcomes(report)).toEqual({ 'studio-1/e': 'failed', 'studio-1/f': 'skipped', 'studio-2/put': 'changed' });
    expect(codes(report)).toEqual(['ssh/refused']);
  });
});

/** Runs a script on its node, but drops the answer. */
async function loseAnswerOf(step: string, more: StepChange = {}): Promise<{ report: RunReport; proxy: CuttingProxy }> {
  const { proxy, ways } = await proxied(rack, 'studio-1');
  let isLost = false;
  const report = await runPlan(
    planOf([sleepAfter(step, 'studio-1', more), sleepAfter(`${step}-next`, 'studio-1', { needs: [step] })]),
    runOptions(rack, {
      ways,
      onRemote: onSent((_command, script) => {
        if (isLost || script?.includes('must pmset') !== true) return;
        isLost = true;
        proxy.muteAfter(script.length);
        void eventually(() => timesRun(rack, 'studio-1', step) === 1).then(() => proxy.cut());
      }),
    }),
  );
  return { report, proxy };
}

describe('a connection that drops during a step', () => {
  it('is opened again, and an idempotent step runs again', async () => {
    const { report, proxy } = await loseAnswerOf('studio-1/lost');
    expect(outcomes(report)).toEqual({ 'studio-1/lost': 'unchanged', 'studio-1/lost-next': 'changed' });
    expect([timesRun(rack, 'studio-1', 'studio-1/lost'), proxy.counts.connections]).toEqual([2, 2]);
  });

  it('leaves the outcome of a non-repeatable step unknown and skips its dependents', async () => {
    const { report } = await loseAnswerOf('studio-1/once', { class: 'once' });
    expect(outcomes(report)).toEqual({ 'studio-1/once': 'unknown', 'studio-1/once-next': 'skipped' });
    expect([timesRun(rack, 'studio-1', 'studio-1/once'), codes(report)]).toEqual([1, ['ssh/dropped']]);
    expect(rack.read('studio-1', ownerFile)).toBeUndefined();
  });

  it('fails only its own node if it does not come back', async () => {
    const { proxy, ways } = await proxied(rack, 'studio-1');
    const steps = [sleepAfter('studio-1/gone', 'studio-1'), file('studio-2')];
    const report = await runPlan(
      planOf(steps),
      runOptions(rack, {
        ways,
        onRemote: onSent((_command, script) => {
          if (script?.includes('must pmset')) void proxy.vanish();
        }),
      }),
    );
    expect(outcomes(report)['studio-2/put']).toBe('changed');
    expect(['unknown', 'failed']).toContain(outcomes(report)['studio-1/gone']);
    expect(codes(report)[0]).toMatch(/^ssh\/(?:dropped|refused)$/);
    rmSync(`${rack.fleet.nodes['studio-1']?.root}${ours}/lease`, { recursive: true, force: true });
  });
});

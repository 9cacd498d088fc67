import { mkdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunOptions, RunReport } from '../../src/apply/open-run.ts';
import { observeFleet } from '../../src/apply/reach/observe.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { known, unknown } from '../../src/model/known.ts';
import type { Step } from '../../src/model/step.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { bootSessionFact } from '../../src/rack/boot/fact.ts';
import { read } from '../../src/rack/fact.ts';
import { onSent } from '../on-sent.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { eventually } from '../rack/running.ts';
import { planOf, quickTiming, runOptions, startApplyRack } from './apply-rack.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { runPlan } from './run-plan.ts';

const ours = '/Library/Application Support/meshwright';

const rack = shared(() => startApplyRack('reboot', 1 / 100));
afterEach(() => rack.fleet.clearFault([]));

async function bootSession(node: string): Promise<string> {
  const { nodes } = await observeFleet([rack.way(node)], runOptions(rack));
  const seen = read(nodes[node]?.facts, bootSessionFact);
  if (seen?.kind !== 'known') throw new Error(`${node} reported no boot session`);
  return seen.value.uuid;
}

const reboot = (node: string, from: string, to: 'up' | 'off' = 'up', deadlineMs = 20_000): Step =>
  aStep(`${node}/${to}`, { node, class: 'once', deadlineMs, act: { kind: 'reboot', to, from: known(from) } });
const power = (node: string, needs: readonly string[]): Step => aStep(`${node}/power`, { node, needs });

const run = (
  steps: readonly Step[],
  more: Partial<RunOptions> & { readonly events?: RunEvent[] } = {},
): Promise<RunReport> => runPlan(planOf(steps), runOptions(rack, more));
const outcomes = ({ steps }: RunReport): readonly string[] => steps.map(({ outcome }) => outcome);
const codes = ({ diagnostics }: RunReport): readonly string[] => diagnostics.map(({ code }) => code);
const orders = (node: string): number =>
  rack.fleet.effects().filter((one) => one.node === node && (one.kind === 'reboot' || one.kind === 'power-off')).length;
/** Simulates an earlier reboot order that macOS refused. */
const leaveMark = (node: string, from: string): void => {
  mkdirSync(`${rack.fleet.nodes[node]?.root}${ours}/ops/reboot-${from}/once`, { recursive: true });
};

describe('a restart', () => {
  it('is confirmed by a new boot session, and the run continues under its lease', async () => {
    const from = await bootSession('studio-1');
    const report = await run([reboot('studio-1', from), power('studio-1', ['studio-1/up'])]);
    expect([outcomes(report), codes(report), orders('studio-1')]).toEqual([['changed', 'unchanged'], [], 1]);
    expect(await bootSession('studio-1')).not.toBe(from);
    expect(rack.read('studio-1', `${ours}/lease/owner`)).toBeUndefined();
  });

  it('is not ordered again once it has happened', async () => {
    const from = await bootSession('studio-1');
    const before = orders('studio-1');
    await run([reboot('studio-1', from)]);
    expect(outcomes(await run([reboot('studio-1', from)]))).toEqual(['changed']);
    expect(orders('studio-1')).toBe(before + 1);
  });

  it('is confirmed even if the reply to the restart command was lost', async () => {
    const from = await bootSession('studio-2');
    const proxy = await startCuttingProxy(rack.fleet.nodes['studio-2']?.port ?? 0);
    let isLost = false;
    const report = await run([reboot('studio-2', from)], {
      ways: [rack.way('studio-2', proxy)],
      onRemote: onSent((_command, script) => {
        if (isLost || !script?.includes(`reboot-${from}`)) return;
        isLost = true;
        proxy.muteAfter(script.length);
        void eventually(() => orders('studio-2') === 1).then(() => proxy.cut());
      }),
    });
    await proxy.stop();
    expect([isLost, outcomes(report), orders('studio-2')]).toEqual([true, ['changed'], 1]);
  });

  it('is reported, not ordered again, if an earlier order had no effect', async () => {
    const from = await bootSession('studio-3');
    leaveMark('studio-3', from);
    const report = await run([reboot('studio-3', from, 'up', 3_000), power('studio-3', ['studio-3/up'])]);
    expect([outcomes(report), codes(report), orders('studio-3')]).toEqual([
      ['failed', 'skipped'],
      ['reboot/not-rebooted'],
      0,
    ]);
    expect(rack.read('studio-3', `${ours}/lease/owner`)).toBeUndefined();
  });

  it('is not ordered while the boot session is unknown', async () => {
    const from = unknown('garbled', 'sysctl printed something else.');
    const step = aStep('up', { node: 'studio-3', class: 'once', act: { kind: 'reboot', to: 'up', from } });
    const report = await run([step]);
    expect([codes(report), orders('studio-3')]).toEqual([['reboot/session-unknown'], 0]);
  });

  it('reports how far it got if the Mac does not come back', async () => {
    const from = await bootSession('studio-4');
    await rack.fleet.setFault(['no-return', 'studio-4']);
    const report = await run([reboot('studio-4', from, 'up', 2_000)]);
    expect(report.diagnostics).toMatchObject([
      {
        code: 'reboot/no-return',
        subject: nodeSubject('studio-4'),
        related: [{ code: expect.stringMatching(/^ssh\//) }],
      },
    ]);
    expect(orders('studio-4')).toBe(1);
    await rack.fleet.clearFault([]);
    await rack.fleet.hands();
  });

  it('becomes a manual step when the Mac waits at FileVault', async () => {
    const from = await bootSession('studio-1');
    leaveMark('studio-1', from);
    const report = await runPlan(planOf([reboot('studio-1', from)]), {
      ...runOptions(rack),
      onEvent: ({ kind }) => {
        if (kind === 'step-progress') void rack.fleet.setFault(['filevault-locked', 'studio-1']);
      },
    });
    expect([outcomes(report), codes(report)]).toEqual([['blocked'], ['ssh/locked-at-filevault']]);
    await rack.fleet.clearFault([]);
  });

  it('reports both the FileVault lock and the unlock that failed on the second try', async () => {
    const from = await bootSession('studio-1');
    leaveMark('studio-1', from);
    const problem = diagnose('unlock/refused-before', { subject: nodeSubject('studio-1'), detail: 'x' });
    let tries = 0;
    const report = await runPlan(planOf([reboot('studio-1', from)]), {
      ...runOptions(rack),
      unlock: async () => {
        tries += 1;
        return tries === 1 ? { kind: 'later' } : { kind: 'failed', isSent: false, diagnostic: problem };
      },
      onEvent: ({ kind }) => {
        if (kind === 'step-progress') void rack.fleet.setFault(['filevault-locked', 'studio-1']);
      },
    });
    expect(report.diagnostics).toMatchObject([
      { code: 'ssh/locked-at-filevault', related: [{ code: 'unlock/refused-before' }] },
    ]);
    expect(tries).toBe(2);
    await rack.fleet.clearFault([]);
  });

  it('is no longer awaited after an interrupt', async () => {
    const from = await bootSession('studio-1');
    const person = new AbortController();
    const events: RunEvent[] = [];
    const report = await runPlan(planOf([reboot('studio-1', from)]), {
      ...runOptions(rack, { signal: person.signal, timing: { ...quickTiming, rebootPausesMs: [20], abortMs: 500 } }),
      onEvent: (event) => {
        events.push(event);
        if (event.kind === 'step-progress') person.abort();
      },
    });
    expect([outcomes(report), report.isInterrupted]).toEqual([['interrupted'], true]);
  });
});

describe('a shutdown', () => {
  it('is done when the Mac stops answering', async () => {
    const from = await bootSession('studio-2');
    const report = await run([reboot('studio-2', from, 'off')]);
    expect(outcomes(report)).toEqual(['changed']);
    expect(await eventually(() => rack.fleet.power()['studio-2'] === 'down')).toBe(true);
  });

  it('is reported, not ordered again, if an earlier order had no effect', async () => {
    const from = await bootSession('studio-3');
    leaveMark('studio-3', from);
    const report = await run([reboot('studio-3', from, 'off', 3_000)]);
    expect([codes(report), orders('studio-3')]).toEqual([['reboot/still-on'], 0]);
  });
});

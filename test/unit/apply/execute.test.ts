import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ExecuteOptions, executeSteps, type RunStep, type StepResult } from '../../../src/apply/execute.ts';
import type { StepReport } from '../../../src/apply/run-report.ts';
import type { Step, StepOutcome } from '../../../src/model/step.ts';
import type { Rescue } from '../../../src/plan/plan.ts';
import { aStep, gateAct, jobAct, unknownSession } from './step-builder.ts';

interface Play {
  readonly options?: Partial<ExecuteOptions>;
  readonly rescues?: readonly Rescue[];
  /** How steps come out; `changed` for those that are not named. */
  readonly outcomes?: Readonly<Record<string, StepOutcome>>;
  /** Runs inside a step. */
  readonly inside?: (id: string, signal: AbortSignal) => Promise<void> | void;
}

interface Seen {
  /** `+id` for a begin, `-id` for an end, in their order. */
  readonly log: readonly string[];
  readonly outcomes: Readonly<Record<string, StepOutcome>>;
  readonly reports: readonly StepReport[];
  /** The most steps that ran at once. */
  readonly most: number;
  readonly groups: readonly string[];
}

const never = new AbortController().signal;

async function play(steps: readonly Step[], { options, rescues = [], outcomes, inside }: Play = {}): Promise<Seen> {
  const log: string[] = [];
  const groups: string[] = [];
  let running = 0;
  let most = 0;
  const run: RunStep = async ({ id }, { signal }): Promise<StepResult> => {
    log.push(`+${id}`);
    running += 1;
    most = Math.max(most, running);
    await (inside ? inside(id, signal) : sleep(1));
    running -= 1;
    log.push(`-${id}`);
    return { outcome: outcomes?.[id] ?? 'changed', diagnostics: [] };
  };
  const reports = await executeSteps(
    { steps, rescues },
    {
      run,
      parallel: 16,
      forbidden: never,
      halted: never,
      interruptMs: 50,
      onEnd: () => undefined,
      onRescue: (group) => void groups.push(group),
      ...options,
    },
  );
  const byId = Object.fromEntries(reports.map(({ step, outcome }) => [step.id, outcome]));
  return { log, outcomes: byId, reports, most, groups };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

describe('the order of steps', () => {
  it('is that of what they need, across nodes', async () => {
    const { log } = await play([
      aStep('c', { node: 'studio-3', needs: ['b'] }),
      aStep('b', { node: 'studio-2', needs: ['a'] }),
      aStep('a'),
    ]);
    expect(log).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
  });

  it('is that of the plan on one node, one at a time', async () => {
    const { log, most } = await play([aStep('a'), aStep('b'), aStep('c')]);
    expect([log, most]).toEqual([['+a', '-a', '+b', '-b', '+c', '-c'], 1]);
  });

  it('lets different nodes work at once, at most so many', async () => {
    const steps = ['1', '2', '3', '4'].map((at) => aStep(at, { node: `studio-${at}` }));
    expect((await play(steps)).most).toBe(4);
    expect((await play(steps, { options: { parallel: 2 } })).most).toBe(2);
  });

  it('lets a job go on beside the scripts of its node, and a gate beside everything', async () => {
    const job = aStep('job', { class: 'job', act: jobAct });
    const gate = aStep('gate', { class: 'probe', act: gateAct });
    expect((await play([job, aStep('script'), gate])).most).toBe(3);
    expect((await play([job, aStep('again', { class: 'job', act: jobAct })])).most).toBe(1);
  });

  it('lets nothing run beside a restart', async () => {
    const reboot = aStep('reboot', { class: 'once', act: { kind: 'reboot', to: 'up', from: unknownSession } });
    const { log } = await play([aStep('job', { class: 'job', act: jobAct }), reboot, aStep('script')]);
    expect(log).toEqual(['+job', '+script', '-job', '-script', '+reboot', '-reboot']);
  });

  it('is refused when steps wait for each other, or for one that is not there', async () => {
    const circle = [aStep('a', { needs: ['b'] }), aStep('b', { needs: ['a'] })];
    await expect(play(circle)).rejects.toThrow('wait for each other: a, b');
    await expect(play([aStep('a', { needs: ['z'] })])).rejects.toThrow('does not have: z');
  });
});

describe('a step that fails', () => {
  it.each(['failed', 'unknown', 'blocked', 'interrupted'] as const)(
    'with %s keeps its dependants from running, and nobody else',
    async (outcome) => {
      const steps = [
        aStep('a'),
        aStep('b', { needs: ['a'] }),
        aStep('c', { node: 'studio-2', needs: ['b'] }),
        aStep('other', { node: 'studio-2' }),
      ];
      const seen = await play(steps, { outcomes: { a: outcome } });
      expect(seen.outcomes).toEqual({ a: outcome, b: 'skipped', c: 'skipped', other: 'changed' });
      expect(seen.log.filter((one) => one.startsWith('+')).sort()).toEqual(['+a', '+other']);
    },
  );

  it('is reported in the order of the plan, and a step that never ran took no time', async () => {
    const seen = await play([aStep('a'), aStep('b', { needs: ['a'] })], { outcomes: { a: 'failed' } });
    expect(seen.reports.map(({ step, ms }) => [step.id, ms > 0])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });
});

const group = 'kimi/7';
const members = ['1', '2', '3'].map((at) => `studio-${at}`);
const rescue: Rescue = {
  group,
  steps: members.map((node, at) => aStep(`stop-${at + 1}`, { node, ...(at === 0 ? {} : { needs: [`stop-${at}`] }) })),
};
const kicks = members.map((node, at) => aStep(`kick-${at + 1}`, { node, group }));
const ready = aStep('ready', { act: gateAct, class: 'probe', group, needs: ['kick-1', 'kick-2', 'kick-3'] });

describe('a group', () => {
  it('is not rescued when all of it was done', async () => {
    const { groups } = await play([...kicks, ready], { rescues: [rescue] });
    expect(groups).toEqual([]);
  });

  it('is rescued on all members, in order, once nothing of it runs any more', async () => {
    const seen = await play([...kicks, ready], {
      rescues: [rescue],
      outcomes: { 'kick-2': 'failed', 'stop-1': 'failed' },
      inside: (id) => sleep(id === 'kick-3' ? 60 : 5).then(() => undefined),
    });
    expect(seen.groups).toEqual([group]);
    expect(seen.outcomes['ready']).toBe('skipped');
    expect(seen.log.slice(-7)).toEqual(['-kick-3', '+stop-1', '-stop-1', '+stop-2', '-stop-2', '+stop-3', '-stop-3']);
    expect(seen.reports.filter(({ rescues }) => rescues === group).map(({ outcome }) => outcome)).toEqual([
      'failed',
      'changed',
      'changed',
    ]);
  });

  it('is rescued when a step outside keeps the rest of it from running', async () => {
    const steps = [aStep('outside'), kicks[0], kicks[1], kicks[2], { ...ready, needs: [...ready.needs, 'outside'] }];
    const seen = await play(
      steps.flatMap((one) => (one ? [one as Step] : [])),
      {
        rescues: [rescue],
        outcomes: { outside: 'failed' },
        inside: (id) => sleep(id === 'outside' ? 40 : 1).then(() => undefined),
      },
    );
    expect(seen.groups).toEqual([group]);
  });

  it('needs no rescue when nothing of it was begun', async () => {
    const steps = [aStep('before'), ...kicks.map((step) => ({ ...step, needs: [aStep('before').id] }))];
    const seen = await play(steps, { rescues: [rescue], outcomes: { before: 'failed' } });
    expect([seen.groups, seen.outcomes['kick-1']]).toEqual([[], 'skipped']);
  });

  it('waits no more at a gate when another member has failed', async () => {
    const gate = aStep('gate', { act: gateAct, class: 'probe', group });
    const seen = await play([gate, kicks[0] as Step], {
      rescues: [rescue],
      outcomes: { 'kick-1': 'failed', gate: 'interrupted' },
      inside: (id, signal) => (id === 'gate' ? aborted(signal) : undefined),
    });
    expect(seen.outcomes).toMatchObject({ gate: 'interrupted', 'stop-3': 'changed' });
  });
});

describe('an interrupt', () => {
  it('begins nothing new, waits for what runs, and rescues a group in the middle of its start', async () => {
    const person = new AbortController();
    const seen = await play([...kicks, ready, aStep('later', { needs: ['ready'] })], {
      rescues: [rescue],
      options: { interrupt: person.signal },
      inside: async (id) => {
        if (id === 'kick-2') person.abort();
        await sleep(20);
      },
    });
    expect(seen.outcomes).toMatchObject({ 'kick-3': 'changed', ready: 'interrupted', later: 'interrupted' });
    expect(seen.log.slice(-6)).toEqual(['+stop-1', '-stop-1', '+stop-2', '-stop-2', '+stop-3', '-stop-3']);
  });

  it('gives a script up that does not end, and nobody knows how it ended', async () => {
    const person = new AbortController();
    const seen = await play([aStep('long'), aStep('next')], {
      options: { interrupt: person.signal },
      inside: () => {
        person.abort();
        return new Promise(() => undefined);
      },
    });
    expect(seen.outcomes).toEqual({ long: 'unknown', next: 'interrupted' });
  });

  it('before the begin runs nothing', async () => {
    const seen = await play([aStep('a')], { options: { interrupt: AbortSignal.abort() } });
    expect([seen.log, seen.outcomes]).toEqual([[], { a: 'interrupted' }]);
  });
});

describe('a run that may not go on', () => {
  it('begins nothing at all when a lease is lost, not even a rescue', async () => {
    const lost = new AbortController();
    const seen = await play([...kicks, ready], {
      rescues: [rescue],
      options: { forbidden: lost.signal },
      outcomes: { 'kick-1': 'failed' },
      inside: (id) => {
        if (id === 'kick-1') lost.abort();
      },
    });
    expect([seen.groups, seen.outcomes['ready'], seen.outcomes['stop-1']]).toEqual([[], 'skipped', undefined]);
  });

  it('still rescues when only the journal is gone', async () => {
    const gone = new AbortController();
    const seen = await play(
      [kicks[0] as Step, aStep('next', { needs: ['kick-1'], group }), aStep('other', { node: 'z', needs: ['kick-1'] })],
      {
        rescues: [rescue],
        options: { halted: gone.signal },
        inside: (id) => {
          if (id === 'kick-1') gone.abort();
        },
      },
    );
    expect(seen.outcomes).toMatchObject({ next: 'skipped', other: 'skipped', 'stop-1': 'changed' });
  });
});

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Rescue, StepReport } from '../../../src/engine/plan/plan.ts';
import type { Step } from '../../../src/model/step.ts';
import { aStep, gateAct, jobAct, unknownSession } from '../../rack/plans.ts';
import { until } from '../../until.ts';
import { aborted, play } from './play-steps.ts';

describe('executeSteps', () => {
  it('runs each step after the steps it needs, across nodes', async () => {
    const { log } = await play([
      aStep('c', { node: 'studio-3', needs: ['b'] }),
      aStep('b', { node: 'studio-2', needs: ['a'] }),
      aStep('a'),
    ]);
    expect(log).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
  });

  it("runs a node's steps one at a time, in plan order", async () => {
    const { log, most } = await play([aStep('a'), aStep('b'), aStep('c')]);
    expect([log, most]).toEqual([['+a', '-a', '+b', '-b', '+c', '-c'], 1]);
  });

  it('runs different nodes in parallel up to the limit', async () => {
    const steps = ['1', '2', '3', '4'].map((at) => aStep(at, { node: `studio-${at}` }));
    expect((await play(steps)).most).toBe(4);
    expect((await play(steps, { options: { parallel: 2 } })).most).toBe(2);
  });

  it('runs a job in parallel with scripts on its node, and a gate in parallel with everything', async () => {
    const job = aStep('job', { class: 'job', act: jobAct });
    const gate = aStep('gate', { class: 'probe', act: gateAct });
    expect((await play([job, aStep('script'), gate])).most).toBe(3);
    expect((await play([job, aStep('again', { class: 'job', act: jobAct })])).most).toBe(1);
  });

  it('runs nothing in parallel with a restart', async () => {
    const reboot = aStep('reboot', { class: 'once', act: { kind: 'reboot', to: 'up', from: unknownSession } });
    const { log } = await play([aStep('job', { class: 'job', act: jobAct }), reboot, aStep('script')]);
    expect(log).toEqual(['+job', '+script', '-job', '-script', '+reboot', '-reboot']);
  });

  it('rejects steps that need each other or a missing step', async () => {
    const circle = [aStep('a', { needs: ['b'] }), aStep('b', { needs: ['a'] })];
    await expect(play(circle)).rejects.toThrow('wait for each other: a, b');
    await expect(play([aStep('a', { needs: ['z'] })])).rejects.toThrow('missing from it: z');
  });
});

describe('a step ordered after another step', () => {
  const steps = [
    aStep('leader'),
    aStep('follower', { node: 'studio-2', after: ['leader'] }),
    aStep('gate', { node: 'studio-2', needs: ['leader', 'follower'] }),
  ];

  it.each(['changed', 'failed', 'unknown', 'blocked'] as const)(
    'begins once the other step has the outcome %s',
    async (outcome) => {
      const seen = await play(steps, { outcomes: { leader: outcome } });
      expect(seen.log.slice(0, 4)).toEqual(['+leader', '-leader', '+follower', '-follower']);
      expect(seen.outcomes).toMatchObject({ follower: 'changed', gate: outcome === 'changed' ? 'changed' : 'skipped' });
    },
  );

  it('begins if the other step is skipped, and is rejected if it does not exist', async () => {
    const skipped = [
      aStep('first'),
      ...steps.map((step) => (step.id === 'leader' ? aStep('leader', { needs: ['first'] }) : step)),
    ];
    const seen = await play(skipped, { outcomes: { first: 'failed' } });
    expect(seen.outcomes).toMatchObject({ leader: 'skipped', follower: 'changed' });
    await expect(play([aStep('a', { after: ['z'] })])).rejects.toThrow('missing from it: z');
  });
});

describe('a failed step', () => {
  it.each(['failed', 'unknown', 'blocked', 'interrupted'] as const)(
    'skips only its dependents after the outcome %s',
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

  it('is reported in plan order; a skipped step has no duration', async () => {
    const seen = await play([aStep('a'), aStep('b', { needs: ['a'] })], { outcomes: { a: 'failed' } });
    expect(seen.reports.map(({ step, ms }) => [step.id, ms > 0])).toEqual([
      ['a', true],
      ['b', false],
    ]);
  });
});

/** Collects the steps whose end was reported. */
function collectEnds() {
  const ended = new Set<string>();
  return {
    onEnd: ({ step }: StepReport) => void ended.add(step.id),
    have: (...ids: readonly string[]) => ids.every((id) => ended.has(id)),
  };
}

const group = 'kimi/7';
const members = ['1', '2', '3'].map((at) => `studio-${at}`);
const rescue: Rescue = {
  group,
  steps: members.map((node, at) => aStep(`stop-${at + 1}`, { node, ...(at === 0 ? {} : { needs: [`stop-${at}`] }) })),
};
const kicks = members.map((node, at) => aStep(`kick-${at + 1}`, { node, group }));
const ready = aStep('ready', { act: gateAct, class: 'probe', group, needs: ['kick-1', 'kick-2', 'kick-3'] });

describe('a step group', () => {
  it('is not rescued after success', async () => {
    const { groups } = await play([...kicks, ready], { rescues: [rescue] });
    expect(groups).toEqual([]);
  });

  it('is rescued on all nodes in order after its running steps end', async () => {
    const ends = collectEnds();
    const seen = await play([...kicks, ready], {
      rescues: [rescue],
      outcomes: { 'kick-2': 'failed', 'stop-1': 'failed' },
      options: { onEnd: ends.onEnd },
      inside: async (id) => {
        if (id === 'kick-3') await until(() => ends.have('kick-1', 'kick-2'));
      },
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

  it('is rescued if a failed step outside it prevents its remaining steps', async () => {
    const steps = [aStep('outside'), kicks[0], kicks[1], kicks[2], { ...ready, needs: [...ready.needs, 'outside'] }];
    const ends = collectEnds();
    const seen = await play(
      steps.flatMap((one) => (one ? [one as Step] : [])),
      {
        rescues: [rescue],
        outcomes: { outside: 'failed' },
        options: { onEnd: ends.onEnd },
        inside: async (id) => {
          if (id === 'outside') await until(() => ends.have('kick-2', 'kick-3'));
        },
      },
    );
    expect(seen.groups).toEqual([group]);
  });

  it('is not rescued if none of its steps began', async () => {
    const steps = [aStep('before'), ...kicks.map((step) => ({ ...step, needs: [aStep('before').id] }))];
    const seen = await play(steps, { rescues: [rescue], outcomes: { before: 'failed' } });
    expect([seen.groups, seen.outcomes['kick-1']]).toEqual([[], 'skipped']);
  });

  it('removes its abort listeners after its steps end', async () => {
    const forbidden = new AbortController();
    const many = Array.from({ length: 12 }, (_, at) => aStep(`kick-${at}`, { node: `studio-${at}`, group }));
    const options = { forbidden: forbidden.signal };
    await play(many, { rescues: [rescue], outcomes: { 'kick-3': 'failed' }, options });
    expect(getEventListeners(forbidden.signal, 'abort')).toEqual([]);
  });

  it('stops waiting at a gate after another step in the group fails', async () => {
    const gate = aStep('gate', { act: gateAct, class: 'probe', group });
    const seen = await play([gate, kicks[0] as Step], {
      rescues: [rescue],
      outcomes: { 'kick-1': 'failed', gate: 'interrupted' },
      inside: (id, signal) => (id === 'gate' ? aborted(signal) : undefined),
    });
    expect(seen.outcomes).toMatchObject({ gate: 'interrupted', 'stop-3': 'changed' });
  });
});

describe('an interrupted run', () => {
  it('begins no new step, waits for running steps, and rescues a starting group', async () => {
    const person = new AbortController();
    const seen = await play([...kicks, ready, aStep('later', { needs: ['ready'] })], {
      rescues: [rescue],
      options: { abort: person.signal },
      inside: async (id) => {
        if (id === 'kick-2') person.abort();
        await until(() => person.signal.aborted);
      },
    });
    expect(seen.outcomes).toMatchObject({ 'kick-3': 'changed', ready: 'interrupted', later: 'interrupted' });
    expect(seen.log.slice(-6)).toEqual(['+stop-1', '-stop-1', '+stop-2', '-stop-2', '+stop-3', '-stop-3']);
  });

  it('abandons a script that does not end, with outcome unknown', async () => {
    const person = new AbortController();
    const seen = await play([aStep('long'), aStep('next')], {
      options: { abort: person.signal, abortMs: 1 },
      inside: () => {
        person.abort();
        return new Promise(() => undefined);
      },
    });
    expect(seen.outcomes).toEqual({ long: 'unknown', next: 'interrupted' });
  });

  it('ends waiting steps while a step still runs', async () => {
    const person = new AbortController();
    const seen: string[] = [];
    await play([aStep('long'), aStep('next')], {
      options: { abort: person.signal, onEnd: ({ step, outcome }) => void seen.push(`${step.id}: ${outcome}`) },
      inside: async () => {
        person.abort();
        await until(() => seen.length > 0);
        seen.push('long still runs');
      },
    });
    expect(seen).toEqual(['next: interrupted', 'long still runs', 'long: changed']);
  });

  it('does not run any step if interrupted before the start', async () => {
    const seen = await play([aStep('a')], { options: { abort: AbortSignal.abort() } });
    expect([seen.log, seen.outcomes]).toEqual([[], { a: 'interrupted' }]);
  });
});

describe('a run that must stop', () => {
  it('does not begin any step or rescue after losing a lease', async () => {
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

  it('still rescues a group if only the journal fails', async () => {
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

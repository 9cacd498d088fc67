import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { fleetForGoal } from '../../../../src/engine/goals/registry.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet, UnlockReadiness } from '../../../../src/model/desired.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { placed } from '../../../rack/placements.ts';
import { changed, makePlan, stepIds } from '../../../rack/plans.ts';
import { observedFleet, type RackChanges, settledFleet, settledValues } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

function plan(goal: Goal, rack: RackChanges = {}, desired: DesiredFleet = settledFleet()): Plan {
  const settled = Object.entries(settledValues()).map(([name, facts]) => [name, { ...facts, ...rack.values?.[name] }]);
  const observation = observedFleet({ ...rack, values: Object.fromEntries(settled) });
  return makePlan({ goal, desired, observation, targets: four.map(nodeName) });
}

const reboot: Goal = { kind: 'reboot', nodes: ['studio-1', 'studio-3'].map(nodeName) };

describe('the converge goal', () => {
  it('plans named placements over TCP, without a backend of the file', () => {
    const chat = placed('chat', four, { transport: 'rdma' });
    const code = placed('code', four, { transport: 'rdma' });
    const desired = settledFleet({ placements: [{ ...chat, backend: 'jaccl' }, code] });
    const goal: Goal = { kind: 'converge', overTcp: ['chat'] };
    const { placements } = fleetForGoal(goal, desired, { nodes: {}, failures: {} });
    expect(placements).toEqual([{ ...chat, transport: 'tcp' }, code]);
  });
});

describe('the reboot goal', () => {
  it('restarts each Mac once, from its observed boot session', () => {
    const made = plan(reboot);
    expect(changed(made)).toEqual(['studio-1 boot-session', 'studio-3 boot-session']);
    expect(made.steps.map(({ id, class: kind, act }) => ({ id, kind, act }))).toEqual([
      {
        id: 'studio-1/reboot',
        kind: 'once',
        act: { kind: 'reboot', to: 'up', from: { kind: 'known', value: 'BOOT-studio-1' } },
      },
      {
        id: 'studio-3/reboot',
        kind: 'once',
        act: { kind: 'reboot', to: 'up', from: { kind: 'known', value: 'BOOT-studio-3' } },
      },
    ]);
    expect(made.effects).toEqual([{ kind: 'reboot', nodes: ['studio-1', 'studio-3'], placements: [] }]);
  });

  it('changes nothing else, whatever else differs', () => {
    const made = plan(reboot, {
      values: { 'studio-1': { 'wired-limit': { megabytes: 0 }, 'rdma-state': 'disabled' } },
    });
    expect(stepIds(made)).toEqual(['studio-1/reboot', 'studio-3/reboot']);
    expect(made.blockers).toEqual([]);
  });

  it('waits for a Mac whose boot session is unknown', () => {
    const made = plan(reboot, { unknown: { 'studio-3': { 'boot-session': 'timed-out' } } });
    expect(stepIds(made)).toEqual(['studio-1/reboot']);
    expect(made.blockers).toMatchObject([
      { code: 'reboot/session-unknown', node: 'studio-3', blocks: ['studio-3 boot-session'] },
    ]);
    expect(made.waiting).toMatchObject([{ resource: 'boot-session', node: 'studio-3', isUnknown: true }]);
  });

  it('waits if sudo is denied', () => {
    const made = plan(reboot, { values: { 'studio-1': { sudo: 'denied' } } });
    expect(stepIds(made)).toEqual(['studio-3/reboot']);
    expect(made.blockers.map(({ code, blocks }) => `${code}: ${blocks.join()}`)).toEqual([
      'sudo/denied: studio-1 boot-session',
    ]);
  });

  const locking = { values: { 'studio-1': { filevault: 'on' as const }, 'studio-2': { filevault: 'on' as const } } };
  const unlocking = (readiness: UnlockReadiness): DesiredFleet => ({
    ...settledFleet(),
    unlocks: { 'studio-1': readiness },
  });

  it('needs its own consent for Macs that will wait at FileVault, unlike a shutdown', () => {
    const effects = (made: Plan): readonly string[] => made.effects.map(({ kind, nodes }) => `${kind} ${nodes.join()}`);
    expect(effects(plan(reboot, locking))).toEqual(['reboot studio-3', 'locked-reboot studio-1']);
    const converting = { values: { 'studio-1': { filevault: 'converting' as const } } };
    expect(effects(plan(reboot, converting))).toEqual(['reboot studio-3', 'locked-reboot studio-1']);
    expect(effects(plan(reboot, { unknown: { 'studio-1': { filevault: 'timed-out' } } }))).toEqual([
      'reboot studio-1,studio-3',
    ]);
    const off = plan({ ...reboot, kind: 'shutdown' }, locking);
    expect([effects(off), off.diagnostics]).toEqual([['shutdown studio-1,studio-3'], []]);
    expect(effects(plan(reboot, locking, unlocking('ready')))).toEqual(['reboot studio-1,studio-3']);
  });

  it('authorizes the restart of a Mac with FileVault first, if the run has its password', () => {
    for (const readiness of ['ready', 'no-key', 'this-computer'] as const) {
      const made = plan(reboot, locking, unlocking(readiness));
      expect(made.effects.map(({ kind }) => kind)).toEqual(['reboot']);
      expect(made.steps.map(({ id, needs, act }) => ({ id, needs, args: 'args' in act ? act.args : null }))).toEqual([
        {
          id: 'studio-1/authorize-restart',
          needs: [],
          args: readiness === 'ready' ? { unlocksLater: true } : {},
        },
        { id: 'studio-1/reboot', needs: ['studio-1/authorize-restart'], args: null },
        { id: 'studio-3/reboot', needs: [], args: null },
      ]);
    }
  });

  it.each([
    ['on', 'ready', 'notice', 'Nothing to do.'],
    ['on', 'no-key', 'notice', 'Nothing to do.'],
    ['on', 'this-computer', 'notice', 'Nothing to do.'],
    ['on', 'no-source', 'warning', 'ssh: { password: { env: MESH_PASSWORD } }'],
    ['on', 'no-password', 'warning', 'meshwright secrets'],
    ['on', 'refused', 'warning', 'It refused the last password.'],
    ['converting', 'ready', 'notice', 'Nothing to do.'],
    ['converting', 'no-key', 'warning', 'meshwright unlock studio-1 pins it'],
    ['converting', 'this-computer', 'warning', 'This computer cannot unlock itself'],
  ] as const)('says what a Mac with FileVault %s lacks if its unlock is %s', (filevault, readiness, severity, hint) => {
    const rack = { values: { 'studio-1': { filevault } } };
    const [found, ...more] = plan(reboot, rack, unlocking(readiness)).diagnostics;
    expect([found?.code, found?.severity, more]).toEqual(['reboot/ends-at-filevault', severity, []]);
    expect(plainText(found?.hint ?? '')).toContain(hint);
  });

  it('switches Macs off if its kind is shutdown', () => {
    const made = plan({ kind: 'shutdown', nodes: [nodeName('studio-2')] });
    expect(made.steps).toMatchObject([{ id: 'studio-2/shutdown', act: { to: 'off' }, effect: { kind: 'shutdown' } }]);
  });
});

describe('the converge goal', () => {
  it('changes only the selected kinds, and checks the requirements of every change', () => {
    const values = {
      'studio-1': { 'wired-limit': { megabytes: 0 }, 'rdma-state': 'disabled' as const },
      'studio-2': { 'wired-limit': { megabytes: 0 }, sudo: 'denied' as const },
    };
    const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
    const made = plan({ kind: 'converge', only: ['wired-limit'] }, { values: { ...values, 'studio-3': { power } } });
    expect(stepIds(made)).toEqual(['studio-1/wired-limit/set']);
    expect(made.blockers.map(({ code }) => code)).toEqual(['sudo/denied']);
  });

  it('adds a manual step to enter the FileVault password of a locked Mac', () => {
    const locked = diagnose('ssh/locked-at-filevault', {
      detail: 'It waits for a password.',
      subject: nodeSubject('studio-4'),
    });
    const made = plan({ kind: 'converge' }, { unreachable: ['studio-4'], failures: { 'studio-4': [locked] } });
    expect(made.blockers).toMatchObject([{ code: 'ssh/locked-at-filevault', node: 'studio-4', isHands: true }]);
    expect(stepIds(made)).toEqual(['studio-4/hands/ssh-locked-at-filevault']);
    expect(made.diagnostics.map(({ code }) => code)).not.toContain('ssh/locked-at-filevault');
  });

  it('reports why a node could not be observed', () => {
    const lost = diagnose('ssh/unreachable', { detail: 'Nobody answered.' });
    const made = plan({ kind: 'converge' }, { unreachable: ['studio-4'], failures: { 'studio-4': [lost] } });
    expect(made.diagnostics).toMatchObject([{ code: 'ssh/unreachable', subject: nodeSubject('studio-4') }]);
    expect(Object.keys(made.observed)).toEqual(['studio-1', 'studio-2', 'studio-3']);
  });
});

onOnePage('goals');

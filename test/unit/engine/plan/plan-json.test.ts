import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { planJson } from '../../../../src/engine/plan/plan-json.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { exoFleet, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan, planFor } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

const check = schemaCheck('plan');

const lost = diagnose('ssh/unreachable', { detail: 'Nobody answered.', subject: nodeSubject('studio-4') });
const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
const fleet = meshFleet();
const targets = fleet.nodes.map(({ name }) => name);

/** Plans that together contain every kind of act, effect and waiting resource. */
const plans: Readonly<Record<string, Plan>> = {
  'no change': planFor({}),
  'a change, a blocker, an unknown fact and an unreachable node': planFor({
    rack: {
      values: { 'studio-1': { power }, 'studio-3': { 'rdma-state': 'disabled' } },
      unknown: { 'studio-2': { power: 'timed-out' } },
      unreachable: ['studio-4'],
      failures: { 'studio-4': [lost] },
    },
  }),
  "a placement's first start": makePlan({
    goal: { kind: 'converge' },
    desired: fleet,
    observation: observeMesh(fleet, { ranks: {} }),
    targets,
  }),
  "an exo placement's first start": makePlan({
    goal: { kind: 'converge' },
    desired: exoFleet(),
    observation: observeMesh(exoFleet(), { ranks: {} }),
    targets,
  }),
  'stopping a placement': makePlan({
    goal: { kind: 'stop', placements: ['kimi'] },
    desired: fleet,
    observation: observeMesh(fleet, { ranks: threeRanks(['joined', 'joined', 'exited']) }),
    targets,
  }),
  'stopping an exo placement': makePlan({
    goal: { kind: 'stop', placements: ['kimi'] },
    desired: exoFleet(),
    observation: observeMesh(exoFleet(), { ranks: threeRanks(['joined', 'joined', 'joined']) }),
    targets,
  }),
  'restarting Macs': planFor({ goal: { kind: 'reboot', nodes: [nodeName('studio-1')] } }),
  'an update of macOS that is left': makePlan({
    goal: { kind: 'converge' },
    desired: { ...fleet, macos: { ...fleet.macos, version: '27.9', updateDriver: 'softwareupdate' } },
    observation: observeMesh(fleet, { ranks: threeRanks(['joined', 'joined', 'joined']) }),
    targets,
  }),
  'shutting down Macs': planFor({ goal: { kind: 'shutdown', nodes: [nodeName('studio-1')] } }),
};

const reader = { isSimulated: false };

describe('a plan as JSON', () => {
  it.each(Object.keys(plans))('matches the schema for %s', (name) => {
    const plan = plans[name];
    expect(plan === undefined ? ['no such plan'] : check(planJson(plan, reader))).toEqual([]);
  });

  it('has its fields in reading order', () => {
    expect(Object.keys(planJson(planFor({}), reader) ?? {}).join(' ')).toBe(
      'formatVersion cluster configHash observed changes steps rescues waiting blockers effects diagnostics',
    );
  });

  it('has addresses only as text in every step', () => {
    const texts = Object.values(plans).map((plan) => JSON.stringify(planJson(plan, reader)));
    expect(texts.join('')).toContain('"expect":[{"node":"studio-1","address":"');
    expect(texts.filter((text) => text.includes('"about"'))).toEqual([]);
  });

  it('keeps every field of a step, including facts known only after it', () => {
    const plan = planFor({ goal: { kind: 'reboot', nodes: [nodeName('studio-1')] } });
    expect(planJson(plan, reader)).toMatchObject({
      steps: [
        {
          id: 'studio-1/reboot',
          node: 'studio-1',
          resource: 'boot-session',
          class: 'once',
          act: { kind: 'reboot', to: 'up', from: { kind: 'known', value: 'BOOT-studio-1' } },
          effect: { kind: 'reboot' },
          change: 'studio-1 boot-session',
          needs: [],
          peers: [],
          establishes: [],
          knownAfter: ['boot-session'],
        },
      ],
    });
  });

  it('covers every act and effect in its schema with these plans', () => {
    const steps = Object.values(plans).flatMap((plan) => plan.steps);
    const acts = [...new Set(steps.map(({ act }) => act.kind))].sort();
    expect(acts.join(' ')).toBe('ask dialogue gate hands job prove put reboot script send transaction');
    expect([...new Set(steps.map(({ effect }) => effect.kind))].sort()).toEqual(
      expect.arrayContaining(['interrupt', 'network', 'none', 'reboot', 'shutdown', 'start']),
    );
  });
});

onOnePage('plan-json');

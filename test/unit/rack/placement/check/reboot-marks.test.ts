import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../../src/diagnostics/prose-text.ts';
import type { RebootMark } from '../../../../../src/model/facts/node-records.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { settledFacts } from '../../../../rack/rack.ts';
import { onOnePage } from '../../../one-page.ts';

const memory: RebootMark = { placement: 'other', why: 'memory', wiredBytes: 80 * 2 ** 30, baselineBytes: 11 * 2 ** 30 };
const four = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

function planWith(
  marks: Readonly<Record<string, RebootMark>>,
  state: 'exited' | 'joined',
  wanted = 'serving' as const,
) {
  const values = four.map((name) => {
    const { placements: _, services: __, ...facts } = settledFacts(name);
    return [name, { ...facts, 'reboot-mark': marks[name] === undefined ? [] : [marks[name]] }];
  });
  const fleet = meshFleet({ placement: { state: wanted } });
  const ranks = threeRanks([state, state, state]);
  return makePlan({
    goal: { kind: 'converge' },
    desired: fleet,
    observation: observeMesh(fleet, { ranks, values: Object.fromEntries(values) }),
    targets: four.map(nodeName),
  });
}

const blockersOf = (plan: ReturnType<typeof planWith>) =>
  plan.blockers
    .filter(({ code }) => code === 'mesh/reboot-mark')
    .map(({ node, action, peers }) => [node, plainText(action), peers.join(' ')]);

describe('a reboot mark left by a stop', () => {
  it('blocks starts and names each Mac to reboot, with the reason', () => {
    const marks = { 'studio-2': memory, 'studio-3': { placement: 'other', why: 'kernel' } as const };
    const plan = planWith(marks, 'exited');
    expect(blockersOf(plan)).toEqual([
      [
        'studio-2',
        '80.0 GiB of memory remained wired (11.0 GiB before any rank ran): meshwright reboot studio-2',
        'studio-1 studio-3',
      ],
      ['studio-3', 'a process survived SIGKILL: meshwright reboot studio-3', 'studio-1 studio-2'],
    ]);
    expect(plan.steps.filter(({ act }) => act.kind === 'script' && act.name === 'kick-rank')).toEqual([]);
  });

  it('blocks neither serving placements nor starts on other nodes', () => {
    expect(blockersOf(planWith({ 'studio-2': memory }, 'joined'))).toEqual([]);
    expect(blockersOf(planWith({ 'studio-4': memory }, 'exited'))).toEqual([]);
  });
});

onOnePage('reboot-marks');

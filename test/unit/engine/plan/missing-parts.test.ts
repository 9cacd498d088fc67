import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { settledFacts } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

describe("a placement's missing parts in a restart", () => {
  it('are named together in one blocker per node', () => {
    const desired = meshFleet();
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const values = names.map((name) => {
      const { placements: _, services: __, ...facts } = settledFacts(name);
      return [name, { ...facts, trees: [] }];
    });
    const ranks = threeRanks(['joined', 'running', 'running'], { token: { kind: 'answered', text: 'Hi' } });
    const made = makePlan({
      goal: { kind: 'stop', placements: ['kimi'], back: ['kimi'] },
      desired,
      observation: observeMesh(desired, { ranks, values: Object.fromEntries(values) }),
      targets: names.map(nodeName),
    });
    const action = 'Make runtime/reference, model/tiny match the file first: meshwright apply';
    const kimi = 'studio-1 placement/kimi';
    expect(made.blockers.map((one) => [one.code, one.node, plainText(one.action), one.blocks])).toEqual(
      ['studio-1', 'studio-2', 'studio-3'].map((node) => ['plan/not-converged', node, action, [kimi]]),
    );
    expect(
      made.waiting
        .filter(({ resource }) => resource === 'placement/kimi')
        .flatMap((one) => one.for.map(({ text }) => text)),
    ).toEqual(['plan/not-converged on studio-1', 'plan/not-converged on studio-2', 'plan/not-converged on studio-3']);
  });
});

onOnePage('missing-parts');

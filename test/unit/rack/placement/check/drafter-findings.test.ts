import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { placementFindings } from '../../../../../src/rack/placement/check/placement-findings.ts';
import { surveyPlacements } from '../../../../../src/rack/placement/check/placement-survey.ts';
import { fileAt, llamaFleet, observeMesh, type RankCase } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';

const [leader] = llamaFleet().placements[0]?.nodes ?? [];
const fleet = llamaFleet({
  placement: { nodes: [leader ?? nodeName('studio-1')] },
  drafterFiles: [fileAt('small.gguf')],
});
const line = '0.00.017.042 E spec common_specu: the target and draft vocabs are not compatible';

function found(rank: Partial<RankCase>, desired = fleet) {
  const targets = [nodeName('studio-1')];
  const observation = observeMesh(desired, { ranks: { 'studio-1': [{ state: 'joined', rank: 0, ...rank }] } });
  const view = viewOf({ desired, observation, targets });
  const inPlan = makePlan({ goal: { kind: 'converge' }, desired, observation, targets }).diagnostics;
  return [placementFindings(view, surveyPlacements(view)), inPlan].map((all) =>
    all.filter(({ code }) => code === 'llama/drafter-not-used').map(({ severity, detail }) => [severity, detail]),
  );
}

describe('a drafter that the runtime refused', () => {
  it('causes a warning in status and plan while its placement serves', () => {
    const warning = ['warning', 'kimi on studio-1 answers without small: its tokens differ from those of tiny.'];
    expect(found({ said: [line] })).toEqual([[warning], [warning]]);
  });

  it('is not reported if the log does not show the refusal, or if the placement does not run', () => {
    expect(found({})).toEqual([[], []]);
    expect(found({ said: [line], state: 'stopped' })).toEqual([[], []]);
  });
});

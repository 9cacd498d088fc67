import { describe, expect, it } from 'vitest';
import { mayRunAnywhere, wantedRanks } from '../../../../src/cli/ranks/logs.ts';
import { withFallbacks } from '../../../../src/desired/layouts.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { fleetWithFallback, kimi, nodes } from '../../../rack/plans.ts';

const namesOf = (words: readonly string[], of = fleetWithFallback()) =>
  wantedRanks(words, of).map(({ placement, nodes }) => [placement, nodes.map(({ name }) => name)]);

describe('the ranks selected by arguments', () => {
  it('are all ranks of a placement, or those on a node', () => {
    expect(namesOf(['kimi'])).toEqual([['kimi', ['studio-1', 'studio-2', 'studio-3']]]);
    expect(namesOf(['studio-2'])).toEqual([['kimi', ['studio-2']]]);
  });

  it('may be on a node that only the fallback uses, even before an observation', () => {
    expect(namesOf(['studio-4'], mayRunAnywhere(fleetWithFallback()))).toEqual([['kimi', ['studio-4']]]);
    expect(() => namesOf(['studio-4'], meshFleet())).toThrow(FleetError);
  });

  it('are those of every placement if there are no arguments', () => {
    const one = meshFleet();
    const two = { ...one, placements: [...one.placements, { ...kimi(one), name: 'other', nodes: nodes(4) }] };
    expect(namesOf([], two)).toEqual([
      ['kimi', ['studio-1', 'studio-2', 'studio-3']],
      ['other', ['studio-4']],
    ]);
    expect(() => namesOf([], { ...one, placements: [] })).toThrow(FleetError);
  });

  it('are marked as elsewhere on a node that only the other layout uses', () => {
    const elsewhereOf = (words: readonly string[], of: DesiredFleet) =>
      wantedRanks(words, of).map(({ placement, elsewhere }) => [placement, elsewhere]);
    const there = withFallbacks(fleetWithFallback(), () => true);
    expect(elsewhereOf(['studio-4'], fleetWithFallback())).toEqual([['kimi', ['studio-4']]]);
    expect(elsewhereOf(['studio-2', 'studio-4'], there)).toEqual([['kimi', ['studio-2']]]);
    expect(elsewhereOf(['studio-1'], there)).toEqual([['kimi', []]]);
    const other = { ...kimi(fleetWithFallback()), name: 'other', nodes: nodes(4) };
    const both = { ...fleetWithFallback(), placements: [kimi(fleetWithFallback()), other] };
    expect(elsewhereOf(['studio-4'], both)).toEqual([['other', []]]);
  });
});

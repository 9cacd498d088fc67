import { describe, expect, it } from 'vitest';
import { joinedNodes } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import { examine } from '../../../../src/rack/examination.ts';
import { desiredFleet, end, meshOfFour, observedFleet, receptacles } from '../../../rack/rack.ts';

describe('nodes joined by a pulled cable', () => {
  it('include both ends, even if only one end sees the cable', () => {
    const blind = receptacles('studio-2', 6, meshOfFour).map((one) => ({ ...one, peers: [] }));
    const { cabling } = examine(desiredFleet(), observedFleet({ values: { 'studio-2': { thunderbolt: blind } } }));
    expect(joinedNodes(cabling, [end('studio-1:2')])).toEqual([['studio-1', 'studio-2']]);
    expect(joinedNodes(cabling, [end('studio-2:2')])).toEqual([['studio-1', 'studio-2']]);
    expect(joinedNodes(cabling, [end('studio-2:5')])).toEqual([]);
  });
});

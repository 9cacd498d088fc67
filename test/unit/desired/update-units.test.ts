import { describe, expect, it } from 'vitest';
import { cableGroups, updateUnits } from '../../../src/desired/update-units.ts';
import type { DesiredPlacement } from '../../../src/model/desired.ts';
import { placed } from '../../rack/placements.ts';
import { desiredFleet, links } from '../../rack/rack.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const fleet = (cables: readonly string[], placements: readonly DesiredPlacement[] = []) =>
  desiredFleet({ names, thunderbolt: { ...desiredFleet().thunderbolt, links: links(cables) }, placements });
const unitsOf = (...about: Parameters<typeof fleet>): readonly string[] =>
  updateUnits(fleet(...about)).map(({ nodes, placements }) =>
    [nodes.join('+'), ...placements.map(({ name }) => name)].join(' '),
  );

describe('the units of an update', () => {
  it('are single Macs if nothing connects them', () => {
    expect(unitsOf([])).toEqual(names);
  });

  it('contain all Macs that are cabled, directly or through others', () => {
    expect(unitsOf(['a:1 <-> b:1', 'c:1 <-> d:1', 'd:2 <-> b:2'])).toEqual(['a+b+c+d', 'e', 'f']);
    expect(cableGroups(fleet(['e:1 <-> f:1', 'f:2 <-> a:2'])).map((group) => group.join('+'))).toEqual([
      'a+e+f',
      'b',
      'c',
      'd',
    ]);
  });

  it('contain all Macs of placements that share a Mac, also of a fallback', () => {
    const shared = [placed('chat', ['a', 'b']), placed('code', ['b', 'c'])];
    expect(unitsOf([], shared)[0]).toBe('a+b+c chat code');
    const [moved] = [placed('chat', ['a'])].map((one) => ({
      ...one,
      fallback: { nodes: placed('chat', ['f']).nodes, contextTokens: 1 },
    }));
    expect(unitsOf([], moved === undefined ? [] : [moved])[0]).toBe('a+f chat');
  });

  it('begin with one that serves, because only it can prove the version with a token', () => {
    const stopped = placed('idle', ['b'], { state: 'stopped' });
    expect(unitsOf([], [stopped, placed('chat', ['e'])])).toEqual(['e chat', 'a', 'b idle', 'c', 'd', 'f']);
  });
});

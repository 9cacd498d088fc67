import { describe, expect, it } from 'vitest';
import { fitMesh } from '../../../src/desired/fit-macs.ts';
import { type FitShape, isFullMesh } from '../../../src/model/fit.ts';
import { macModel, macModelIds } from '../../../src/model/macs.ts';
import { linkEndText } from '../../../src/model/node.ts';

const macs = (count: number, model: string) => ({ model, count });

const linkTexts = ({ links }: FitShape): readonly string[] => links.map((ends) => ends.map(linkEndText).join(' <-> '));

/** Each Mac of a shape with its used receptacles, in order. */
function takenOf({ links }: FitShape): ReadonlyMap<string, readonly number[]> {
  const taken = new Map<string, number[]>();
  for (const { node, receptacle } of links.flat()) taken.set(node, [...(taken.get(node) ?? []), receptacle].sort());
  return taken;
}

describe('fitMesh', () => {
  it('cables four Studios in a full mesh', () => {
    const { mesh } = fitMesh([macs(4, 'Mac15,14')]);
    expect(mesh && linkTexts(mesh)).toEqual([
      'studio-1:2 <-> studio-2:2',
      'studio-1:3 <-> studio-3:2',
      'studio-1:4 <-> studio-4:2',
      'studio-2:3 <-> studio-3:3',
      'studio-2:4 <-> studio-4:3',
      'studio-3:4 <-> studio-4:4',
    ]);
  });

  it.each([
    ['Mac15,14', 6, 7],
    ['Mac16,9', 4, 5],
    ['Mac16,11', 4, 4],
    ['Mac17,7', 4, 4],
  ])('allows, for %s, at most %i Macs without doubtful receptacles, and %i with them', (model, careful, all) => {
    const fit = fitMesh([macs(9, model)]);
    expect([fit.carefulSize, fit.mesh?.size, isFullMesh(fit)]).toEqual([careful, all, false]);
  });

  it('uses a doubtful receptacle only if the Macs have no other', () => {
    expect(fitMesh([macs(6, 'Mac15,14')]).mesh?.doubtfulModels).toEqual([]);
    const seven = fitMesh([macs(7, 'Mac15,14')]);
    expect([isFullMesh(seven), seven.mesh?.doubtfulModels]).toEqual([true, ['Mac15,14']]);
  });

  it('omits Macs with too few receptacles', () => {
    const fit = fitMesh([macs(2, 'Mac16,11'), macs(3, 'Mac15,14')]);
    expect(fit).toMatchObject({ asked: 5, carefulSize: 4, mesh: { size: 4, receptaclesEach: 3 } });
    expect(fit.mesh?.macs).toEqual([macs(1, 'Mac16,11'), macs(3, 'Mac15,14')]);
  });

  it('prefers Macs without doubtful receptacles', () => {
    const fit = fitMesh([macs(5, 'Mac16,9'), macs(4, 'Mac15,14')]);
    expect(fit.mesh?.macs).toEqual([macs(1, 'Mac16,9'), macs(4, 'Mac15,14')]);
    expect([fit.carefulSize, fit.mesh?.doubtfulModels]).toEqual([4, ['Mac16,9']]);
  });

  it('never uses a Mac with Thunderbolt 4', () => {
    expect(fitMesh([macs(2, 'Mac16,10')])).toMatchObject({ asked: 2, carefulSize: 0 });
    expect(fitMesh([macs(2, 'Mac16,10')]).mesh).toBeUndefined();
    expect(fitMesh([macs(1, 'Mac15,14'), macs(1, 'Mac16,10')]).mesh).toBeUndefined();
    const fit = fitMesh([macs(2, 'Mac16,10'), macs(3, 'Mac16,11')]);
    expect([fit.mesh?.macs, fit.ring?.macs]).toEqual([[macs(3, 'Mac16,11')], [macs(3, 'Mac16,11')]]);
  });

  it('merges a model that is named twice', () => {
    expect(fitMesh([macs(2, 'Mac15,14'), macs(1, 'Mac15,14')]).models).toMatchObject([{ count: 3 }]);
  });

  it('numbers Macs by product, across models', () => {
    const { ring } = fitMesh([macs(1, 'Mac15,14'), macs(1, 'Mac16,9'), macs(1, 'Mac16,11'), macs(1, 'Mac17,6')]);
    expect([...(ring ? takenOf(ring).keys() : [])]).toEqual(['studio-1', 'studio-2', 'mini-1', 'macbook-1']);
  });
});

describe('every fitted shape', () => {
  const models = macModelIds.filter((id) => macModel(id)?.thunderbolt === 5);
  const cases = models.flatMap((a) => models.map((b) => [a, b] as const));

  it.each(cases)('uses each pair and each receptacle once for %s and %s', (a, b) => {
    for (const [first, second] of [
      [1, 1],
      [2, 3],
      [4, 2],
      [7, 7],
    ] as const) {
      const { mesh, ring } = fitMesh([macs(first, a), macs(second, b)]);
      for (const shape of [mesh, ring]) {
        if (shape === undefined) continue;
        const pairs = shape.links.map(([x, y]) => [x.node, y.node].sort().join(' '));
        expect(new Set(pairs).size).toBe(pairs.length);
        const taken = takenOf(shape);
        expect(taken.size).toBe(shape.size);
        for (const receptacles of taken.values()) {
          expect(receptacles).toHaveLength(shape.receptaclesEach);
          expect(new Set(receptacles).size).toBe(receptacles.length);
          expect(receptacles.every((one) => one >= 1 && one <= 6)).toBe(true);
        }
      }
      expect(mesh?.links).toHaveLength(((mesh?.size ?? 0) * ((mesh?.size ?? 0) - 1)) / 2);
      expect(ring?.links.length ?? first + second).toBe(first + second);
    }
  });

  it('does not use a receptacle that a model lacks', () => {
    const { mesh } = fitMesh([macs(4, 'Mac16,11')]);
    expect([...(mesh ? takenOf(mesh).values() : [])]).toEqual(Array.from({ length: 4 }, () => [1, 2, 3]));
  });
});

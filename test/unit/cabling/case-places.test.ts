import { describe, expect, it } from 'vitest';
import { caseFaces, casePlaces, facesWords, placeWords } from '../../../src/cabling/case-places.ts';
import { macModel, macModelIds } from '../../../src/desired/mac-models.ts';

describe('places on the case', () => {
  it.each(macModelIds)('counts as many Thunderbolt sockets on %s as it has receptacles', (id) => {
    const sockets = (caseFaces(id) ?? []).reduce((sum, face) => sum + face.sockets, 0);
    expect(sockets).toBe(macModel(id)?.receptacles);
  });

  it.each(macModelIds)('puts every receptacle of %s that it places on a face with room for it', (id) => {
    const faces = caseFaces(id) ?? [];
    const places = casePlaces(id) ?? [];
    for (const { receptacle, side, column, source } of places) {
      const face = faces.find((one) => one.side === side);
      expect(receptacle).toBeGreaterThan(0);
      expect(receptacle).toBeLessThanOrEqual(macModel(id)?.receptacles ?? 0);
      expect(column ?? 1).toBeLessThanOrEqual(face?.sockets ?? 0);
      expect(places.filter((one) => one.side === side).length).toBeLessThanOrEqual(face?.sockets ?? 0);
      expect(source).not.toBe('');
    }
    expect(new Set(places.map((place) => place.receptacle)).size).toBe(places.length);
  });

  it('says where a receptacle is only when somebody saw it or it can be nowhere else', () => {
    expect(placeWords('Mac15,14', 1)).toBe('back, next to Ethernet');
    expect(placeWords('Mac15,14', 2)).toBeUndefined();
    expect(placeWords('Mac16,11', 3)).toBe('back');
    expect(placeWords('Mac17,7', 1)).toBeUndefined();
  });

  it('knows nothing of a model that nobody described', () => {
    expect(caseFaces('Mac99,1')).toBeUndefined();
    expect(casePlaces('Mac99,1')).toBeUndefined();
    expect(placeWords('Mac99,1', 1)).toBeUndefined();
    expect(placeWords(undefined, 1)).toBeUndefined();
  });

  it('says the faces in words', () => {
    expect(facesWords(caseFaces('Mac15,14') ?? [])).toBe('4 on the back, 2 on the front');
  });
});

import { describe, expect, it } from 'vitest';
import { macModel, macModelIds } from '../../../../src/model/macs.ts';
import { caseFaces, casePlaces, facesWords, placeWords } from '../../../../src/rack/cabling/receptacle-view.ts';

describe('receptacle places on the case', () => {
  it.each(macModelIds)('match the Thunderbolt receptacle count of %s', (id) => {
    const faces = caseFaces(id);
    // The tower and the rack version of the Mac Pro differ.
    if (id === 'Mac14,8') expect(faces).toBeUndefined();
    else expect(faces?.reduce((sum, face) => sum + face.sockets, 0)).toBe(macModel(id)?.receptacles);
  });

  it.each(macModelIds)('put every placed receptacle of %s on a face with room for it', (id) => {
    const faces = caseFaces(id) ?? [];
    const places = casePlaces(id) ?? [];
    for (const { receptacle, side, column } of places) {
      const face = faces.find((one) => one.side === side);
      expect(receptacle).toBeGreaterThan(0);
      expect(receptacle).toBeLessThanOrEqual(macModel(id)?.receptacles ?? 0);
      expect(column ?? 1).toBeLessThanOrEqual(face?.sockets ?? 0);
      expect(places.filter((one) => one.side === side).length).toBeLessThanOrEqual(face?.sockets ?? 0);
    }
    expect(new Set(places.map((place) => place.receptacle)).size).toBe(places.length);
  });

  it('are known only if read from a Mac or if there is only one possibility', () => {
    expect(placeWords('Mac15,14', 1)).toBe('back, next to Ethernet');
    expect(placeWords('Mac15,14', 3)).toBe('back, 3rd from Ethernet');
    expect(placeWords('Mac15,14', 6)).toBe('front, left');
    expect(placeWords('Mac17,15', 1)).toBe('back, next to Ethernet');
    // The numbers of the two front receptacles of an M5 Ultra are not published.
    for (const receptacle of [2, 3, 4, 5, 6]) expect(placeWords('Mac17,15', receptacle)).toBeUndefined();
    expect(placeWords('Mac17,14', 4)).toBe('back');
    expect(placeWords('Mac16,11', 3)).toBe('back');
    expect(placeWords('Mac17,7', 1)).toBeUndefined();
  });

  it('are unknown for a model that is not in the table', () => {
    expect(caseFaces('Mac99,1')).toBeUndefined();
    expect(casePlaces('Mac99,1')).toBeUndefined();
    expect(placeWords('Mac99,1', 1)).toBeUndefined();
    expect(placeWords(undefined, 1)).toBeUndefined();
  });

  it('describe the faces in words', () => {
    expect(facesWords(caseFaces('Mac15,14') ?? [])).toBe('4 on the back, 2 on the front');
  });
});

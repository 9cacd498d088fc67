import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import type { CasePlace } from '../../../../src/model/macs.ts';
import { placeAt as placeAtItself } from '../../../../src/rack/cables/receptacle-place-reading.ts';
import { examine } from '../../../../src/rack/examination.ts';
import { desiredFleet, end, observedFleet } from '../../../rack/rack.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const placeAt = onPage(placeAtItself);

/** The place of a receptacle on a Mac of this model that reports this location. */
function placeOn(model: string, receptacle: number, location?: string): CasePlace | undefined {
  const values: Partial<FactValues> = {
    hardware: { model, chip: 'Apple M5', memoryBytes: 2 ** 37 },
    'receptacle-places': location === undefined ? [] : [{ receptacle, location }],
  };
  const observation = observedFleet({ values: { 'studio-1': values } });
  return placeAt(examine(desiredFleet(), observation), end(`studio-1:${receptacle}`));
}

describe("a receptacle's place", () => {
  it.each([
    ['back-right-middle', 'back', 'back, right middle'],
    ['front-left', 'front', 'front, left'],
    ['right', 'right', 'right'],
    ['left-back', 'left', 'left, back'],
  ])('is read from %s as reported by a Mac that is not in the table', (location, side, words) => {
    expect(placeOn('Mac99,1', 2, location)).toEqual({ receptacle: 2, side, words });
  });

  it("is known for an M5 Ultra's front only if the Mac reports it", () => {
    expect(placeOn('Mac17,15', 6)).toBeUndefined();
    expect(placeOn('Mac17,15', 6, 'front-left')).toMatchObject({ side: 'front', words: 'front, left' });
  });

  it("has the table's column and landmark when the Mac's report agrees", () => {
    const table = { receptacle: 2, side: 'back', column: 3, words: 'back, 2nd from Ethernet' };
    expect(placeOn('Mac15,14', 2, 'back-right-middle')).toEqual(table);
    expect(placeOn('Mac15,14', 2, 'back')).toEqual(table);
  });

  it("comes from the Mac's own report if the table knows only the side", () => {
    expect(placeOn('Mac17,14', 3)).toMatchObject({ words: 'back' });
    expect(placeOn('Mac17,14', 3, 'back-left-middle')).toMatchObject({ words: 'back, left middle' });
  });

  it.each([
    ['a different side', 2, 'front-right', 'front, right', 2],
    ['a different position', 2, 'back-left-middle', 'back, left middle', 2],
    ['the position next to it', 1, 'back-right-middle', 'back, right middle', 3],
  ])('ignores the table when the Mac reports %s', (_, receptacle, location, words, column) => {
    expect(placeOn('Mac15,14', receptacle, location)).toEqual({ receptacle, side: words.split(',')[0], words, column });
  });

  it('uses the table when the Mac reports no valid side for the receptacle', () => {
    const table = { words: 'back, 2nd from Ethernet' };
    expect(placeOn('Mac15,14', 2)).toMatchObject(table);
    expect(placeOn('Mac15,14', 2, 'underneath')).toMatchObject(table);
    const values = { 'receptacle-places': [{ receptacle: 3, location: 'front-left' }] };
    const other = observedFleet({ values: { 'studio-1': values } });
    expect(placeAt(examine(desiredFleet(), other), end('studio-1:2'))).toMatchObject(table);
  });

  it.each(['empty', 'garbled', 'timed-out', 'failed'] as const satisfies readonly UnknownReason[])(
    'uses the table when the report is unknown (%s)',
    (reason) => {
      const observation = observedFleet({ unknown: { 'studio-1': { 'receptacle-places': reason } } });
      const place = placeAt(examine(desiredFleet(), observation), end('studio-1:1'));
      expect(place).toMatchObject({ words: 'back, next to Ethernet' });
    },
  );
});

onOnePage('receptacle-place');

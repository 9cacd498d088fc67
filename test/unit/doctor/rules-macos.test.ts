import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../src/model/fact-values.ts';
import type { RackChanges } from './fleet-builder.ts';
import { findingsOf, hintsOf, told } from './told.ts';

const only = (values: Partial<FactValues>): RackChanges => ({ values: { 'studio-3': values } });

describe('macOS', () => {
  const macos = (version: string, extra?: string): Partial<FactValues> => ({
    'macos-version': { version, build: '25X1', ...(extra === undefined ? {} : { extra }) },
  });

  it('is an error outside of what the file accepts, told once', () => {
    expect(told(only(macos('26.3')))).toEqual(['error macos/outside-accept node studio-3']);
  });

  it('too old for RDMA is not told twice', () => {
    expect(told(only(macos('26.1')))).toEqual(['error macos/outside-accept node studio-3']);
  });

  it('differing among cabled nodes is an error about those in the minority', () => {
    expect(told(only(macos('26.4.1')))).toEqual(['error macos/versions-differ node studio-3']);
  });

  it('with another background security improvement differs', () => {
    expect(told(only(macos('26.5', '(a)')))).toEqual(['error macos/versions-differ node studio-3']);
  });

  it('differing in two halves is about the older one, counted as numbers', () => {
    const values = {
      'studio-1': macos('26.10'),
      'studio-2': macos('26.10'),
      'studio-3': macos('26.4'),
      'studio-4': macos('26.4'),
    };
    expect(told({ values }, { macos: {} })).toEqual(['error macos/versions-differ nodes studio-3, studio-4']);
    expect(hintsOf('macos/versions-differ', { values }, { macos: {} })[0]).toContain('to 26.10,');
  });

  it('differing is about those that are not on the wish, as soon as one node is', () => {
    const values = { 'studio-1': macos('26.4'), 'studio-2': macos('26.4'), 'studio-3': macos('26.4') };
    expect(told({ values })).toEqual(['error macos/versions-differ nodes studio-1, studio-2, studio-3']);
  });

  it('newer than what the file wants is never brought back by a hint', () => {
    const newer = only(macos('26.7'));
    const all = {
      values: Object.fromEntries(
        ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => [name, macos('26.5.1')]),
      ),
    };
    const hints = [
      hintsOf('macos/outside-accept', newer),
      hintsOf('macos/outside-accept', newer, { macos: { accept: '<26.6' } }),
      hintsOf('macos/not-the-wish', all),
      hintsOf('macos/versions-differ', only(macos('26.5.1'))),
    ].flat();
    expect(hints).toHaveLength(4);
    for (const hint of hints) {
      expect(hint).toMatch(/macos\.(?:version|accept)/);
      expect(hint).toContain('erasing');
      expect(hint).not.toMatch(/[Bb]ring macOS/);
    }
    expect(hints[3]).toContain('bring all cabled nodes to 26.5.1');
  });

  it('other than the wish, and equal everywhere, is a notice about all nodes together', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const values = Object.fromEntries(names.map((name) => [name, macos('26.5.1')]));
    expect(told({ values })).toEqual(['notice macos/not-the-wish nodes studio-1, studio-2, studio-3, studio-4']);
  });

  it('of another build on an equal Mac is a warning', () => {
    const found = findingsOf(only(macos('26.5')));
    expect(found.map((one) => one.code)).toEqual(['macos/builds-differ']);
    expect(found[0]?.detail).toContain('25F71 on studio-1, studio-2, studio-4; 25X1 on studio-3');
  });

  it('of another build on another model is right', () => {
    const hardware = { model: 'Mac16,9', chip: 'Apple M4 Max', memoryBytes: 2 ** 39 };
    expect(told(only({ ...macos('26.5'), hardware }))).toEqual([]);
  });

  it('that is unknown is neither right nor wrong', () => {
    expect(told({ unknown: { 'studio-3': { 'macos-version': 'garbled' } } })).toEqual([
      'warning fact/unknown node studio-3',
    ]);
  });
});

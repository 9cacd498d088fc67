import { describe, expect, it } from 'vitest';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { ThunderboltReceptacle } from '../../../../src/model/facts/fact-values.ts';
import {
  cabledReceptacle,
  desiredFleet,
  end,
  freeReceptacle,
  links,
  meshOfFour,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { findingsOf, hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const withReceptacle = (name: string, one: ThunderboltReceptacle, cables = meshOfFour): RackChanges => ({
  cables,
  values: {
    [name]: { thunderbolt: receptacles(name, 6, cables).map((old) => (old.receptacle === one.receptacle ? one : old)) },
  },
});
const auto: Partial<DesiredFleet> = { thunderbolt: { ...desiredFleet().thunderbolt, rdma: 'auto' } };

describe('cable findings', () => {
  const swapped = meshOfFour.map((text) =>
    text.includes('studio-4:2') ? text.replace('studio-4:2', 'studio-4:3') : text.replace('studio-4:3', 'studio-4:2'),
  );

  it('suggest one swap for two swapped cables', () => {
    expect(told({ cables: swapped })).toEqual([
      'error cabling/elsewhere link studio-1:4 <-> studio-4:2',
      'error cabling/elsewhere link studio-2:4 <-> studio-4:3',
    ]);
    expect(new Set(hintsOf('cabling/elsewhere', { cables: swapped }))).toEqual(
      new Set(['Swap the cable ends in studio-4 receptacles 2 and 3.']),
    );
  });

  it('ignore cables to an unreachable node', () => {
    expect(told({ cables: swapped, unreachable: ['studio-4'] })).toEqual([]);
  });

  it('show where a cable end that is one receptacle off belongs', () => {
    const cables = ['studio-1:5 <-> studio-2:2', ...meshOfFour.slice(1)];
    expect(hintsOf('cabling/elsewhere', { cables })).toEqual([
      'Move the cable end in studio-1 receptacle 5 to receptacle 2.',
    ]);
  });

  it('name the dock to unplug first', () => {
    const dock = {
      ...freeReceptacle('studio-1', 2),
      state: 'connected' as const,
      devices: [{ name: 'Envoy Ultra', vendor: 'OWC', mode: 'usb_four_v2' }],
    };
    expect(hintsOf('cabling/elsewhere', withReceptacle('studio-1', dock, meshOfFour.slice(1)))).toEqual([
      'First unplug everything in studio-1 receptacle 2: Envoy Ultra; then check again.',
    ]);
  });

  it('are errors below 80 Gb/s if RDMA is required, otherwise warnings', () => {
    const slow = { ...cabledReceptacle('studio-1', 2, end('studio-2:2')), linkBitsPerSecond: 40e9 };
    expect(told(withReceptacle('studio-1', slow))).toEqual(['error cabling/slow link studio-1:2 <-> studio-2:2']);
    expect(told(withReceptacle('studio-1', slow), auto)).toEqual([
      'warning cabling/slow link studio-1:2 <-> studio-2:2',
    ]);
  });

  it('name the slow cable to replace, unless the Mac limits the speed', () => {
    const slow = withReceptacle('studio-1', {
      ...cabledReceptacle('studio-1', 2, end('studio-2:2')),
      linkBitsPerSecond: 40e9,
    });
    expect(hintsOf('cabling/slow', slow)).toEqual([
      'Replace the cable between studio-1 receptacle 2 and studio-2 receptacle 2 with a Thunderbolt 5 cable.',
    ]);
    const mini = { hardware: { model: 'Mac16,10', chip: 'Apple M4', memoryBytes: 2 ** 34 }, 'rdma-devices': [] };
    const limited = { ...slow, values: { ...slow.values, 'studio-2': mini } };
    const found = findingsOf(limited, auto);
    expect(found.filter(({ code }) => code.startsWith('cabling/'))).toEqual([]);
    const [cause] = found.filter(({ code }) => code === 'rdma/no-thunderbolt-5');
    expect(cause?.hint).toMatch(/^Nothing to do while no placement needs RDMA here/);
  });

  it('warn about a cable through a hub', () => {
    const own = cabledReceptacle('studio-1', 2, end('studio-2:2'));
    const behind = { ...own, peers: own.peers.map((one) => ({ ...one, hubsBetween: 1 })) };
    expect(told(withReceptacle('studio-1', behind))).toEqual([
      'warning cabling/through-hub link studio-1:2 <-> studio-2:2',
    ]);
  });

  it('report a cable seen from only one end as one-sided, not missing', () => {
    const found = findingsOf(withReceptacle('studio-2', freeReceptacle('studio-2', 2)));
    expect(found.map((one) => `${one.code} ${one.detail}`)).toEqual([
      'cabling/one-sided studio-1:2 sees studio-2:2, but studio-2:2 sees nothing.',
    ]);
  });

  it('suggest a direct cable when a dock hides the far Mac', () => {
    const dock = {
      ...freeReceptacle('studio-2', 2),
      state: 'connected' as const,
      devices: [{ name: 'Studio Display', vendor: 'Apple Inc.', mode: 'usb_four' }],
    };
    const found = findingsOf(withReceptacle('studio-2', dock));
    expect(found.map((one) => `${one.code} ${one.detail} ${one.hint}`)).toEqual([
      'cabling/one-sided studio-1:2 sees studio-2:2, but studio-2:2 sees Studio Display. ' +
        'Plug the cable directly from studio-1 receptacle 2 into studio-2 receptacle 2.',
    ]);
  });

  it("list the Mac's receptacles when a link names a missing one", () => {
    const found = findingsOf({ receptacleCount: { 'studio-4': 3 } });
    expect(found.filter((one) => one.code === 'cabling/no-receptacle').map((one) => one.detail)).toEqual([
      'studio-4 has no receptacle 4 (macOS shows: 1, 2, 3).',
    ]);
  });

  it('warn about an undeclared cable with the line to add', () => {
    const declared = meshOfFour.filter((text) => !text.startsWith('studio-1:3'));
    const changes = { cables: [...declared, 'studio-1:5 <-> studio-3:6'] };
    const desired = { thunderbolt: { ...desiredFleet().thunderbolt, links: links(declared) } };
    expect(told(changes, desired)).toEqual(['warning cabling/undeclared link studio-1:5 <-> studio-3:6']);
    expect(findingsOf(changes, desired)[0]?.hint).toContain('\n  - studio-1:5 <-> studio-3:6');
  });

  it('report a second cable between two linked Macs as doubled', () => {
    const cables = [...meshOfFour, 'studio-1:5 <-> studio-2:6'];
    const [found] = findingsOf({ cables });
    expect(found?.code).toBe('cabling/doubled');
    expect(found?.detail).toContain('declares studio-1:2 <-> studio-2:2 between these nodes');
  });

  it('suggest moving a cable out of a receptacle that should stay free', () => {
    const hintOf = (cable: string, changes: Partial<DesiredFleet> = {}): string =>
      findingsOf({ cables: [...meshOfFour, cable] }, changes)[0]?.hint ?? '';
    expect(hintOf('studio-1:1 <-> studio-3:6')).toMatch(
      /^Remove the cable, or move its end in studio-1 receptacle 1 to a free receptacle and declare it there. On a Mac Studio/,
    );
    const avoid = { thunderbolt: { ...desiredFleet().thunderbolt, avoid: [end('studio-3:6')] } };
    expect(hintOf('studio-1:5 <-> studio-3:6', avoid)).toMatch(
      /studio-3 receptacle 6 .* The file wants this receptacle left free\.$/,
    );
  });

  it('do not exist for a file without links', () => {
    const desired = { thunderbolt: { ...desiredFleet().thunderbolt, links: [] } };
    expect(told({}, desired)).toEqual([]);
  });

  it('report a cable to a Mac that is not in the file', () => {
    const foreign = cabledReceptacle('studio-1', 5, end('other:1'));
    expect(told(withReceptacle('studio-1', foreign))).toEqual(['warning cabling/foreign-mac receptacle studio-1:5']);
  });

  it("suggest moving a cable from a Mac that is not in the file to the link's node", () => {
    const foreign = cabledReceptacle('studio-1', 2, end('other:1'));
    const changes = withReceptacle('studio-1', foreign, meshOfFour.slice(1));
    expect(told(changes)).toEqual(['error cabling/elsewhere link studio-1:2 <-> studio-2:2']);
    expect(hintsOf('cabling/elsewhere', changes)).toEqual([
      'Move the far end of the cable in studio-1 receptacle 2 from a Mac that is not in the file (Mac15,14) ' +
        'to studio-2 receptacle 2.',
    ]);
  });

  it('do not call a Mac foreign while a node is unreachable', () => {
    const foreign = cabledReceptacle('studio-1', 5, end('other:1'));
    expect(told({ ...withReceptacle('studio-1', foreign), unreachable: ['studio-4'] })).toEqual([
      'notice cabling/unidentified-mac receptacle studio-1:5',
    ]);
  });

  it('warn about a cable plugged in at both ends without a connection', () => {
    const silent = (name: string): readonly ThunderboltReceptacle[] =>
      receptacles(name, 6, meshOfFour).map((one) =>
        one.receptacle === 2 ? { ...freeReceptacle(name, 2), state: 'connected' } : one,
      );
    const values = { 'studio-1': { thunderbolt: silent('studio-1') }, 'studio-2': { thunderbolt: silent('studio-2') } };
    expect(told({ values })).toEqual(['warning cabling/no-answer link studio-1:2 <-> studio-2:2']);
  });

  it('warn about an unknown speed only if RDMA is required', () => {
    const unmeasured = (name: string, far: string): ThunderboltReceptacle => {
      const { linkBitsPerSecond: _, ...rest } = cabledReceptacle(name, 2, end(far));
      return rest;
    };
    const values = {
      ...withReceptacle('studio-1', unmeasured('studio-1', 'studio-2:2')).values,
      ...withReceptacle('studio-2', unmeasured('studio-2', 'studio-1:2')).values,
    };
    expect(told({ values })).toEqual(['warning cabling/speed-unknown link studio-1:2 <-> studio-2:2']);
    expect(told({ values }, auto)).toEqual([]);
  });

  it('escape line breaks in a hostile device name', () => {
    const dock = {
      ...freeReceptacle('studio-1', 2),
      state: 'connected' as const,
      devices: [{ name: 'dock\n  sudo rm -rf /', vendor: 'x', mode: 'usb_four' }],
    };
    const [hint = ''] = hintsOf('cabling/elsewhere', withReceptacle('studio-1', dock, meshOfFour.slice(1)));
    expect(hint).toContain('\\u{a}');
    expect(hint).not.toContain('\n');
  });
});

onOnePage('rules-cables');

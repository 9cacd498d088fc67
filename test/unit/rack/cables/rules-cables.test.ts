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
import { hintsOf, told } from '../../engine/diagnose/told.ts';
import { onOnePage } from '../../one-page.ts';

const withReceptacle = (name: string, one: ThunderboltReceptacle, cables = meshOfFour): RackChanges => ({
  cables,
  values: {
    [name]: { thunderbolt: receptacles(name, 6, cables).map((old) => (old.receptacle === one.receptacle ? one : old)) },
  },
});
const auto: Partial<DesiredFleet> = { thunderbolt: { ...desiredFleet().thunderbolt, rdma: 'auto' } };

/** The second receptacle of a Mac with a device in it. */
const docked = (name: string, device: string): ThunderboltReceptacle => ({
  ...freeReceptacle(name, 2),
  state: 'connected',
  devices: [{ name: device, vendor: 'OWC', mode: 'usb_four_v2' }],
});

describe('cable findings', () => {
  const swapped = meshOfFour.map((text) =>
    text.includes('studio-4:2') ? text.replace('studio-4:2', 'studio-4:3') : text.replace('studio-4:3', 'studio-4:2'),
  );

  it('suggest one swap for two swapped cables', () => {
    expect(told({ cables: swapped })).toEqual([
      'error cabling/elsewhere link studio-1:4 <-> studio-4:2',
      'error cabling/elsewhere link studio-2:4 <-> studio-4:3',
    ]);
  });

  it('ignore cables to an unreachable node', () => {
    expect(told({ cables: swapped, unreachable: ['studio-4'] })).toEqual([]);
  });

  it('show where a cable end that is one receptacle off belongs', () => {
    const cables = ['studio-1:5 <-> studio-2:2', ...meshOfFour.slice(1)];
    expect(told({ cables })).toEqual(['error cabling/elsewhere link studio-1:2 <-> studio-2:2']);
  });

  it('name the dock to unplug first', () => {
    const changes = withReceptacle('studio-1', docked('studio-1', 'Envoy Ultra'), meshOfFour.slice(1));
    expect(told(changes)).toEqual(['error cabling/elsewhere link studio-1:2 <-> studio-2:2']);
  });

  it('are errors below 80 Gb/s if RDMA is required, otherwise warnings, unless the Mac limits the speed', () => {
    const fast = cabledReceptacle('studio-1', 2, end('studio-2:2'));
    const slow = withReceptacle('studio-1', { ...fast, linkBitsPerSecond: 40e9 });
    expect(told(slow)).toEqual(['error cabling/slow link studio-1:2 <-> studio-2:2']);
    expect(told(slow, auto)).toEqual(['warning cabling/slow link studio-1:2 <-> studio-2:2']);
    const mini = { hardware: { model: 'Mac16,10', chip: 'Apple M4', memoryBytes: 2 ** 34 }, 'rdma-devices': [] };
    const found = told({ ...slow, values: { ...slow.values, 'studio-2': mini } }, auto);
    expect(found.filter((one) => one.includes('cabling/'))).toEqual([]);
  });

  it('warn about a cable through a hub', () => {
    const own = cabledReceptacle('studio-1', 2, end('studio-2:2'));
    const behind = { ...own, peers: own.peers.map((one) => ({ ...one, hubsBetween: 1 })) };
    expect(told(withReceptacle('studio-1', behind))).toEqual([
      'warning cabling/through-hub link studio-1:2 <-> studio-2:2',
    ]);
  });

  it('report a cable seen from only one end as one-sided, not missing', () => {
    const found = told(withReceptacle('studio-2', freeReceptacle('studio-2', 2)));
    expect(found).toEqual(['warning cabling/one-sided link studio-1:2 <-> studio-2:2']);
  });

  it('suggest a direct cable when a dock hides the far Mac', () => {
    const found = told(withReceptacle('studio-1', docked('studio-1', 'Studio Display')));
    expect(found).toEqual(['warning cabling/one-sided link studio-1:2 <-> studio-2:2']);
  });

  it("list the Mac's receptacles when a link names a missing one", () => {
    const found = told({ receptacleCount: { 'studio-4': 3 } });
    expect(found.filter((one) => one.includes('cabling/no-receptacle'))).toHaveLength(1);
  });

  it('warn about an undeclared cable with the line to add', () => {
    const declared = meshOfFour.filter((text) => !text.startsWith('studio-1:3'));
    const changes = { cables: [...declared, 'studio-1:5 <-> studio-3:6'] };
    const desired = { thunderbolt: { ...desiredFleet().thunderbolt, links: links(declared) } };
    expect(told(changes, desired)).toEqual(['warning cabling/undeclared link studio-1:5 <-> studio-3:6']);
  });

  it('report a second cable between two linked Macs as doubled', () => {
    const cables = [...meshOfFour, 'studio-1:5 <-> studio-2:6'];
    expect(told({ cables })).toEqual(['warning cabling/doubled link studio-1:5 <-> studio-2:6']);
  });

  it('suggest moving a cable out of a receptacle that should stay free', () => {
    const withCable = (cable: string, changes: Partial<DesiredFleet> = {}): readonly string[] =>
      told({ cables: [...meshOfFour, cable] }, changes);
    const first = withCable('studio-1:1 <-> studio-3:6');
    expect(first).toEqual(['warning cabling/doubled link studio-1:1 <-> studio-3:6']);
    const avoid = { thunderbolt: { ...desiredFleet().thunderbolt, avoid: [end('studio-3:6')] } };
    const second = withCable('studio-1:5 <-> studio-3:6', avoid);
    expect(second).toEqual(['warning cabling/doubled link studio-1:5 <-> studio-3:6']);
  });

  it('are empty for a file without links', () => {
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
    const dock = docked('studio-1', 'dock\n  sudo rm -rf /');
    const [hint = ''] = hintsOf('cabling/elsewhere', withReceptacle('studio-1', dock, meshOfFour.slice(1)));
    expect(hint).toContain('\\u{a}');
    expect(hint).not.toContain('\n');
  });
});

onOnePage('rules-cables');

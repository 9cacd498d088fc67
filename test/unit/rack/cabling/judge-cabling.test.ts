import { describe, expect, it } from 'vitest';
import type { ThunderboltReceptacle } from '../../../../src/model/facts/fact-values.ts';
import { linkEndText, nodeName } from '../../../../src/model/node.ts';
import {
  judgeCabling as judgeCablingItself,
  undeclaredCables as undeclaredCablesItself,
} from '../../../../src/rack/cabling/judge-cabling.ts';
import {
  cabledReceptacle,
  end,
  freeReceptacle,
  links,
  observedFleet,
  peer,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const judgeCabling = onPage(judgeCablingItself);
const undeclaredCables = onPage(undeclaredCablesItself);

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map(nodeName);
const declared = links(['studio-1:2 <-> studio-2:2']);

function judge(changes: RackChanges): string {
  const [only] = judgeCabling(declared, names, observedFleet(changes).nodes).links;
  return only?.judgement.kind ?? 'no link';
}

/** The receptacles of one node, with one of them replaced. */
const withReceptacle = (name: string, one: ThunderboltReceptacle): readonly ThunderboltReceptacle[] =>
  receptacles(name, 6, []).map((free) => (free.receptacle === one.receptacle ? one : free));

const thunderbolt = (name: string, one: ThunderboltReceptacle): NonNullable<RackChanges['values']> => ({
  [name]: { thunderbolt: withReceptacle(name, one) },
});

describe('the state of a declared link', () => {
  it('is as-declared when both ends see each other, in either order', () => {
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'] })).toBe('as-declared');
    expect(judge({ cables: ['studio-2:2 <-> studio-1:2'] })).toBe('as-declared');
  });

  it('is missing when both receptacles are empty', () => {
    expect(judge({ cables: [] })).toBe('missing');
  });

  it('is elsewhere when one end sees another receptacle', () => {
    expect(judge({ cables: ['studio-1:3 <-> studio-2:2'] })).toBe('elsewhere');
    expect(judge({ cables: ['studio-1:2 <-> studio-2:3'] })).toBe('elsewhere');
  });

  it('is elsewhere when a dock is plugged into one end', () => {
    const dock = { ...freeReceptacle('studio-1', 2), state: 'connected' as const };
    const devices = [{ name: 'Envoy Ultra', vendor: 'OWC', mode: 'usb_four_v2' }];
    expect(judge({ cables: [], values: thunderbolt('studio-1', { ...dock, devices }) })).toBe('elsewhere');
  });

  it('is slow when the slower end reports less than 80 Gb/s', () => {
    const slow = { ...cabledReceptacle('studio-2', 2, end('studio-1:2')), linkBitsPerSecond: 40e9 };
    const values = thunderbolt('studio-2', slow);
    const [only] = judgeCabling(
      declared,
      names,
      observedFleet({ cables: ['studio-1:2 <-> studio-2:2'], values }).nodes,
    ).links;
    expect(only?.judgement).toEqual({ kind: 'slow', bitsPerSecond: 40e9, limitedBy: [] });
  });

  it('is one-sided when only one end sees the other', () => {
    const values = thunderbolt('studio-2', freeReceptacle('studio-2', 2));
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'], values })).toBe('one-sided');
  });

  it('is through-hub when one end is behind a hub', () => {
    const own = cabledReceptacle('studio-2', 2, end('studio-1:2'));
    const behind = { ...own, peers: [peer(end('studio-1:2'), { hubsBetween: 1 })] };
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'], values: thunderbolt('studio-2', behind) })).toBe(
      'through-hub',
    );
  });

  it('is no-receptacle when the Mac has no receptacle with that number', () => {
    expect(judge({ cables: [], receptacleCount: { 'studio-2': 1 } })).toBe('no-receptacle');
  });

  it('is unknown when one end was not observed, even if the other is empty', () => {
    expect(judge({ cables: [], unreachable: ['studio-2'] })).toBe('unknown');
    expect(judge({ cables: [], unknown: { 'studio-1': { thunderbolt: 'garbled' } } })).toBe('unknown');
  });

  it('is unknown when both ends have a cable but see no device', () => {
    const silent = (name: string): ThunderboltReceptacle => ({ ...freeReceptacle(name, 2), state: 'connected' });
    const values = { ...thunderbolt('studio-1', silent('studio-1')), ...thunderbolt('studio-2', silent('studio-2')) };
    expect(judge({ cables: [], values })).toBe('unknown');
  });

  it('is unknown when two nodes report the same Mac', () => {
    const twin = receptacles('studio-2', 6, ['studio-1:2 <-> studio-2:2']);
    const values = { 'studio-3': { thunderbolt: twin } };
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'], values })).toBe('unknown');
  });

  it('is unknown when the bus of one end cannot be read', () => {
    const [first, ...others] = receptacles('studio-2', 6, []);
    const unread = { bus: 'unknown', receptacle: 2, state: 'unknown', peers: [], devices: [] } as const;
    const rest = [first, ...others].flatMap((one) => (one === undefined || one.receptacle === 2 ? [] : [one]));
    const values = { 'studio-2': { thunderbolt: [...rest, unread] } };
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'], values })).toBe('unknown');
  });

  it('ignores case when it compares domain UUIDs', () => {
    const own = cabledReceptacle('studio-2', 2, end('studio-1:2'));
    const lower = { ...own, domainUuid: own.domainUuid?.toLowerCase() ?? '' };
    expect(judge({ cables: ['studio-1:2 <-> studio-2:2'], values: thunderbolt('studio-2', lower) })).toBe(
      'as-declared',
    );
  });
});

describe('receptacle peers', () => {
  const foreign = { ...cabledReceptacle('studio-1', 5, end('other:1')) };

  function peerKind(changes: RackChanges): string | undefined {
    const { rack } = judgeCabling(declared, names, observedFleet({ cables: [], ...changes }).nodes);
    return rack.views.find((view) => linkEndText(view.at) === 'studio-1:5')?.peers[0]?.kind;
  }

  it('are foreign when all nodes were observed and none has the domain UUID', () => {
    expect(peerKind({ values: thunderbolt('studio-1', foreign) })).toBe('foreign');
  });

  it('are unidentified while a node in the file was not observed', () => {
    expect(peerKind({ values: thunderbolt('studio-1', foreign), unreachable: ['studio-4'] })).toBe('unidentified');
  });
});

describe('undeclared cables', () => {
  it('include each cable once that both ends see and no link declares', () => {
    const { nodes } = observedFleet({ cables: ['studio-1:2 <-> studio-2:2', 'studio-3:1 <-> studio-4:6'] });
    const found = undeclaredCables(judgeCabling(declared, names, nodes));
    expect(found.map(({ ends }) => ends.map(linkEndText))).toEqual([['studio-3:1', 'studio-4:6']]);
  });

  it('exclude a cable that only one end sees', () => {
    const values = thunderbolt('studio-1', cabledReceptacle('studio-1', 5, end('studio-4:6')));
    const { nodes } = observedFleet({ cables: [], values });
    expect(undeclaredCables(judgeCabling(declared, names, nodes))).toEqual([]);
  });
});

onOnePage('judge-cabling');

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
const cable = 'studio-1:2 <-> studio-2:2';
const declared = links([cable]);

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
  const own = cabledReceptacle('studio-2', 2, end('studio-1:2'));
  const connected = (name: string): ThunderboltReceptacle => ({ ...freeReceptacle(name, 2), state: 'connected' });
  const dock = { ...connected('studio-1'), devices: [{ name: 'Envoy Ultra', vendor: 'OWC', mode: 'usb_four_v2' }] };
  const behindHub = { ...own, peers: [peer(end('studio-1:2'), { hubsBetween: 1 })] };
  const lowercase = { ...own, domainUuid: own.domainUuid?.toLowerCase() ?? '' };
  const twin = { 'studio-3': { thunderbolt: receptacles('studio-2', 6, [cable]) } };
  const unread = { bus: 'unknown', receptacle: 2, state: 'unknown', peers: [], devices: [] } as const;
  const readable = receptacles('studio-2', 6, []).filter((one) => one.receptacle !== 2);
  const silent = {
    ...thunderbolt('studio-1', connected('studio-1')),
    ...thunderbolt('studio-2', connected('studio-2')),
  };

  it.each<[string, string, RackChanges]>([
    ['as-declared', 'both ends see each other', { cables: [cable] }],
    ['as-declared', 'the cable is plugged in the other way round', { cables: ['studio-2:2 <-> studio-1:2'] }],
    ['as-declared', 'domain UUIDs differ in case', { cables: [cable], values: thunderbolt('studio-2', lowercase) }],
    ['missing', 'both receptacles are empty', { cables: [] }],
    ['elsewhere', 'one end sees another receptacle', { cables: ['studio-1:3 <-> studio-2:2'] }],
    ['elsewhere', 'the other end sees another receptacle', { cables: ['studio-1:2 <-> studio-2:3'] }],
    ['elsewhere', 'a dock is plugged into one end', { cables: [], values: thunderbolt('studio-1', dock) }],
    [
      'one-sided',
      'only one end sees the other',
      { cables: [cable], values: thunderbolt('studio-2', freeReceptacle('studio-2', 2)) },
    ],
    ['through-hub', 'one end is behind a hub', { cables: [cable], values: thunderbolt('studio-2', behindHub) }],
    ['no-receptacle', 'the Mac has no such receptacle', { cables: [], receptacleCount: { 'studio-2': 1 } }],
    ['unknown', 'one end was not observed', { cables: [], unreachable: ['studio-2'] }],
    ['unknown', 'one end is unknown', { cables: [], unknown: { 'studio-1': { thunderbolt: 'garbled' } } }],
    ['unknown', 'both ends have a cable but see no device', { cables: [], values: silent }],
    ['unknown', 'two nodes report the same Mac', { cables: [cable], values: twin }],
    [
      'unknown',
      'the bus of one end cannot be read',
      { cables: [cable], values: { 'studio-2': { thunderbolt: [...readable, unread] } } },
    ],
  ])('is %s when %s', (state, _, changes) => {
    expect(judge(changes)).toBe(state);
  });

  it('is slow when the slower end reports less than 80 Gb/s', () => {
    const values = thunderbolt('studio-2', { ...own, linkBitsPerSecond: 40e9 });
    const [only] = judgeCabling(declared, names, observedFleet({ cables: [cable], values }).nodes).links;
    expect(only?.judgement).toEqual({ kind: 'slow', bitsPerSecond: 40e9, limitedBy: [] });
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
    const { nodes } = observedFleet({ cables: [cable, 'studio-3:1 <-> studio-4:6'] });
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

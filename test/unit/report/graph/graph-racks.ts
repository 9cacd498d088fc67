import { cableWork } from '../../../../src/engine/cables/cable-work.ts';
import { declaredGraph, rackGraph } from '../../../../src/engine/rack-graph.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { alarmText, type GraphPicture } from '../../../../src/report/graph/graph-words.ts';
import {
  desiredFleet,
  end,
  healthyFacts,
  links,
  observedFleet,
  peer,
  type RackChanges,
  receptacles,
} from '../../../rack/rack.ts';

/** The names `studio-1`, `studio-2` and so on. */
export const studios = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `studio-${index + 1}`);

/** A cable between every two of `count` Macs; each Mac uses its receptacles in order, starting with the first. */
export function fullMesh(count: number): readonly string[] {
  const next = new Map(studios(count).map((name) => [name, 1]));
  const take = (name: string): string => {
    const receptacle = next.get(name) ?? 1;
    next.set(name, receptacle + 1);
    return `${name}:${receptacle}`;
  };
  return studios(count).flatMap((a, index) =>
    studios(count)
      .slice(index + 1)
      .map((b) => `${take(a)} <-> ${take(b)}`),
  );
}

/** A rack for a drawing; by default, everything is as declared. */
export interface DrawnRack extends RackChanges {
  readonly count: number;
  readonly declared: readonly string[];
}

const serving = (count: number): GraphPicture['placements'] => [
  { name: 'chat', nodes: studios(count), state: 'serving' },
];

const fleetOf = ({ count, declared }: DrawnRack) =>
  desiredFleet({ names: studios(count), thunderbolt: { ...desiredFleet().thunderbolt, links: links(declared) } });

/** The picture of an observed rack. */
export function seenPicture(rack: DrawnRack): GraphPicture {
  const observation = observedFleet({ cables: rack.declared, ...rack, names: studios(rack.count) });
  const { examination, acts, loops } = cableWork(fleetOf(rack), observation);
  const warnings = loops.map((loop) => alarmText(loop, { isSimulated: true }));
  return { graph: rackGraph(examination, acts), placements: serving(rack.count), isSimulated: true, warnings };
}

/** The picture of the rack's file, without an observation. */
export function declaredPicture(rack: DrawnRack): GraphPicture {
  const fleet = fleetOf(rack);
  const nodes = fleet.nodes.map((node) => ({ ...node, hardware: { model: 'Mac15,14' } }));
  return { graph: declaredGraph({ ...fleet, nodes }), placements: [], isSimulated: false, warnings: [] };
}

const four = { count: 4, declared: fullMesh(4) };

/** Two swapped cable ends and a missing cable. */
export const swappedRack: DrawnRack = {
  ...four,
  cables: [
    'studio-1:1 <-> studio-2:1',
    'studio-1:2 <-> studio-4:1',
    'studio-1:3 <-> studio-3:1',
    'studio-2:2 <-> studio-3:2',
    'studio-2:3 <-> studio-4:2',
  ],
};

const ownOf = (name: string) => receptacles(name, 6, four.declared);

/** A slow cable, a hub between two Macs, a foreign Mac, a dock, and a cable that one end does not see. */
export const strangeRack: DrawnRack = {
  ...four,
  values: {
    'studio-1': {
      thunderbolt: ownOf('studio-1').map((one) => {
        if (one.receptacle === 1) return { ...one, linkBitsPerSecond: 40e9 };
        return one.receptacle === 2 ? { ...one, peers: [peer(end('studio-3:1'), { hubsBetween: 1 })] } : one;
      }),
    },
    'studio-2': {
      thunderbolt: ownOf('studio-2').map((one) => {
        if (one.receptacle === 5) {
          const peers = [peer({ node: nodeName('stranger'), receptacle: 1 }, { model: 'Mac16,9' })];
          return { ...one, state: 'connected' as const, peers };
        }
        const devices = [{ name: 'TS5 <Plus> & more', vendor: 'CalDigit' }];
        return one.receptacle === 6 ? { ...one, state: 'connected' as const, devices } : one;
      }),
    },
    'studio-3': {
      thunderbolt: ownOf('studio-3').map((one) =>
        one.receptacle === 3 ? { ...one, state: 'connected', peers: [] } : one,
      ),
    },
  },
};

/** Seven Macs: one is unreachable, the others have wrong and missing cables. */
export const brokenSeven: DrawnRack = {
  count: 7,
  declared: fullMesh(7),
  cables: fullMesh(7)
    .map((cable) => (cable === 'studio-2:3 <-> studio-4:2' ? 'studio-2:3 <-> studio-3:3' : cable))
    .filter((cable) => cable !== 'studio-3:3 <-> studio-4:3' && cable !== 'studio-5:5 <-> studio-6:5'),
  unreachable: ['studio-7'],
};

/** The facts of a Mac whose Thunderbolt Bridge has these receptacles. */
function bridgedFacts(name: string, numbers: readonly number[]) {
  const own = receptacles(name, 6, four.declared);
  const members = numbers.map((number) => `en${number + 1}`);
  const bridge = { name: 'bridge0', isUp: true, mtuBytes: 1500, ipv4: [], ipv6: [], members };
  const service = { name: 'Thunderbolt Bridge', port: 'Thunderbolt Bridge', device: 'bridge0', isEnabled: true };
  return {
    interfaces: [...healthyFacts(name, own).interfaces, bridge],
    'bridge-preferences': [{ name: 'bridge0', interfaces: members, auto: 'thunderbolt-bridge' }],
    'network-services': [service],
  };
}

/** Every Mac is bridged, three of them in a ring, and one cable is still missing. */
export const bridgedRack: DrawnRack = {
  ...four,
  cables: four.declared.filter((cable) => cable !== 'studio-3:3 <-> studio-4:3'),
  values: Object.fromEntries(studios(4).map((name) => [name, bridgedFacts(name, [1, 2, 3])])),
};

import type { Act, Step } from '../../src/model/step.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { read } from '../../src/rack/fact.ts';
import { interfacesFact } from '../../src/rack/network/interfaces-fact.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';

const published = { listen: 'lan', access: 'anybody' };

/** Two placements behind one gateway, the first of them over both Macs, and one on the other Mac without a gateway. */
export const editedFile = (change: (file: FileValue) => void = () => undefined): FileValue =>
  pairFile((file) => {
    file['gateway'] = { node: './dist/node-v22.0.0-darwin-arm64.tar.gz' };
    const { reference } = filePart(file, 'runtimes');
    filePart(file, 'runtimes')['own'] = structuredClone(reference);
    Object.assign(filePart(file, 'models'), {
      newer: { source: './models/newer' },
      large: { source: './models/large' },
    });
    const placements = filePart(file, 'placements');
    const { sharding: _, ...chat } = structuredClone(filePart(placements, 'chat'));
    placements['chat'] = { ...filePart(placements, 'chat'), endpoint: { port: 8_080, ...published } };
    placements['solo'] = { ...chat, nodes: [first], runtime: 'own', endpoint: { port: 8_080, ...published } };
    placements['near'] = { ...chat, nodes: [second], model: 'newer', runtime: 'own', endpoint: { port: 8_081 } };
    change(file);
  });

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A change of the file, with the words that a failure shows. */
export interface RandomEdit {
  readonly words: string;
  readonly change: (file: FileValue) => void;
}

type Draw = <T>(all: readonly T[]) => T;

/** New values of a key, by the parts of the file that have it. */
const values = (section: string, names: readonly string[], key: string, all: readonly unknown[]) => (draw: Draw) => {
  const [name, value] = [draw(names), draw(all)];
  const path = name === '' ? [section] : [section, name];
  const words = `${[...path, key].join('.')}: ${JSON.stringify(value) ?? 'removed'}`;
  return {
    words,
    change: (file: FileValue): void => {
      // An earlier edit of the same case may have removed the placement.
      const part = path.reduce<unknown>((at, one) => (at as FileValue | undefined)?.[one], file) as
        | FileValue
        | undefined;
      if (value === undefined) delete part?.[key];
      else if (part !== undefined) part[key] = structuredClone(value);
    },
  };
};

const names = ['chat', 'solo', 'near'];
const runtimes = ['reference', 'own'];
const ports = [8_080, 8_081, 8_082, 8_090];
const endpoints = [
  ...ports.map((port) => ({ port })),
  ...ports.map((port) => ({ port, ...published })),
  ...ports.map((port) => ({ port, ...published, servedName: 'other' })),
];
const more = { model: 'large', runtime: 'own', transport: 'tcp', context: '8k' };

/** Everything that a random edit may change. */
const kinds: readonly ((draw: Draw) => RandomEdit)[] = [
  values('placements', names, 'context', ['4k', '12k', '16k']),
  values('placements', names, 'model', ['tiny', 'newer', 'large']),
  values('placements', names, 'runtime', runtimes),
  values('placements', names, 'endpoint', endpoints),
  values('placements', names, 'expect', [{ firstToken: '9s' }, undefined]),
  values('placements', names, 'state', ['stopped']),
  values('placements', names, 'env', [{ A: 'b' }]),
  values('placements', ['solo', 'near'], 'nodes', [[first], [second]]),
  values('placements', ['chat'], 'nodes', [[second, first], [first], [second]]),
  values('placements', ['chat'], 'sharding', ['pipeline']),
  values('placements', [''], 'chat', [undefined]),
  values('placements', [''], 'solo', [undefined]),
  values('placements', [''], 'near', [undefined]),
  values(
    'placements',
    [''],
    'more',
    [first, second].map((node) => ({ ...more, nodes: [node], endpoint: { port: 8_085 } })),
  ),
  values(
    'placements',
    [''],
    'more',
    [first, second].map((node) => ({ ...more, nodes: [node], endpoint: { port: 8_080, ...published } })),
  ),
  values('runtimes', runtimes, 'archive', ['./dist/newer.tar.gz', './dist/newest.tar.gz']),
  values('runtimes', runtimes, 'order', ['leader-first', 'followers-first']),
  values('models', ['tiny', 'newer'], 'source', ['./models/newer', './models/large', './models/tiny']),
  values('thunderbolt', [''], 'addressing', [{ pool: '10.78.0.0/24' }, { pool: '10.79.0.0/24' }]),
  values('system', [''], 'wiredLimit', ['default', '200GiB']),
  values('system', [''], 'keeper', ['none']),
  values('power', [''], 'sleep', [30]),
  values('system', [''], 'accounts', [{ gateway: '_othergate' }, { ranks: '_otherrank' }]),
];

/** One to three changes of the file that follow from a seed. */
export function randomEdit(seed: number): RandomEdit {
  const random = randomFrom(seed);
  const draw: Draw = (all) => all[Math.floor(random() * all.length)] as never;
  const edits = Array.from({ length: draw([1, 1, 2, 3]) }, () => draw(kinds)(draw));
  return {
    words: edits.map(({ words }) => words).join(', '),
    change: (file) => {
      for (const { change } of edits) change(file);
    },
  };
}

/** Placements by where they run, as the file of a serving rack has them. */
interface Served {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly port: number;
  readonly isPublished: boolean;
}

/** The placements of a file. */
export const servedIn = (file: FileValue): readonly Served[] =>
  Object.keys(filePart(file, 'placements')).map((name) => {
    const placement = filePart(file, 'placements', name);
    const { port, listen } = placement['endpoint'] as Readonly<Record<string, unknown>>;
    const nodes = Object.values(filePart(placement, 'nodes')).map(String);
    return { name, nodes, port: Number(port), isPublished: listen === 'lan' };
  });

const addressesOn = ({ nodes }: FleetObservation, node: string, device: string): readonly string[] => {
  const interfaces = read(nodes[node]?.facts, interfacesFact);
  if (interfaces?.kind !== 'known') return [];
  const found = interfaces.value.find(({ name }) => name === device);
  return found?.ipv4.map(({ address }) => String(address)) ?? [];
};

/** Whether an action takes an address away, or replaces it. */
function breaksCable(seen: FleetObservation, node: string, act: Act): boolean {
  if (act.kind !== 'transaction') return false;
  if (act.name === 'clear-link-address') return act.args.addresses.length > 0;
  if (act.name !== 'set-link-address') return false;
  return !addressesOn(seen, node, act.args.device).includes(act.args.address);
}

/**
 * The placements that an action stops, by what the action does and not by what the plan lists: it stops a rank, ends or
 * closes a gateway, changes the address of a cable between two ranks, or restarts a Mac.
 */
function stoppedBy({ node, act }: Step, served: readonly Served[], seen: FleetObservation): readonly string[] {
  const behind = (port: number) =>
    served.filter((one) => one.isPublished && one.nodes[0] === node && one.port === port);
  const named = (all: readonly Served[]): readonly string[] => all.map(({ name }) => name);
  if (act.kind === 'reboot') return named(served.filter(({ nodes }) => nodes.includes(node)));
  if (breaksCable(seen, node, act))
    return named(served.filter(({ nodes }) => nodes.length > 1 && nodes.includes(node)));
  if (act.kind !== 'script') return [];
  if (act.name === 'stop-rank') return [act.args.placement];
  if (act.name === 'load-gateway') return act.args.reload ? named(behind(act.args.port)) : [];
  return act.name === 'remove-gateway' ? named(behind(act.args.port)) : [];
}

/** Placements that these steps stop although they serve, except for those that a step lists as interrupted. */
export function understated(
  steps: readonly Step[],
  served: readonly Served[],
  seen: FleetObservation,
): readonly string[] {
  const listed = interruptedIn(steps);
  const stopped = new Set(steps.flatMap((step) => stoppedBy(step, served, seen)));
  return [...stopped].filter((name) => served.some((one) => one.name === name) && !listed.includes(name));
}

/** The placements that steps list as interrupted. */
export const interruptedIn = (steps: readonly Step[]): readonly string[] =>
  steps.flatMap(({ effect }) => (effect.kind === 'interrupt' ? [effect.placement, ...(effect.others ?? [])] : []));

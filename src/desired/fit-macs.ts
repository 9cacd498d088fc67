import type { FitModel, FitShape, MacCount, MeshFit } from '../model/fit.ts';
import { given } from '../model/given.ts';
import { everyPair } from '../model/lists.ts';
import { type MacModel, macModel } from '../model/macs.ts';
import { everyNodeText, type Link, type LinkEnd, type NodeName, nodeName } from '../model/node.ts';

const speedOf = ({ name, memoryGigabytesPerSecond: speeds }: MacModel): string =>
  `${name}, ${speeds.map((one) => one.toLocaleString('en-US')).join(' or ')} GB/s`;

/**
 * Finds the Macs that set the pace of a placement with unequal Macs: memory bandwidth limits generation, and all wait
 * for the slowest Mac. Returns undefined if all Macs are equally fast, if a model is unknown, or if the bandwidth
 * ranges of the models overlap.
 *
 * @param macs each Mac with its `hw.model`
 * @returns the slowest Macs, and one or two sentences that compare their memory bandwidth with the fastest Mac's
 */
export function paceOf(macs: readonly { readonly name: string; readonly model: string }[]) {
  const known = macs.flatMap(({ name, model }) => {
    const mac = macModel(model);
    const speeds = mac?.memoryGigabytesPerSecond ?? [];
    return mac === undefined ? [] : [{ name, mac, least: Math.min(...speeds), most: Math.max(...speeds) }];
  });
  const [slowest] = known.toSorted((a, b) => a.most - b.most);
  const [fast] = known.toSorted((a, b) => b.least - a.least);
  if (known.length < macs.length || slowest === undefined || fast === undefined || slowest.most >= fast.least) {
    return undefined;
  }
  const slow = known.filter(({ least: own, most: top }) => own <= slowest.most && top < fast.least);
  const names = everyNodeText(slow.map(({ name }) => name));
  const isCertain = slow.every(({ least: own, most: top }) => own === slowest.least && top === slowest.most);
  const who = slow.length === 1 ? `${names} sets` : isCertain ? `${names} set` : `One of ${names} sets`;
  const detail = `${who} the pace (${speedOf(slowest.mac)} of memory bandwidth). ${fast.name} could be faster (${speedOf(fast.mac)}).`;
  return { slowest: slow.map(({ name }) => name), detail };
}

/** One Mac with an invented name. */
interface Mac {
  readonly name: NodeName;
  readonly model: string;
  /** Its receptacles in the order in which they get cables; receptacles that should stay empty come last. */
  readonly receptacles: readonly number[];
  readonly carefulCount: number;
}

/** Macs of a model in the table. */
interface KnownCount extends MacCount {
  readonly mac: MacModel;
}

type Pair = readonly [Mac, Mac];

/**
 * Finds how these Macs can be cabled: the largest full mesh and a ring, each with every cable by receptacle. Macs with
 * Thunderbolt 4 never take part. Unknown models are skipped, because the caller refuses them first.
 */
export function fitMesh(wanted: readonly MacCount[]): MeshFit {
  const known = joinModels(wanted);
  const macs = nameMacs(known);
  const size = largestMesh(macs, ({ receptacles }) => receptacles.length);
  const chosen = chooseMacs(macs, size);
  const mesh = size === 0 ? undefined : shapeOf(chosen, everyPair(chosen), known, chosen.length - 1);
  const ring = macs.length < 3 ? undefined : shapeOf(macs, ringPairs(macs), known, 2);
  return {
    models: known.map(fitModel),
    asked: known.reduce((sum, { count }) => sum + count, 0),
    carefulSize: largestMesh(macs, ({ carefulCount }) => carefulCount),
    ...given({ mesh, ring }),
  };
}

function joinModels(wanted: readonly MacCount[]): readonly KnownCount[] {
  const counts = new Map<string, number>();
  for (const { model, count } of wanted) counts.set(model, (counts.get(model) ?? 0) + count);
  return [...counts].flatMap(([model, count]) => {
    const mac = macModel(model);
    return mac === undefined ? [] : [{ model, count, mac }];
  });
}

function fitModel({ model, count, mac }: KnownCount): FitModel {
  const { name, thunderbolt, receptacles, avoid: doubtful } = mac;
  return { model, count, name, thunderbolt, receptacles, doubtful };
}

/** The base of invented names: `studio`, `mini`, `macbook`. */
const shortName = ({ name }: MacModel): string =>
  name.startsWith('MacBook') ? 'macbook' : (name.split(' ')[1] ?? 'mac').toLowerCase();

/** Every Mac that supports RDMA, numbered per kind. */
function nameMacs(known: readonly KnownCount[]): readonly Mac[] {
  const numbers = new Map<string, number>();
  return known.flatMap(({ model, count, mac }) =>
    Array.from({ length: mac.thunderbolt === 5 ? count : 0 }, (): Mac => {
      const short = shortName(mac);
      const number = (numbers.get(short) ?? 0) + 1;
      numbers.set(short, number);
      const all = Array.from({ length: mac.receptacles }, (_, index) => index + 1);
      const careful = all.filter((one) => !mac.avoid.includes(one));
      return {
        name: nodeName(`${short}-${number}`),
        model,
        receptacles: [...careful, ...mac.avoid],
        carefulCount: careful.length,
      };
    }),
  );
}

/** The largest number of Macs that each have a receptacle for every other Mac; 0 if it is less than two. */
function largestMesh(macs: readonly Mac[], roomOf: (mac: Mac) => number): number {
  const rooms = macs.map(roomOf).toSorted((a, b) => b - a);
  const size = rooms.filter((room, index) => room >= index).length;
  return size < 2 ? 0 : size;
}

/** The Macs with the most recommended receptacles, in the requested order. */
function chooseMacs(macs: readonly Mac[], size: number): readonly Mac[] {
  const able = macs.filter(({ receptacles }) => receptacles.length >= size - 1);
  const chosen = able.toSorted((a, b) => b.carefulCount - a.carefulCount).slice(0, size);
  return macs.filter((mac) => chosen.includes(mac));
}

const ringPairs = (macs: readonly Mac[]): readonly Pair[] =>
  macs.flatMap((mac, index): readonly Pair[] => {
    const next = macs[(index + 1) % macs.length];
    return next === undefined ? [] : [[mac, next]];
  });

/** Each cable uses the next receptacle at both of its ends. */
function shapeOf(
  macs: readonly Mac[],
  pairs: readonly Pair[],
  known: readonly KnownCount[],
  receptaclesEach: number,
): FitShape {
  const taken = new Map<Mac, number>();
  const nextEnd = (mac: Mac): LinkEnd => {
    const index = taken.get(mac) ?? 0;
    taken.set(mac, index + 1);
    return { node: mac.name, receptacle: mac.receptacles[index] ?? 0 };
  };
  const links = pairs.map(([a, b]): Link['ends'] => [nextEnd(a), nextEnd(b)]);
  const counts = known.map(({ model }) => ({ model, count: macs.filter((mac) => mac.model === model).length }));
  const doubtful = macs.filter(({ carefulCount }) => carefulCount < receptaclesEach).map(({ model }) => model);
  return {
    macs: counts.filter(({ count }) => count > 0),
    size: macs.length,
    receptaclesEach,
    links,
    doubtfulModels: [...new Set(doubtful)],
  };
}

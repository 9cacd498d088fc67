import type { MacModel } from '../../model/macs/mac-model.ts';
import { macModel } from '../../model/macs/mac-models.ts';

/** A Mac of a placement with its `hw.model`. */
interface PacedMac {
  readonly name: string;
  readonly model: string;
}

/** The Macs that the others of their placement wait for. */
interface Pace {
  readonly slowest: readonly string[];
  /** Which Macs set the pace, and how fast the memory of these and of the fastest is. */
  readonly detail: string;
}

const speedOf = ({ name, memoryGigabytesPerSecond: speeds }: MacModel): string =>
  `${name}, ${speeds.map((one) => one.toLocaleString('en-US')).join(' or ')} GB/s`;

/**
 * Who sets the pace where the Macs of a placement are unequal: tokens are made at the speed of the memory, and every
 * layer waits for the Mac that finishes last. Undefined where the Macs are equal, where a model is not in the table, or
 * where the variants of two chips overlap.
 */
export function paceOf(macs: readonly PacedMac[]): Pace | undefined {
  const known = macs.flatMap(({ name, model }) => {
    const mac = macModel(model);
    return mac === undefined ? [] : [{ name, mac, least: least(mac), most: most(mac) }];
  });
  const [slowest] = known.toSorted((a, b) => a.most - b.most);
  const [fast] = known.toSorted((a, b) => b.least - a.least);
  if (known.length < macs.length || slowest === undefined || fast === undefined || slowest.most >= fast.least) {
    return undefined;
  }
  const slow = known.filter(({ least: own, most: top }) => own <= slowest.most && top < fast.least);
  const names = slow.map(({ name }) => name).join(', ');
  const isCertain = slow.every(({ least: own, most: top }) => own === slowest.least && top === slowest.most);
  const who = slow.length === 1 ? `${names} sets` : isCertain ? `${names} set` : `One of ${names} sets`;
  const detail = `${who} the pace (${speedOf(slowest.mac)} of memory bandwidth). ${fast.name} could be faster (${speedOf(fast.mac)}).`;
  return { slowest: slow.map(({ name }) => name), detail };
}

const least = ({ memoryGigabytesPerSecond: speeds }: MacModel): number => Math.min(...speeds);
const most = ({ memoryGigabytesPerSecond: speeds }: MacModel): number => Math.max(...speeds);

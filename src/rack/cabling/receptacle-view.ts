import { compareText } from '../../model/lists.ts';
import { type CaseFace, type CasePlace, macModel } from '../../model/macs.ts';
import type { LinkEnd } from '../../model/node.ts';

export function caseFaces(model: string): readonly CaseFace[] | undefined {
  const faces = macModel(model)?.faces ?? [];
  return faces.length === 0 ? undefined : faces;
}

export const casePlaces = (model: string): readonly CasePlace[] | undefined => macModel(model)?.places;

/** A receptacle's place, for a person at the rack: `back, next to Ethernet`. Undefined if unknown. */
export const placeWords = (model: string | undefined, receptacle: number): string | undefined =>
  model === undefined ? undefined : casePlaces(model)?.find((place) => place.receptacle === receptacle)?.words;

/** The faces in words: `4 on the back, 2 on the front`. */
export const facesWords = (faces: readonly CaseFace[]): string =>
  faces.map(({ side, sockets }) => `${sockets} on the ${side}`).join(', ');

export type SeenPeer =
  | {
      readonly kind: 'node';
      /** The receptacle of the fleet that owns the peer's domain UUID. */
      readonly end: LinkEnd;
      /** The number of docks or hubs in between; 0 for a direct cable. */
      readonly hubsBetween: number;
      /** True if that receptacle also sees ours. Only then is there a cable. */
      readonly isMutual: boolean;
    }
  | {
      /**
       * `foreign`: a Mac that is not in the file. Every node of the fleet was observed, and none owns the domain UUID.
       * `unidentified`: a Mac that may be in the file. No observed node owns the domain UUID.
       * `ambiguous`: two nodes answer as the same Mac, so the owner of the bus is unknown.
       */
      readonly kind: 'foreign' | 'unidentified' | 'ambiguous';
      readonly model: string;
      readonly hubsBetween: number;
    };

export interface ReceptacleView {
  readonly at: LinkEnd;
  /**
   * `unknown`: not observed. `absent`: the Mac has no such receptacle. `empty`: nothing is plugged in. `silent`: something
   * is plugged in, but nothing answers. `device`: only docks, hubs or disks. `peer`: at least one Mac.
   */
  readonly kind: 'unknown' | 'absent' | 'empty' | 'silent' | 'device' | 'peer';
  /** The cable's speed in bits per second, if something is connected and macOS reports the speed. */
  readonly linkBitsPerSecond?: number;
  /** Sorted by kind, then by receptacle or model; empty unless `kind` is `peer`. */
  readonly peers: readonly SeenPeer[];
  readonly deviceNames: readonly string[];
}

export const isSameEnd = (a: LinkEnd, b: LinkEnd): boolean => a.node === b.node && a.receptacle === b.receptacle;

/** The order in which ends are printed: by node name, then by receptacle number. */
export const compareEnds = (a: LinkEnd, b: LinkEnd): number =>
  compareText(a.node, b.node) || a.receptacle - b.receptacle;

/** The two ends in printing order, so that a pair reads the same from both sides. */
export const orderedPair = (a: LinkEnd, b: LinkEnd): readonly [LinkEnd, LinkEnd] =>
  compareEnds(a, b) <= 0 ? [a, b] : [b, a];

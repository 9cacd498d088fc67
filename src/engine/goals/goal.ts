import type { NodeName } from '../../model/node.ts';
import type { HoldWish } from '../../rack/hold/resource.ts';
import type { DrainWish } from '../../rack/placement/endpoint/drain.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import type { UninstallWish } from '../../rack/uninstall/uninstall-properties.ts';

/** What a plan is to bring about. */
export type Goal =
  /** What the file wants; only resources of these kinds where `only` is there. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** These placements stopped where they run, whatever the file says of their state; with `near` only those on such a node. */
  | {
      readonly kind: 'stop';
      readonly placements: readonly string[];
      readonly near?: readonly NodeName[];
      /** Those that are started again afterwards: what answers is not stopped where that start would be refused. */
      readonly back?: readonly string[];
    }
  /** The same started. */
  | {
      readonly kind: 'start';
      readonly placements: readonly string[];
      /** On their fallback, or on their own nodes unless they run on it; absent for where they ran last. */
      readonly layout?: 'fallback' | 'own';
      readonly near?: readonly NodeName[];
    }
  /** Nobody let in to these placements any more, and nobody inside; what runs goes on. */
  | ({ readonly kind: 'drain' } & DrainWish)
  /** These Macs restarted, or switched off; `back` as for a stop. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[]; readonly back?: readonly string[] }
  /** These Macs left alone from now on, or no longer. */
  | ({ readonly kind: 'hold' } & HoldWish)
  /** Nothing of us left on these Macs; the fleet is that of `fleetWithout`, and `placements` those that it stops. */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

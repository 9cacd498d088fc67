import type { NodeName } from '../model/node.ts';
import type { ResourceKind } from '../resources/resource.ts';
import type { UninstallWish } from '../resources/uninstall-properties.ts';

/** What a plan is to bring about. */
export type Goal =
  /** What the file wants; only resources of these kinds where `only` is there. */
  | { readonly kind: 'converge'; readonly only?: readonly ResourceKind[] }
  /** These placements stopped, or started, whatever the file says of their state. */
  | { readonly kind: 'stop' | 'start'; readonly placements: readonly string[] }
  /** These Macs restarted, or switched off. */
  | { readonly kind: 'reboot' | 'shutdown'; readonly nodes: readonly NodeName[] }
  /** Nothing of us left on these Macs; the fleet is that of `fleetWithout`, and `placements` those that it stops. */
  | ({ readonly kind: 'uninstall'; readonly placements: readonly string[] } & UninstallWish);

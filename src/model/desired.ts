import type { Link, LinkEnd } from './link.ts';
import type { NodeName } from './node.ts';

/** One node as the file wants it; what is absent is left as it is. */
export interface DesiredNode {
  readonly name: NodeName;
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  readonly identityFile?: string;
  readonly hardware: {
    readonly model?: string;
    readonly memoryBytes?: number;
    readonly serial?: string;
  };
  readonly labels: Readonly<Record<string, string>>;
}

/** An IPv4 network; `prefixLength` 0 to 32. */
export interface Ipv4Network {
  readonly address: string;
  readonly prefixLength: number;
}

/** How much memory the GPU may wire. */
export type DesiredWiredLimit =
  | { readonly kind: 'auto' }
  | { readonly kind: 'default' }
  | { readonly kind: 'bytes'; readonly bytes: number };

/** The whole file with its defaults filled in: what every later stage compares the observation with. */
export interface DesiredFleet {
  readonly name: string;
  /** Sorted by name. */
  readonly nodes: readonly DesiredNode[];
  readonly macos: { readonly version?: string; readonly accept?: string };
  readonly power: {
    /** 0 is never. */
    readonly sleepMinutes?: number;
    readonly restartAfterPowerLoss?: boolean;
  };
  readonly system: {
    readonly wiredLimit?: DesiredWiredLimit;
    readonly fileVault: 'any' | 'enabled' | 'disabled';
  };
  readonly thunderbolt: {
    /** `remove` unless the file says otherwise or has no `thunderbolt` section at all. */
    readonly bridge: 'remove' | 'keep';
    readonly rdma: 'auto' | 'required';
    readonly pool?: Ipv4Network;
    /** Every receptacle to be warned about: the file's own and the product's. */
    readonly avoid: readonly LinkEnd[];
    readonly links: readonly Link[];
  };
}

import { addressTowards } from '../../../drivers/contract/addresses.ts';
import type { HeldBytes } from '../../../drivers/contract/driver.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeFit } from '../../../model/fit.ts';
import type { NodeName } from '../../../model/node.ts';

/** What one node holds of a model, as a log says it, beside what was predicted. */
export interface HeldMemory {
  readonly node: NodeName;
  /** In bytes, as the log counts them: to two decimals of a MiB. */
  readonly held: Pick<HeldBytes, 'weights' | 'cache' | 'compute'>;
  /** By the shape of the model; absent where that is not known. */
  readonly predicted?: { readonly weights: number; readonly cache: number };
}

/** A placement whose leader was heard. */
export interface HeardPlacement {
  readonly placement: Pick<DesiredPlacement, 'name' | 'nodes'>;
  /** By the log of its leader. */
  readonly held: readonly HeldBytes[];
}

/** What each node of a placement holds, in rank order: a worker is told by its address on the cable to the leader. */
export function heldMemory(
  { placement: { name, nodes }, held }: HeardPlacement,
  { thunderbolt }: Pick<DesiredFleet, 'thunderbolt'>,
  fits: readonly NodeFit[],
): readonly HeldMemory[] {
  const [leader] = nodes;
  if (leader === undefined) return [];
  return nodes.flatMap((node): readonly HeldMemory[] => {
    const address = node === leader ? undefined : addressTowards(thunderbolt, node, leader);
    // A worker whose address nobody knows is none of those that the log names.
    const own = node !== leader && address === undefined ? undefined : held.find((one) => one.address === address);
    if (own === undefined) return [];
    const { weights, cache, compute } = own;
    const need = fits.find((fit) => fit.node === node)?.shares.find(({ placement }) => placement === name)?.need;
    return [
      {
        node,
        held: { weights, cache, compute },
        ...(need === undefined ? {} : { predicted: { weights: need.weights, cache: need.cache } }),
      },
    ];
  });
}

/** A log rounds every buffer; a device has some of them. */
const roundingBytes = 65_536;

/** Whether a node holds what was predicted, as far as a log can say it. */
export const isAsPredicted = ({ held, predicted }: HeldMemory): boolean =>
  predicted !== undefined &&
  Math.abs(held.weights - predicted.weights) <= roundingBytes &&
  Math.abs(held.cache - predicted.cache) <= roundingBytes;

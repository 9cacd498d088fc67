import type { LinkEnd } from '../../model/link.ts';
import type { NodeName } from '../../model/node.ts';

/** What macOS calls things in the observation that a start is planned from; undefined where nobody could see it. */
export interface SeenNames {
  /** The RDMA device of a receptacle, such as `rdma_en5`. */
  readonly device: (end: LinkEnd) => string | undefined;
  /** The address of a node in the office network. */
  readonly lan: (node: NodeName) => string | undefined;
}

/** Names that are the same after every restart of a Mac: what a placement is does not change with them. */
export const lastingNames: SeenNames = {
  device: ({ receptacle }) => `receptacle-${receptacle}`,
  lan: (node) => `lan-${node}`,
};

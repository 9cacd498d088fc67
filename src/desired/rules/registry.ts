import { artifactRules } from './artifacts.ts';
import { endpointRules } from './endpoints.ts';
import { linkRules } from './links.ts';
import { macRules } from './macs.ts';
import { nodeRules } from './nodes.ts';
import { outletRules } from './outlets.ts';
import { placementRules } from './placements.ts';
import { replicaRules } from './replicas.ts';
import type { FileRule } from './rule.ts';
import { updateRules } from './updates.ts';

/** All rules. If two rules report the same place, only the earlier rule's finding is shown. */
export const rules: readonly FileRule[] = [
  ...nodeRules,
  ...linkRules,
  ...macRules,
  ...outletRules,
  ...updateRules,
  ...replicaRules,
  ...placementRules,
  ...endpointRules,
  ...artifactRules,
];

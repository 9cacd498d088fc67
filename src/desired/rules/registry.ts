import { avoidedReceptacle } from './links/avoided-receptacle.ts';
import { duplicateLink } from './links/duplicate-link.ts';
import { linkToItself } from './links/link-to-itself.ts';
import { noRdmaModel } from './links/no-rdma-model.ts';
import { noSuchReceptacle } from './links/no-such-receptacle.ts';
import { pool } from './links/pool.ts';
import { receptacleUsedTwice } from './links/receptacle-used-twice.ts';
import { accounts } from './nodes/accounts.ts';
import { badAddress } from './nodes/bad-address.ts';
import { badRange } from './nodes/bad-range.ts';
import { duplicateAddress } from './nodes/duplicate-address.ts';
import { duplicateNode } from './nodes/duplicate-node.ts';
import { loginUnderFileVault } from './nodes/login-under-filevault.ts';
import { modelNeedsNewer } from './nodes/model-needs-newer.ts';
import { outsideAccept } from './nodes/outside-accept.ts';
import { secretProgram } from './nodes/secret-program.ts';
import { unknownModel } from './nodes/unknown-model.ts';
import { unknownNode } from './nodes/unknown-node.ts';
import { versionNotText } from './nodes/version-not-text.ts';
import { wiredLimitTooLarge } from './nodes/wired-limit-too-large.ts';
import { endpointOfRanks } from './placements/endpoint-of-ranks.ts';
import { endpointTaken } from './placements/endpoint-taken.ts';
import { fallbackSameNodes } from './placements/fallback-same-nodes.ts';
import { innerPort } from './placements/inner-port.ts';
import { keyTwice } from './placements/key-twice.ts';
import { meshNotComplete } from './placements/mesh-not-complete.ts';
import { needsAddressing } from './placements/needs-addressing.ts';
import { nodeTwice } from './placements/node-twice.ts';
import { placementNoRdma } from './placements/placement-no-rdma.ts';
import { publishedEndpoint } from './placements/published-endpoint.ts';
import { sameSlot } from './placements/same-slot.ts';
import { shardingMissing } from './placements/sharding-missing.ts';
import { sharesDiffer } from './placements/shares-differ.ts';
import { unequalMacs } from './placements/unequal-macs.ts';
import { unknownInPlacement } from './placements/unknown-in-placement.ts';
import type { Rule } from './rule.ts';
import { filesMissing } from './runtimes/files-missing.ts';
import { keyOfDriver } from './runtimes/key-of-driver.ts';
import { pathCollision } from './runtimes/path-collision.ts';
import { plainHttp } from './runtimes/plain-http.ts';
import { programNotFound } from './runtimes/program-not-found.ts';
import { unknownField } from './runtimes/unknown-field.ts';

/** Every meaning rule. Where two find something at the same place, the earlier one is shown. */
export const rules: readonly Rule[] = [
  duplicateNode,
  duplicateAddress,
  badAddress,
  unknownNode,
  linkToItself,
  duplicateLink,
  receptacleUsedTwice,
  noSuchReceptacle,
  avoidedReceptacle,
  noRdmaModel,
  unknownModel,
  versionNotText,
  badRange,
  outsideAccept,
  modelNeedsNewer,
  pool,
  secretProgram,
  wiredLimitTooLarge,
  loginUnderFileVault,
  accounts,
  unknownInPlacement,
  nodeTwice,
  fallbackSameNodes,
  shardingMissing,
  sharesDiffer,
  needsAddressing,
  meshNotComplete,
  placementNoRdma,
  unequalMacs,
  endpointTaken,
  endpointOfRanks,
  innerPort,
  publishedEndpoint,
  keyTwice,
  sameSlot,
  keyOfDriver,
  unknownField,
  programNotFound,
  filesMissing,
  plainHttp,
  pathCollision,
];

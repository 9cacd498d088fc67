import { accounts } from './accounts.ts';
import { avoidedReceptacle } from './avoided-receptacle.ts';
import { badAddress } from './bad-address.ts';
import { badRange } from './bad-range.ts';
import { duplicateAddress } from './duplicate-address.ts';
import { duplicateLink } from './duplicate-link.ts';
import { duplicateNode } from './duplicate-node.ts';
import { endpointOfRanks } from './endpoint-of-ranks.ts';
import { endpointTaken } from './endpoint-taken.ts';
import { fallbackSameNodes } from './fallback-same-nodes.ts';
import { filesMissing } from './files-missing.ts';
import { innerPort } from './inner-port.ts';
import { keyOfDriver } from './key-of-driver.ts';
import { keyTwice } from './key-twice.ts';
import { linkToItself } from './link-to-itself.ts';
import { loginUnderFileVault } from './login-under-filevault.ts';
import { meshNotComplete } from './mesh-not-complete.ts';
import { modelNeedsNewer } from './model-needs-newer.ts';
import { needsAddressing } from './needs-addressing.ts';
import { noRdmaModel } from './no-rdma-model.ts';
import { noSuchReceptacle } from './no-such-receptacle.ts';
import { nodeTwice } from './node-twice.ts';
import { outsideAccept } from './outside-accept.ts';
import { pathCollision } from './path-collision.ts';
import { placementNoRdma } from './placement-no-rdma.ts';
import { plainHttp } from './plain-http.ts';
import { pool } from './pool.ts';
import { programNotFound } from './program-not-found.ts';
import { publishedEndpoint } from './published-endpoint.ts';
import { receptacleUsedTwice } from './receptacle-used-twice.ts';
import type { Rule } from './rule.ts';
import { sameSlot } from './same-slot.ts';
import { secretProgram } from './secret-program.ts';
import { shardingMissing } from './sharding-missing.ts';
import { sharesDiffer } from './shares-differ.ts';
import { unequalMacs } from './unequal-macs.ts';
import { unknownField } from './unknown-field.ts';
import { unknownInPlacement } from './unknown-in-placement.ts';
import { unknownModel } from './unknown-model.ts';
import { unknownNode } from './unknown-node.ts';
import { versionNotText } from './version-not-text.ts';
import { wiredLimitTooLarge } from './wired-limit-too-large.ts';

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

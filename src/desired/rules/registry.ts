import { avoidedReceptacle } from './avoided-receptacle.ts';
import { badAddress } from './bad-address.ts';
import { badRange } from './bad-range.ts';
import { duplicateAddress } from './duplicate-address.ts';
import { duplicateLink } from './duplicate-link.ts';
import { duplicateNode } from './duplicate-node.ts';
import { endpointTaken } from './endpoint-taken.ts';
import { filesMissing } from './files-missing.ts';
import { linkToItself } from './link-to-itself.ts';
import { loginUnderFileVault } from './login-under-filevault.ts';
import { meshNotComplete } from './mesh-not-complete.ts';
import { needsAddressing } from './needs-addressing.ts';
import { noRdmaModel } from './no-rdma-model.ts';
import { noSuchReceptacle } from './no-such-receptacle.ts';
import { nodeTwice } from './node-twice.ts';
import { outsideAccept } from './outside-accept.ts';
import { pathCollision } from './path-collision.ts';
import { placementNoRdma } from './placement-no-rdma.ts';
import { pool } from './pool.ts';
import { programNotFound } from './program-not-found.ts';
import { receptacleUsedTwice } from './receptacle-used-twice.ts';
import type { Rule } from './rule.ts';
import { sameSlot } from './same-slot.ts';
import { shardingMissing } from './sharding-missing.ts';
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
  pool,
  wiredLimitTooLarge,
  loginUnderFileVault,
  unknownInPlacement,
  nodeTwice,
  shardingMissing,
  needsAddressing,
  meshNotComplete,
  placementNoRdma,
  endpointTaken,
  sameSlot,
  unknownField,
  programNotFound,
  filesMissing,
  pathCollision,
];

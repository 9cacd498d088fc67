import { avoidedReceptacle } from './avoided-receptacle.ts';
import { badAddress } from './bad-address.ts';
import { badRange } from './bad-range.ts';
import { duplicateAddress } from './duplicate-address.ts';
import { duplicateLink } from './duplicate-link.ts';
import { duplicateNode } from './duplicate-node.ts';
import { linkToItself } from './link-to-itself.ts';
import { noRdmaModel } from './no-rdma-model.ts';
import { noSuchReceptacle } from './no-such-receptacle.ts';
import { outsideAccept } from './outside-accept.ts';
import { pool } from './pool.ts';
import { receptacleUsedTwice } from './receptacle-used-twice.ts';
import type { Rule } from './rule.ts';
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
];

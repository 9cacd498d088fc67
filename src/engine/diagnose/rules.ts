import type { Code } from '../../diagnostics/code-entry.ts';
import { fullDiskAccess } from '../../rack/access/full-disk-access-rule.ts';
import { sudo } from '../../rack/access/sudo-rule.ts';
import { accounts } from '../../rack/accounts/rule.ts';
import { runsAsLogin } from '../../rack/accounts/runs-as-login-rule.ts';
import { cableAddresses } from '../../rack/addresses/cable-addresses-rule.ts';
import { poolOverlap } from '../../rack/addresses/pool-overlap-rule.ts';
import { disk } from '../../rack/boot/disk-rule.ts';
import { panics } from '../../rack/boot/panics-rule.ts';
import { bridgeLoop } from '../../rack/bridge/bridge-loop-rule.ts';
import { bridge } from '../../rack/bridge/bridge-rule.ts';
import { madeBridgesRule } from '../../rack/bridge/made-bridges-rule.ts';
import { cables } from '../../rack/cables/cables-rule.ts';
import { surplus } from '../../rack/cables/surplus-rule.ts';
import { clock } from '../../rack/clock/rule.ts';
import type { DefinedRule, RuleCode } from '../../rack/define-rule.ts';
import { filevault } from '../../rack/filevault/rule.ts';
import { foreignDaemons } from '../../rack/foreign-daemon/rule.ts';
import { holds } from '../../rack/hold/rule.ts';
import { sameMac } from '../../rack/identity/same-mac-rule.ts';
import { unequalMacs } from '../../rack/identity/unequal-macs-rule.ts';
import { unknownModel } from '../../rack/identity/unknown-model-rule.ts';
import { wrongMac } from '../../rack/identity/wrong-mac-rule.ts';
import { macosAccept } from '../../rack/macos/accept-rule.ts';
import { macosBuilds } from '../../rack/macos/builds-rule.ts';
import { macosVersions } from '../../rack/macos/versions-rule.ts';
import { macosWish } from '../../rack/macos/wish-rule.ts';
import { wiredLimit } from '../../rack/memory/rule.ts';
import { serviceOrder } from '../../rack/network/service-order-rule.ts';
import { unconfirmedChange } from '../../rack/network/transaction/rule.ts';
import { rdmaKernelRule } from '../../rack/rdma/kernel-rule.ts';
import { rdmaNode } from '../../rack/rdma/node-rule.ts';
import { otherRdmaDevices } from '../../rack/rdma/other-devices-rule.ts';
import { rdmaReceptacles } from '../../rack/rdma/receptacles-rule.ts';
import type { Rule } from '../../rack/rule.ts';
import { backgroundServices } from '../../rack/settings/background-services.ts';
import { settings } from '../../rack/settings/settings.ts';
import { unknownFactsRule } from './unknown-facts.ts';

/** Rules with codes of their own. */
const defined: readonly DefinedRule[] = [...settings.filter((one) => 'rule' in one), backgroundServices];

/** The codes of those. */
export const definedCodes: Readonly<Record<string, RuleCode & Code>> = Object.assign(
  {},
  ...defined.map(({ codes }) => codes),
);

/** Every rule there is. A new one is one file and one line here, or above. */
export const rules: readonly Rule[] = [
  wrongMac,
  sameMac,
  unknownModel,
  macosAccept,
  macosVersions,
  macosBuilds,
  macosWish,
  cables,
  surplus,
  foreignDaemons,
  bridge,
  madeBridgesRule,
  bridgeLoop,
  rdmaNode,
  rdmaKernelRule,
  rdmaReceptacles,
  poolOverlap,
  cableAddresses,
  serviceOrder,
  unconfirmedChange,
  fullDiskAccess,
  wiredLimit,
  filevault,
  panics,
  otherRdmaDevices,
  ...defined.map(({ rule }) => rule),
  sudo,
  holds,
  accounts,
  runsAsLogin,
  clock,
  disk,
  unequalMacs,
  unknownFactsRule,
];

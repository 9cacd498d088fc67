import type { Rule } from './rule.ts';
import { accounts } from './rules/accounts.ts';
import { automaticLogin } from './rules/automatic-login.ts';
import { backgroundServices } from './rules/background-services.ts';
import { bridge } from './rules/bridge.ts';
import { bridgeLoop } from './rules/bridge-loop.ts';
import { cableAddresses } from './rules/cable-addresses.ts';
import { cables } from './rules/cables.ts';
import { clock } from './rules/clock.ts';
import { disk } from './rules/disk.ts';
import { filevault } from './rules/filevault.ts';
import { firewall } from './rules/firewall.ts';
import { foreignDaemons } from './rules/foreign-daemons.ts';
import { fullDiskAccess } from './rules/full-disk-access.ts';
import { holds } from './rules/holds.ts';
import { macosAccept } from './rules/macos-accept.ts';
import { macosBuilds } from './rules/macos-builds.ts';
import { macosVersions } from './rules/macos-versions.ts';
import { macosWish } from './rules/macos-wish.ts';
import { madeBridgesRule } from './rules/made-bridges.ts';
import { names } from './rules/names.ts';
import { otherRdmaDevices } from './rules/other-rdma-devices.ts';
import { panics } from './rules/panics.ts';
import { poolOverlap } from './rules/pool-overlap.ts';
import { power } from './rules/power.ts';
import { rdmaKernelRule } from './rules/rdma-kernel.ts';
import { rdmaNode } from './rules/rdma-node.ts';
import { rdmaReceptacles } from './rules/rdma-receptacles.ts';
import { remoteLogin } from './rules/remote-login.ts';
import { runsAsLogin } from './rules/runs-as-login.ts';
import { sameMac } from './rules/same-mac.ts';
import { screenSharing } from './rules/screen-sharing.ts';
import { serviceOrder } from './rules/service-order.ts';
import { sudo } from './rules/sudo.ts';
import { surplus } from './rules/surplus.ts';
import { unconfirmedChange } from './rules/unconfirmed-change.ts';
import { unequalMacs } from './rules/unequal-macs.ts';
import { unknownFactsRule } from './rules/unknown-facts.ts';
import { unknownModel } from './rules/unknown-model.ts';
import { updates } from './rules/updates.ts';
import { wiredLimit } from './rules/wired-limit.ts';
import { wrongMac } from './rules/wrong-mac.ts';

/** Every rule there is. A new one is one file and one line here. */
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
  power,
  wiredLimit,
  filevault,
  panics,
  otherRdmaDevices,
  updates,
  names,
  automaticLogin,
  screenSharing,
  remoteLogin,
  firewall,
  backgroundServices,
  sudo,
  holds,
  accounts,
  runsAsLogin,
  clock,
  disk,
  unequalMacs,
  unknownFactsRule,
];

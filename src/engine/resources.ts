import { sudo } from '../rack/access/resource.ts';
import { accounts } from '../rack/accounts/resource.ts';
import { linkAddress } from '../rack/addresses/resource.ts';
import { model } from '../rack/artifacts/models/model-resource.ts';
import { runtime } from '../rack/artifacts/runtimes/runtime-resource.ts';
import { staging } from '../rack/artifacts/staging-resource.ts';
import { thunderboltBridge } from '../rack/bridge/resource.ts';
import { thunderboltLink } from '../rack/cables/resource.ts';
import { clock } from '../rack/clock/resource.ts';
import { filevault } from '../rack/filevault/resource.ts';
import { foreignDaemon } from '../rack/foreign-daemon/resource.ts';
import { hold } from '../rack/hold/resource.ts';
import { identity } from '../rack/identity/resource.ts';
import { keeper } from '../rack/keeper/resource.ts';
import { macos } from '../rack/macos/resource.ts';
import { wiredLimit } from '../rack/memory/resource.ts';
import { serviceOrder } from '../rack/network/service-order-resource.ts';
import { transaction } from '../rack/network/transaction/resource.ts';
import { gateway } from '../rack/placement/endpoint/resource.ts';
import { placement } from '../rack/placement/resource.ts';
import { rdma } from '../rack/rdma/resource.ts';
import type { Resource } from '../rack/resource.ts';
import { photosAnalysis, spotlight, timeMachine } from '../rack/settings/background-services.ts';
import { firewall } from '../rack/settings/firewall.ts';
import { loginWindow } from '../rack/settings/login-window.ts';
import { names } from '../rack/settings/names.ts';
import { power } from '../rack/settings/power.ts';
import { screenSharing } from '../rack/settings/screen-sharing.ts';
import { updates } from '../rack/settings/updates.ts';

/** All resources, in the order in which apply changes a node. A new one needs one file and one line here. */
export const resources: readonly Resource[] = [
  hold,
  identity,
  macos,
  filevault,
  sudo,
  transaction,
  power.resource,
  updates.resource,
  names.resource,
  clock,
  accounts,
  loginWindow.resource,
  screenSharing.resource,
  firewall.resource,
  spotlight.resource,
  timeMachine.resource,
  photosAnalysis.resource,
  foreignDaemon,
  thunderboltBridge,
  rdma,
  thunderboltLink,
  linkAddress,
  serviceOrder,
  wiredLimit,
  keeper,
  staging,
  runtime,
  model,
  gateway,
  placement,
];

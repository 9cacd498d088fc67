import { accounts } from './accounts.ts';
import { photosAnalysis, spotlight, timeMachine } from './background-services.ts';
import { clock } from './clock.ts';
import { doorman } from './doorman.ts';
import { filevault } from './filevault.ts';
import { firewall } from './firewall.ts';
import { foreignDaemon } from './foreign-daemon.ts';
import { hold } from './hold.ts';
import { identity } from './identity.ts';
import { keeper } from './keeper.ts';
import { linkAddress } from './link-address.ts';
import { loginWindow } from './login-window.ts';
import { macos } from './macos.ts';
import { model } from './model.ts';
import { names } from './names.ts';
import { placement } from './placement.ts';
import { power } from './power.ts';
import { rdma } from './rdma.ts';
import type { Resource } from './resource.ts';
import { rollback } from './rollback.ts';
import { runtime } from './runtime.ts';
import { screenSharing } from './screen-sharing.ts';
import { serviceOrder } from './service-order.ts';
import { staging } from './staging.ts';
import { sudo } from './sudo.ts';
import { thunderboltBridge } from './thunderbolt-bridge.ts';
import { thunderboltLink } from './thunderbolt-link.ts';
import { updates } from './updates.ts';
import { wiredLimit } from './wired-limit.ts';

/** Every resource, in the order in which a node is brought to its desired state. A new one is one file and one line here. */
export const resources: readonly Resource[] = [
  hold,
  identity,
  macos,
  filevault,
  sudo,
  rollback,
  power,
  updates,
  names,
  clock,
  accounts,
  loginWindow,
  screenSharing,
  firewall,
  spotlight,
  timeMachine,
  photosAnalysis,
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
  doorman,
  placement,
];

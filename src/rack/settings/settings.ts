import { photosAnalysis, spotlight, timeMachine } from './background-services.ts';
import { firewall } from './firewall.ts';
import { loginWindow } from './login-window.ts';
import { names } from './names.ts';
import { power } from './power.ts';
import { remoteLogin } from './remote-login.ts';
import { screenSharing } from './screen-sharing.ts';
import { updates } from './updates.ts';

/**
 * Every macOS setting. The lists of facts, rules, codes, scripts and baseline values take their parts from here, in
 * this order. The order of resources is in `src/engine/resources.ts`.
 */
export const settings = [
  power,
  updates,
  names,
  loginWindow,
  screenSharing,
  remoteLogin,
  firewall,
  spotlight,
  timeMachine,
  photosAnalysis,
] as const;

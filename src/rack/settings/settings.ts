import { photosAnalysis, spotlight, timeMachine } from './background-services.ts';
import { firewall } from './firewall.ts';
import { loginWindow } from './login-window.ts';
import { names } from './names.ts';
import { power } from './power.ts';
import { remoteLogin } from './remote-login.ts';
import { screenSharing } from './screen-sharing.ts';
import { updates } from './updates.ts';

/** Every macOS setting, for the lists of facts, rules, codes, scripts and baseline values, in this order. */
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

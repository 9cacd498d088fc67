import type { SettingScripts } from '../model/node-script.ts';

/**
 * The kinds of resources that meshwright keeps; `src/engine/plan/resources.ts` has their order. `boot-session` and
 * `uninstall` are not in that list: only the goals that restart Macs or remove meshwright need them, never a file.
 */
export type ResourceKind =
  | keyof SettingScripts
  | 'hold'
  | 'identity'
  | 'macos'
  | 'filevault'
  | 'sudo'
  | 'accounts'
  | 'rollback'
  | 'clock'
  | 'login-window'
  | 'foreign-daemon'
  | 'thunderbolt-bridge'
  | 'rdma'
  | 'thunderbolt-link'
  | 'link-address'
  | 'service-order'
  | 'wired-limit'
  | 'keeper'
  | 'staging'
  | 'runtime'
  | 'model'
  | 'doorman'
  | 'placement'
  | 'boot-session'
  | 'uninstall';

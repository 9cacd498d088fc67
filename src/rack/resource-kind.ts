/**
 * The kinds of resources that meshwright manages; `src/engine/resources.ts` has their order. Each macOS setting
 * adds its kind where it is defined. `boot-session` and `uninstall` are not in that list: only the goals that restart
 * Macs or remove meshwright need them, never a file.
 */
export interface ResourceKinds {
  readonly hold: true;
  readonly identity: true;
  readonly macos: true;
  readonly filevault: true;
  readonly sudo: true;
  readonly accounts: true;
  readonly transaction: true;
  readonly clock: true;
  readonly 'foreign-daemon': true;
  readonly 'thunderbolt-bridge': true;
  readonly rdma: true;
  readonly 'thunderbolt-link': true;
  readonly 'link-address': true;
  readonly 'service-order': true;
  readonly 'wired-limit': true;
  readonly keeper: true;
  readonly staging: true;
  readonly runtime: true;
  readonly model: true;
  readonly gateway: true;
  readonly placement: true;
  readonly 'boot-session': true;
  readonly uninstall: true;
}

export type ResourceKind = keyof ResourceKinds;

/** A background service of somebody else that sets the network of cables by itself. */
export interface KnownDaemon {
  readonly label: string;
  /** Whose it is, for people. */
  readonly owner: string;
  /** What it does again and again, as the end of a sentence. */
  readonly habit: string;
}

/**
 * The network daemons that are known from public code; their plists lie in `/Library/LaunchDaemons` under their labels.
 *
 * @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift and uninstall-exo.sh; its issues 1158, 2007, 2067, 2279
 * @see SQCU/mesh: install.sh
 */
export const knownDaemons: readonly KnownDaemon[] = [
  {
    label: 'io.exo.networksetup',
    owner: 'exo',
    habit: 'takes the Thunderbolt Bridge away and puts every cable back on DHCP, at each start and every half an hour',
  },
  {
    label: 'io.mesh.fabric',
    owner: 'SQCU/mesh',
    habit: 'takes the Thunderbolt Bridge away and gives the cables addresses of its own, at each start',
  },
  {
    label: 'io.mesh.keeper',
    owner: 'SQCU/mesh',
    habit: 'gives the cables addresses of its own again, every minute',
  },
];

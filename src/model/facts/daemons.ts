import type { FactsForeignDaemons, FactsPanicReports, FactsServices } from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/**
 * One of our launchd services. `behind`: the placements that a gateway reports on its port, empty if it does not
 * listen. The last exit reads `0`, `1`, `78: EX_CONFIG`, `(never exited)`, or `Killed: 9` after a signal.
 */
export type LaunchdService = ItemOf<FactsServices>;

const neverExited = '(never exited)';

/** `exited (78: EX_CONFIG)`, `was ended by a signal (Killed: 9)`, or `exited` if launchd does not report how. */
export function exitWords(lastExit = neverExited): string {
  if (lastExit === neverExited) return 'exited';
  return /^[A-Z]/.test(lastExit) ? `was ended by a signal (${lastExit})` : `exited (${lastExit})`;
}

/** Prefix of rank labels; the placement's name follows. */
export const rankLabelPrefix = 'dev.meshwright.rank.';

/** The placement whose rank this service runs; undefined for other services. */
export const rankPlacement = ({ label }: LaunchdService): string | undefined =>
  label.startsWith(rankLabelPrefix) ? label.slice(rankLabelPrefix.length) : undefined;

/** A foreign daemon with a plist on the node. */
export type ForeignDaemon = ItemOf<FactsForeignDaemons>;

/** A kernel panic report. */
export type PanicReport = ItemOf<FactsPanicReports>;

/**
 * Foreign daemons known from public code that change the cables' network on their own. `habit` completes a sentence
 * about what the daemon does repeatedly. The plists are in `/Library/LaunchDaemons`, named after the labels.
 *
 * @see exo: app/EXO/EXO/Services/NetworkSetupHelper.swift and uninstall-exo.sh; its issues 1158, 2007, 2067, 2279
 * @see SQCU/mesh: install.sh
 */
export const knownDaemons = [
  {
    label: 'io.exo.networksetup',
    owner: 'exo',
    habit: 'removes the Thunderbolt Bridge and resets every cable to DHCP, at each start and every 30 minutes',
  },
  {
    label: 'io.mesh.fabric',
    owner: 'SQCU/mesh',
    habit: 'removes the Thunderbolt Bridge and sets its own cable addresses, at each start',
  },
  { label: 'io.mesh.keeper', owner: 'SQCU/mesh', habit: 'sets its own cable addresses again, every minute' },
];

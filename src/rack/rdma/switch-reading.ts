import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { subjectNodes } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../examination.ts';
import { hasRdmaInSettings } from '../macos/reading.ts';

/** The manual steps that switch RDMA on, with one visit to each Mac. */
export interface RdmaVisits {
  readonly nodes: readonly string[];
  /** The commands to type and the buttons to press, in order. */
  readonly steps: readonly Prose[];
}

/** The visits, grouped by the place of the switch. A list is absent if no Mac needs it. */
export interface RdmaSwitches {
  readonly recovery?: RdmaVisits;
  readonly systemSettings?: RdmaVisits;
}

/**
 * The steps at one Mac that switch RDMA on, in order. The first continues a sentence that names the Mac.
 *
 * @see Apple TN3205: `rdma_ctl enable` works only in Recovery, which only the power button opens
 */
export const recoveryKeys = {
  hold: 'hold the power button until "Loading startup options" appears.',
  open: 'Choose Options, then Continue. In the menu bar, choose Utilities > Terminal.',
  type: 'Type: rdma_ctl enable',
  leave: 'Apple menu > Restart',
} as const;

/**
 * The steps in System Settings, from macOS 27 on.
 *
 * @see WWDC26; dev7a/rdmalink RDMASwitch.swift: the pane; the switch takes effect after a restart
 */
export const settingsKeys = {
  open: 'System Settings > Privacy & Security > Developer Tools.',
  turn: 'Switch on RDMA over Thunderbolt.',
  leave: 'Then Apple menu > Restart.',
} as const;

const recoverySteps = (nodes: readonly string[]): readonly Prose[] => [
  prose`From this computer: ${meshwright('shutdown', ...nodes)}`,
  `At each Mac: ${recoveryKeys.hold}`,
  recoveryKeys.open,
  recoveryKeys.type,
  `${recoveryKeys.leave}. Continue with the next Mac while this one restarts.`,
  prose`From this computer, when all Macs are back: ${meshwright('doctor', ...nodes)}`,
];

const settingsSteps = (nodes: readonly string[]): readonly Prose[] => [
  `At each Mac: ${settingsKeys.open}`,
  settingsKeys.turn,
  prose`From this computer, when RDMA is on everywhere: ${meshwright('reboot', ...nodes)}`,
];

/** Lists where a person has to switch RDMA on. Each node's macOS decides the place: see `hasRdmaInSettings`. */
export function rdmaSwitches(
  troubles: readonly { readonly finding: Diagnostic; readonly stage: string }[],
  { nodes }: FleetObservation,
): RdmaSwitches {
  const due = troubles.filter(({ stage }) => stage === 'rdma-switch');
  const names = due.flatMap(({ finding }) => subjectNodes(finding.subject));
  const isInSettings = (name: string): boolean => hasRdmaInSettings(nodes[name]?.facts);
  const [here, there] = [names.filter((name) => !isInSettings(name)), names.filter(isInSettings)];
  return {
    ...(here.length === 0 ? {} : { recovery: { nodes: here, steps: recoverySteps(here) } }),
    ...(there.length === 0 ? {} : { systemSettings: { nodes: there, steps: settingsSteps(there) } }),
  };
}

import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { PlacementMember } from '../../../model/facts/fact-values.ts';
import type { NodeName } from '../../../model/node.ts';
import { meshwright } from '../../../model/text/command.ts';
import { type Prose, prose } from '../../../model/text/prose.ts';
import { bootSessionFact } from '../../boot/boot-session-fact.ts';
import { readValue } from '../../fact.ts';
import type { View } from '../../resource.ts';
import { placementsFact } from '../observed/fact.ts';

/**
 * What to try next for a placement that does not serve: another start, where none has failed since its Macs booted; then a
 * restart of Macs; then a person, where a start failed before that restart and after it.
 */
export type Rung = 'start' | 'reboot' | 'person';

/** What the nodes have kept of the last start of a placement in the boot session that still lasts. */
export interface StartHistory {
  readonly rung: Rung;
  /** Whether it gave no token though its ranks lived: before it was stopped, or when its start was given up. */
  readonly wasSilent: boolean;
  /** Whether its start failed and a program had ended by itself. */
  readonly hasExited: boolean;
}

/** The history of a placement; a node that was not seen, and a boot session that is over, add nothing to it. */
export function startHistory(
  { observation }: View,
  { name, nodes }: { readonly name: string; readonly nodes: readonly NodeName[] },
): StartHistory {
  const records = nodes.flatMap((node): readonly PlacementMember[] => {
    const facts = observation.nodes[node]?.facts;
    const session = readValue(facts, bootSessionFact);
    const members = session === undefined ? undefined : readValue(facts, placementsFact);
    return members?.filter((one) => one.placement === name && one.startedIn === session?.uuid) ?? [];
  });
  const failed = records.filter(({ outcome }) => outcome === 'failed' || outcome === 'exited');
  const isAgain = failed.some(({ failedIn }) => failedIn !== undefined);
  return {
    rung: failed.length === 0 ? 'start' : isAgain ? 'person' : 'reboot',
    wasSilent: records.some(({ outcome }) => outcome === 'failed' || outcome === 'hung'),
    hasExited: failed.some(({ outcome }) => outcome === 'exited'),
  };
}

/** What a cure on the ladder is about. */
export interface Cure {
  readonly placement: string;
  /** The Macs whose restart is the second rung. */
  readonly nodes: readonly NodeName[];
  /** Those Macs in words: `the Macs at both ends`. */
  readonly macs: string;
  /** What a person does when a restart has not helped, in whole sentences. */
  readonly byHand: Prose;
}

/** The hint of one rung: never again what has failed since these Macs booted. */
export function ladderHint(rung: Rung, { placement, nodes, macs, byHand }: Cure): Prose {
  const reboot = meshwright('reboot', ...nodes);
  switch (rung) {
    case 'start':
      return withCommands(`Try a start first; if that does not help, restart ${macs}`, [
        meshwright('restart', placement),
        reboot,
      ]);
    case 'reboot':
      return withCommands(`Its last start failed, so another start will not help. Restart ${macs}`, [reboot]);
    case 'person':
      return prose`Starts failed before and after a restart of ${macs}. ${byHand}`;
  }
}

import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import { isSpent, launchBudget } from '../mesh/launch-budget.ts';
import type { NodeName } from '../model/node.ts';
import type { Facts } from '../model/observation.ts';

/** Ranks of somebody's own program that are to be started. */
export interface LaunchAsked {
  readonly nodes: readonly NodeName[];
  /** Whether they make a group of JACCL, which takes of the devices as a start of a placement does. */
  readonly isOverRdma: boolean;
}

/**
 * Macs on which a placement would not be started before they were restarted, or of which nobody knows that: ranks of
 * one's own program are no better off there. Of a node that was not seen at all nothing is told here.
 */
export function launchRefusals(
  { nodes, isOverRdma }: LaunchAsked,
  observation: FleetObservation,
): readonly Diagnostic[] {
  return nodes.flatMap((node) => {
    const facts = observation.nodes[node]?.facts;
    if (facts === undefined || facts.hold.kind === 'unknown') return [];
    const why = [...markWords(facts), ...(isOverRdma ? budgetWords(facts) : [])];
    return why.map((words) =>
      diagnose('launch/needs-reboot', {
        subject: `node ${node}`,
        detail: `No rank is started, and nothing was stopped: ${node}: ${words}.`,
        hint: `Restart it, or leave it out: meshwright reboot ${node}`,
      }),
    );
  });
}

function markWords({ 'reboot-mark': marks }: Facts): readonly string[] {
  if (marks.kind === 'unknown') return ['nobody could see whether it needs a restart first'];
  return marks.value.map(
    ({ placement }) =>
      `a rank of ${escapeText(placement)} that was stopped there left something that only a restart ends`,
  );
}

function budgetWords(facts: Facts): readonly string[] {
  const budget = launchBudget(facts);
  if (budget.kind === 'unknown')
    return [`nobody knows whether its launch budget has room (${escapeText(budget.detail)})`];
  const { starts, limit } = budget.value;
  return isSpent(budget.value) ? [`it has seen ${starts} of ${limit} starts over RDMA since it booted`] : [];
}

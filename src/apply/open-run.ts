import type { Plan } from '../engine/plan/plan.ts';
import type { NodeCommand } from '../engine/playbooks/expand.ts';
import { type CommandReport, runCommands } from './run-commands.ts';
import type { RunOptions } from './run-options.ts';
import { createParts, isInterrupted, record } from './run-parts.ts';
import type { RunReport } from './run-report.ts';
import { runSteps, type SecondLook } from './run-steps.ts';

/** A run that is going on: one journal, one connection per node and one lease per node for all of its plans. */
export interface OpenRun {
  /**
   * Takes the leases that are missing and runs exactly this plan. What only hands can do takes no lease. A refusal, an
   * interrupt and a lost lease are values of the report; it rejects for bugs, and with what `onLeased` throws. With `second` the nodes are looked at
   * once more when another run had a lease before, or a node has restarted since it was observed.
   */
  readonly run: (plan: Plan, second?: SecondLook) => Promise<RunReport>;
  /**
   * Runs the user's own commands under the leases of their nodes, each once: a command that broke off is not sent
   * again. Nothing is run where a lease is refused.
   */
  readonly command: (commands: readonly NodeCommand[], deadlineMs: number) => Promise<CommandReport>;
  /** Aborted as soon as one of its leases is lost. */
  readonly lost: AbortSignal;
  /** Gives the leases back, ends the journal and the connections. May be called twice. */
  readonly close: () => Promise<void>;
}

/**
 * Begins a run; nothing is sent before its first plan. The leases on the nodes are the only lock: they also keep a
 * second run from the same state folder away.
 * @throws FleetError `journal/cannot-write`
 */
export function openRun(options: RunOptions): OpenRun {
  const { journal, verb, controller, desired } = options;
  journal.write({ phase: 'run', cluster: desired.name, verb, controller: controller.name });
  const parts = createParts(options);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await parts.keeper.release();
    record(parts, { phase: 'end', isInterrupted: isInterrupted(parts) });
    for (const session of parts.sessions.values()) session.close();
    options.onEvent({ kind: 'run-ended' });
  };
  return {
    run: (plan, second) => runSteps(plan, parts, second),
    command: (commands, commandMs) => runCommands(commands, commandMs, parts),
    lost: parts.keeper.lost,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

import type { RunTiming } from '../../../src/apply/run-timing.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { Playbook } from '../../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import type { NodeName } from '../../../src/model/node.ts';
import type { StepOutcome } from '../../../src/model/step.ts';

/** What a controller process is told to do; JSON in a file. */
export interface KillOrder {
  readonly playbook: Playbook;
  readonly desired: DesiredFleet;
  /** Nodes that the command line would name. */
  readonly targets: readonly NodeName[];
  readonly nodes: readonly {
    readonly name: NodeName;
    readonly port: number;
    readonly user: string;
    readonly root: string;
    readonly hostKey: string;
  }[];
  /** Path of the private key. */
  readonly userKey: string;
  /** State folder of the controller. */
  readonly state: string;
  readonly runId: string;
  readonly timing: RunTiming;
  /** Key of the record or event right after which the process kills itself; it ends by itself without one. */
  readonly dieAfter?: string;
}

/** What a controller that was not killed prints: one line of JSON. */
export interface KillReport {
  readonly plans: readonly Plan[];
  readonly steps: readonly { readonly id: string; readonly outcome: StepOutcome; readonly problems: string }[];
}

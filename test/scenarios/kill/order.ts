import type { RunTiming } from '../../../src/apply/run-timing.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import type { Playbook } from '../../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import type { NodeName } from '../../../src/model/node.ts';
import type { StepOutcome } from '../../../src/model/step.ts';

/** The orders of a controller process, as JSON in a file. */
export interface KillOrder {
  readonly playbook: Playbook;
  readonly desired: DesiredFleet;
  /** The nodes named on the command line. */
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
  /** Key of the record or event after which the process kills itself; without a key it runs to its end. */
  readonly dieAfter?: string;
}

/** The output of a controller that was not killed: one line of JSON. */
export interface KillReport {
  readonly plans: readonly Plan[];
  readonly steps: readonly { readonly id: string; readonly outcome: StepOutcome; readonly problems: string }[];
}

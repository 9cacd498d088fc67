/**
 * The command's features as a library: load a cluster file, observe its nodes, diagnose problems, plan, apply, and
 * start a simulated rack. Problems with files, nodes or consent reject with {@link FleetError}, which has the same
 * diagnostics as the command shows.
 *
 * ```ts
 * import { openCluster, startSimulatedRack } from 'meshwright';
 *
 * const rack = await startSimulatedRack({ file: 'cluster.yaml' });
 * const cluster = openCluster({ file: 'cluster.yaml', isSimulated: true });
 * const observation = await cluster.observe();
 * const findings = cluster.diagnose(observation);
 * const plan = await cluster.plan();
 * const report = await cluster.apply({ plan, allow: ['interrupt'] });
 * console.log(findings.length, report.exit);
 * await rack.stop();
 * ```
 *
 * @module
 */
import { apply } from './cli/apply/apply.ts';
import { openCluster as openFile, targetedNodes } from './cli/cluster/open-cluster.ts';
import { openTargets } from './cli/cluster/ssh-targets.ts';
import { observeNodes } from './cli/look/observe-fleet.ts';
import type { GuardedEffect } from './cli/plan/consent.ts';
import { observeForPlan } from './cli/plan/plan.ts';
import { parseSaved, planDocument } from './cli/plan/plan-document.ts';
import { simDown, simUp } from './cli/sim/sim.ts';
import type { Run } from './cli/verb.ts';
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { readSecrets } from './diagnostics/hide-secrets.ts';
import { diagnoseFleet } from './engine/diagnose/diagnose-fleet.ts';
import type { Plan } from './engine/plan/plan.ts';
import type { DesiredFleet } from './model/desired.ts';
import type { ReportDocument, SimFleet } from './model/documents.generated.ts';
import { given } from './model/given.ts';
import type { FleetObservation } from './rack/examination.ts';

export type { LoadedCluster } from './config/load-cluster-with.ts';
export { FleetError } from './diagnostics/diagnostic.ts';
export { plainText, proseText, type Reader } from './diagnostics/prose-text.ts';
export { type RenderOptions, renderDiagnostics } from './diagnostics/render.ts';
export { codes, type DiagnosticCode } from './engine/diagnose/rules.ts';
export { loadCluster } from './engine/load-cluster.ts';
export { type FactName, type FactValues, readFact } from './engine/observe/facts.ts';
export type { ClusterSpec } from './model/cluster-spec.generated.ts';
export type { DesiredNode } from './model/desired.ts';
export type { Facts, NodeObservation } from './model/facts/fact-values.ts';
export type { Known, UnknownReason } from './model/known.ts';
export { type Subject, subjectText } from './model/subject.ts';
export type { Prose } from './model/text/prose.ts';
export { fnvOfFile } from './native/fnv.ts';
export {
  probeVerbs,
  type VerbsDevice,
  type VerbsDeviceDetails,
  type VerbsGid,
  type VerbsPort,
  type VerbsReport,
} from './native/verbs-report.ts';
export type { DesiredFleet, Diagnostic, FleetObservation, GuardedEffect, Plan, ReportDocument };

/** The cluster file to use, and the Macs to reach. */
export interface ClusterOptions {
  /** Path of the cluster file; absent: `cluster.yaml` in the current folder or a parent folder, as for the command. */
  readonly file?: string;
  /** Whether to reach the simulated Macs of {@link startSimulatedRack} instead of real ones. */
  readonly isSimulated?: boolean;
  /** Node names; absent: every node in the file. */
  readonly nodes?: readonly string[];
  /** Aborting this signal stops a run cleanly, like Ctrl-C. Methods that only read reject with the signal's reason. */
  readonly signal?: AbortSignal;
  /** What the file may ask of this computer, as `--trust` takes it: `env=HF_TOKEN`. */
  readonly trust?: readonly string[];
  /** Timeout for one response from a node, in milliseconds (default 30,000). */
  readonly deadlineMs?: number;
}

/** A plan, and the text by which `apply` recognizes it. */
export interface ClusterPlan {
  readonly plan: Plan;
  /** The text that `plan --out` saves; `meshwright apply FILE` accepts it too. */
  readonly text: string;
}

/** Limits for `apply`. */
export interface ApplyOptions {
  /** If a new plan differs from this one, `apply` rejects with `plan/stale` and changes nothing. */
  readonly plan?: ClusterPlan;
  /** Effects that you consent to, as with `--allow`. A plan with others rejects with `plan/not-allowed`. */
  readonly allow?: readonly GuardedEffect[];
}

/** A cluster file without errors, and its nodes. Each method opens its own connections to the nodes and closes them. */
export interface Cluster {
  readonly fleet: DesiredFleet;
  /** Warnings about the cluster file and its lock. */
  readonly warnings: readonly Diagnostic[];
  /** Reads every fact of every node. A node that cannot be reached is in `failures`. */
  observe(): Promise<FleetObservation>;
  /** Lists the problems in an observation. */
  diagnose(observation: FleetObservation): readonly Diagnostic[];
  /** Observes the nodes and plans what `apply` would do. Hashes archives and models that are not in `cluster.lock`. */
  plan(): Promise<ClusterPlan>;
  /** Makes the nodes match the file, writes `cluster.lock`, and observes again; `report.exit` is the exit code. */
  apply(options?: ApplyOptions): Promise<ReportDocument>;
}

/** Reads and checks a cluster file and its lock. @throws FleetError with every error of both */
export function openCluster(options: ClusterOptions = {}): Cluster {
  const run = silentRun(options);
  const opened = openFile(run);
  const { fleet, warnings } = opened;
  return {
    fleet,
    warnings,
    observe: () => observeNodes(run, targetedNodes(run, fleet, []), openTargets(run, opened)),
    diagnose: (observation) => diagnoseFleet(fleet, observation),
    plan: async () => {
      const { planned, additions } = await observeForPlan(run);
      const surroundings = { isSimulated: run.console.isSimulated, additions, ...targetsOf(options) };
      return { plan: planned.plan, text: planDocument(planned.plan, surroundings) };
    },
    apply: async ({ plan, allow = [] } = {}) => {
      const read = plan && parseSaved('the plan', plan.text);
      const saved = read && { shown: read.shown, document: read.document, ...targetsOf(options) };
      const own = { updateLock: true, allow: allow.join(',') };
      const { document } = await apply({ ...run, own }, () => ({ nodes: [], ...given({ saved }) }));
      return document;
    },
  };
}

const targetsOf = ({ nodes }: ClusterOptions): { readonly targets?: readonly string[] } => given({ targets: nodes });

/** A simulated rack that runs until it is stopped, even after this program exits. */
export interface SimulatedRack {
  /** Each Mac's port and disk folder, by node name. */
  readonly nodes: SimFleet['nodes'];
  stop(): Promise<void>;
}

/** Starts a simulated Mac for each node in the file, or finds those that already run. @throws FleetError */
export async function startSimulatedRack(
  options: Pick<ClusterOptions, 'file' | 'signal'> = {},
): Promise<SimulatedRack> {
  const run = silentRun({ ...options, isSimulated: true });
  const { document } = await simUp(run);
  return { nodes: document.nodes, stop: async () => void (await simDown(run)) };
}

/** The context of a command that is called by a program: no output and no prompts. */
function silentRun({ file, isSimulated = false, nodes, trust, signal, deadlineMs = 30_000 }: ClusterOptions): Run {
  return {
    console: {
      out: () => undefined,
      err: () => undefined,
      outClosed: new AbortController().signal,
      isOutTty: false,
      isErrTty: false,
      canAsk: false,
      canRewrite: false,
      columns: 80,
      hasColor: false,
      hasErrColor: false,
      hasUnicode: true,
      isSimulated,
    },
    env: process.env,
    folder: process.cwd(),
    options: {
      ...given({ file, nodes, trust }),
      json: true,
      sim: isSimulated,
      yes: true,
      parallel: 256,
      deadline: deadlineMs,
      color: false,
    },
    own: {},
    words: [],
    tail: undefined,
    signal: signal ?? new AbortController().signal,
    secrets: readSecrets(),
  };
}

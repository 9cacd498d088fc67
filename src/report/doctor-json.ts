import { type DiagnosticJson, diagnosticJson } from '../diagnostics/json.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import { commandsIn } from '../doctor/hint-lines.ts';
import type { RdmaSwitches, RdmaVisits } from '../doctor/rdma-switch-steps.ts';
import { subjectNames, subjectNodes } from '../doctor/subject.ts';
import type { Stage, Trouble } from '../doctor/troubles.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeBudget } from '../resources/launch-budgets.ts';
import { evidenceWords } from './evidence-words.ts';
import { type LaunchesJson, launchesJson } from './status-json.ts';

/** One fact that shows a trouble, as programs read it. */
export interface EvidenceJson {
  readonly node: string;
  readonly fact: string;
  /** The command line on the node that said so. */
  readonly source: string;
  readonly says: readonly string[];
}

/** One broken thing as programs read it. */
export interface TroubleJson extends DiagnosticJson {
  readonly stage: Stage;
  readonly evidence: readonly EvidenceJson[];
  readonly hanging: readonly string[];
  /**
   * What to type, first things first; empty where a person has to do it, or where nothing is to be done. On a node where sudo
   * is not allowed only exec is left: nothing else could change anything there.
   */
  readonly commands: readonly string[];
}

/** `doctor --json` (`schemas/doctor.schema.json`). */
export interface DoctorJson {
  readonly formatVersion: 1;
  readonly cluster: string;
  /** Present and true when the nodes are simulated. */
  readonly simulated?: true;
  /** Nodes of the file that this run did not ask. */
  readonly notAsked: readonly string[];
  /** In the order of the walk. */
  readonly troubles: readonly TroubleJson[];
  readonly recovery?: RdmaVisits;
  readonly systemSettings?: RdmaVisits;
  /** What is taken of RDMA devices, by node, where starts over RDMA can come. */
  readonly launches: Readonly<Record<string, LaunchesJson>>;
}

/** What `doctor --json` is made from. */
export interface DoctorJsonInput {
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  readonly troubles: readonly Trouble[];
  readonly switches: RdmaSwitches;
  readonly budgets: readonly NodeBudget[];
  readonly isSimulated: boolean;
}

function troubleJson({ desired, observation, troubles }: DoctorJsonInput, trouble: Trouble): TroubleJson {
  const { finding, stage, evidence, hanging } = trouble;
  const told = evidence.map((one) => {
    const facts = observation.nodes[one.node]?.facts;
    const says = facts === undefined ? [] : evidenceWords(facts, one, true);
    return { node: one.node, fact: one.fact, source: one.source, says };
  });
  const { subject = '' } = finding;
  const closed = troubles.flatMap(({ finding: { code, subject } }) =>
    code.startsWith('sudo/') ? subjectNodes(subject ?? '') : [],
  );
  const own = desired.placements.find(({ name }) => subject === `placement ${name}`)?.nodes ?? subjectNodes(subject);
  const isClosed = own.some((name) => closed.includes(name));
  const commands = commandsIn(finding.hint, subjectNames(subject)).filter(
    (command) => !trouble.refused?.includes(command) && (!isClosed || command.startsWith('meshwright exec ')),
  );
  return { ...diagnosticJson(finding), stage, evidence: told, hanging, commands };
}

/** The machine form of `doctor`. Text from nodes is as they gave it: print it with `jsonText`, which escapes it. */
export function doctorJson(input: DoctorJsonInput): DoctorJson {
  const { desired, observation, troubles, switches, isSimulated } = input;
  const isAsked = (name: string): boolean =>
    Object.hasOwn(observation.nodes, name) || Object.hasOwn(observation.failures, name);
  return {
    formatVersion: 1,
    cluster: desired.name,
    ...(isSimulated ? { simulated: true } : {}),
    notAsked: desired.nodes.map(({ name }) => name).filter((name) => !isAsked(name)),
    troubles: troubles.map((trouble) => troubleJson(input, trouble)),
    ...switches,
    launches: launchesJson(input.budgets),
  };
}

import { type DiagnosticJson, diagnosticJson } from '../../diagnostics/json.ts';
import { commandText, proseText, type Reader } from '../../diagnostics/prose-text.ts';
import type { Stage, Trouble } from '../../engine/diagnose/troubles.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { isPlacement, subjectNames, subjectNodes } from '../../model/subject.ts';
import { commandKey } from '../../model/text/command.ts';
import { commandsIn } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import type { NodeBudget } from '../../rack/placement/start/launch-budgets.ts';
import type { RdmaSwitches, RdmaVisits } from '../../rack/rdma/rdma-switch-steps.ts';
import { type LaunchesJson, launchesJson } from '../status/status-json.ts';
import { evidenceWords } from './evidence-words.ts';

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
  readonly recovery?: VisitsJson;
  readonly systemSettings?: VisitsJson;
  /** What is taken of RDMA devices, by node, where starts over RDMA can come. */
  readonly launches: Readonly<Record<string, LaunchesJson>>;
}

/** What a person does at the Macs so that RDMA is on, as programs read it. */
interface VisitsJson {
  readonly nodes: readonly string[];
  readonly steps: readonly string[];
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

const visitsJson = ({ nodes, steps }: RdmaVisits, reader: Reader): VisitsJson => ({
  nodes,
  steps: steps.map((step) => proseText(step, reader)),
});

const switchesJson = ({ recovery, systemSettings }: RdmaSwitches, reader: Reader) => ({
  ...(recovery === undefined ? {} : { recovery: visitsJson(recovery, reader) }),
  ...(systemSettings === undefined ? {} : { systemSettings: visitsJson(systemSettings, reader) }),
});

function troubleJson(reader: DoctorJsonInput, trouble: Trouble): TroubleJson {
  const { desired, observation, troubles } = reader;
  const { finding, stage, evidence, hanging } = trouble;
  const told = evidence.map((one) => {
    const facts = observation.nodes[one.node]?.facts;
    const says = facts === undefined ? [] : evidenceWords(facts, one, true);
    return { node: one.node, fact: one.fact, source: proseText(one.source, reader), says };
  });
  const { subject } = finding;
  const closed = troubles.flatMap(({ finding: { code, subject } }) =>
    code.startsWith('sudo/') ? subjectNodes(subject) : [],
  );
  const own = desired.placements.find(({ name }) => isPlacement(subject, name))?.nodes ?? subjectNodes(subject);
  const isClosed = own.some((name) => closed.includes(name));
  const refused = (trouble.refused ?? []).map(commandKey);
  const commands = commandsIn(finding.hint, subjectNames(subject))
    .filter((one) => !refused.includes(commandKey(one)) && (!isClosed || one.verb === 'exec'))
    .map((one) => commandText(one, reader));
  return { ...diagnosticJson(finding, reader), stage, evidence: told, hanging, commands };
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
    ...switchesJson(switches, input),
    launches: launchesJson(input.budgets),
  };
}

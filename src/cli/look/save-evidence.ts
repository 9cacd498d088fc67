import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { incidentFolder } from '../../apply/journal/incidents.ts';
import { newRunId } from '../../apply/journal/journal.ts';
import { type CommandOutcome, type NodeTarget, runCommand } from '../../apply/reach/session.ts';
import { diagnose, failure } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, messageOf } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { hideInFields, hideLookalikes, type ReadSecrets, readSecrets } from '../../diagnostics/hide-secrets.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { requestPatternOf } from '../../drivers/registry.ts';
import { silentPlacements } from '../../engine/diagnose/next-cure.ts';
import { factsJson } from '../../engine/observe/facts.ts';
import type { DoctorDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { exitText, isSuccess } from '../../model/probe.ts';
import { namedSubject, nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { dayOf } from '../../model/text/units.ts';
import { rankServiceLabel } from '../../node/paths/own-paths.ts';
import { mutatingCommand } from '../../node/root-script.ts';
import { clockFact } from '../../rack/clock/fact.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { readValue } from '../../rack/fact.ts';
import type { PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import { rankLogCommand, rankStackScript } from '../../rack/placement/observed/rank-log-script.ts';
import { servicesFact } from '../../rack/records/services-fact.ts';
import { diagnoseSudo } from '../../remote/keys/password-login.ts';
import { printedText } from '../../remote/remote.ts';
import { type Evidence, logsInTimeOrder, parseEvidence } from '../../report/evidence.ts';
import { lockPlaceOf, openCluster } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { journalsOf } from '../files/places.ts';
import { readIfThere } from '../files/read-file.ts';
import { replaceFile, writingTo } from '../files/write-file.ts';
import { diagnosticsJson, withLine } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { readVersion } from '../version.ts';
import { outcomeDiagnostics } from './observe-fleet.ts';

/** What was measured, before anything is changed. */
interface SeenIncident {
  /** By default a new one. */
  readonly id?: string;
  readonly observation: FleetObservation;
  /** The placements whose logs are saved. Stacks are sampled only for those that should serve but returned no token. */
  readonly placements: readonly PlacementSurvey[];
  /** As `doctor --json` prints it. */
  readonly document: DoctorDocument;
}

const linesPerRank = 2_000;

/**
 * Saves the evidence of a hang on this computer, before the first signal destroys it. Changes no node. Asks only Macs
 * that answered this observation, all in parallel, each for at most `--deadline`. `file` is the saved copy, which
 * `bundle ID` packs; `problems` is what could not be read.
 * @throws FleetError `cli/cannot-write` if nothing could be saved
 */
export async function saveEvidence(
  run: Run,
  { id = newRunId(new Date()), observation, placements, document }: SeenIncident,
) {
  // Its warnings were already shown.
  const cluster = openCluster({ ...run, options: { ...run.options, json: true } });
  const { fleet } = cluster;
  const now = new Date();
  const failuresOf = (node: NodeName): readonly Diagnostic[] => observation.failures[node] ?? [];
  const members = fleet.nodes.filter(
    ({ name }) => failuresOf(name).length === 0 && placements.some(({ nodes }) => nodes.includes(name)),
  );
  const rack = { fleet, observation, ways: await openTargets(run, cluster).toAll(members) };
  const names = placements.map(({ name }) => name);
  const silent = silentPlacements({ placements }, names);
  const [logs, stacks] = await withLine(
    run.console,
    (seconds) => `saving the evidence, ${seconds} s`,
    () =>
      Promise.all([
        readRanks(placements, (one) => readLogs(run, one, rack)),
        readRanks(silent, (one) => readStacks(run, one, rack)),
      ]),
  );
  const parts = [...logs, ...stacks];
  const lost = fleet.nodes.flatMap(({ name }) => failuresOf(name));
  const problems = [...lost, ...parts.flatMap((part) => part.problems)];
  const { path, shown } = lockPlaceOf(run, cluster);
  const evidence: Evidence = {
    id,
    cluster: fleet.name,
    version: readVersion(),
    placements: Object.fromEntries(placements.map(({ name, state, evidence: why }) => [name, `${state}: ${why}`])),
    files: {
      'doctor.json': document,
      'facts.json': {
        ...documentHead(run.console, { cluster: fleet.name }),
        nodes: Object.fromEntries(Object.values(observation.nodes).map(({ node, facts }) => [node, factsJson(facts)])),
        diagnostics: diagnosticsJson(run.console, lost),
      },
      'logs.txt': logsInTimeOrder(
        logs.map((part) => logOf(part, observation)),
        dayOf(now.getTime()),
      ),
      ...(stacks.length === 0 ? {} : { 'stacks.txt': stacks.map(stackText).join('\n') }),
      'cluster.lock': readIfThere(path, shown)?.text ?? '',
    },
    nodes: fleet.nodes.map(({ name }) => name),
    unread: fleet.nodes
      .map(({ name }) => name)
      .filter(
        (name) => failuresOf(name).length > 0 || parts.some((part) => part.node === name && part.problems.length > 0),
      ),
    diagnostics: diagnosticsJson(run.console, problems),
  };
  return {
    id,
    file: store(folderOf(run, fleet.name), id, hideInFields(evidence, evidenceSecrets(run))),
    problems,
  };
}

/** Names of variables that contain secrets: `HF_TOKEN`, `KIMI_API_KEY`. */
const secretVariable = /(?:token|secret|password|passwd|(?:^|_)key|apikey)$/i;

/** Hides the secrets that this run has read, those in its environment, and everything that looks like one. */
export function evidenceSecrets({ env, secrets }: Pick<Run, 'env' | 'secrets'>): ReadSecrets {
  const own = readSecrets();
  for (const [name, value = ''] of Object.entries(env)) {
    if (secretVariable.test(name) && value.length >= 8) own.add(value);
  }
  return { add: own.add, hideIn: (text) => hideLookalikes(own.hideIn(secrets.hideIn(text))) };
}

/** What was read about one rank, and what could not be read. */
interface RankPart {
  readonly placement: string;
  readonly node: NodeName;
  readonly text: string;
  readonly problems: readonly Diagnostic[];
}

interface Rack {
  readonly fleet: Parameters<typeof requestPatternOf>[0];
  readonly observation: FleetObservation;
  readonly ways: readonly NodeTarget[];
}

const readRanks = async (
  placements: readonly PlacementSurvey[],
  readOne: (placement: PlacementSurvey) => Promise<readonly RankPart[]>,
): Promise<readonly RankPart[]> => (await Promise.all(placements.map(readOne))).flat();

async function readLogs(run: Run, { name, nodes }: PlacementSurvey, { fleet, ways }: Rack) {
  const requestPattern = requestPatternOf(fleet, name);
  const own = ways.filter(({ node }) => nodes.includes(node));
  const outcomes = await runCommand(
    own,
    (_node, rootPrefix) => ({
      name: 'rank-log',
      command: rankLogCommand({ placement: name, lines: linesPerRank, requestPattern, rootPrefix }),
    }),
    limitsOf(run),
  );
  return outcomes.map((outcome) => partOf(name, 'log', outcome, own));
}

/** A rank without a process has no stack. */
async function readStacks(run: Run, { name, nodes }: PlacementSurvey, { observation, ways }: Rack) {
  const pids = new Map<NodeName, number>();
  const unknown: RankPart[] = [];
  for (const { node } of ways.filter((way) => nodes.includes(way.node))) {
    const services = readValue(observation.nodes[node]?.facts, servicesFact);
    const pid = services?.find(({ label }) => label === rankServiceLabel(name))?.pid;
    if (pid !== undefined) pids.set(node, pid);
    else if (services === undefined) unknown.push(partWithout(name, node, `its processes on ${node} are unknown`));
  }
  const own = ways.filter(({ node }) => pids.has(node));
  const outcomes = await runCommand(
    own,
    (node, rootPrefix) => {
      const script = rankStackScript(pids.get(node) ?? 0, rootPrefix);
      return { name: 'rank-stack', command: mutatingCommand(rootPrefix), script, stdin: Buffer.from(script) };
    },
    limitsOf(run),
  );
  return [...unknown, ...outcomes.map((outcome) => partOf(name, 'stack', outcome, own))];
}

const limitsOf = (run: Run) => ({
  ...useLimits(run),
  parallel: run.options.parallel,
  firstByteMs: 4_000,
  maxBytes: 4_194_304,
});

const partWithout = (placement: string, node: NodeName, why: string): RankPart => ({
  placement,
  node,
  text: '',
  problems: [diagnose('evidence/incomplete', { subject: nodeSubject(node), detail: `${placement}: ${why}.` })],
});

function partOf(
  placement: string,
  what: 'log' | 'stack',
  outcome: CommandOutcome,
  ways: readonly NodeTarget[],
): RankPart {
  const { node } = outcome;
  const lost = outcomeDiagnostics(outcome);
  if (outcome.kind === 'unreached' || lost.length > 0) return { placement, node, text: '', problems: lost };
  const { exit, stdout, stderr } = printedText(outcome.result);
  if (isSuccess(exit)) return { placement, node, text: stdout, problems: [] };
  const way = ways.find((one) => one.node === node)?.way;
  const sudo = what === 'stack' && way?.kind === 'way' ? diagnoseSudo(node, way.target.user, exit, stderr) : undefined;
  if (sudo !== undefined) return { placement, node, text: '', problems: [sudo] };
  const isMissing = exit.kind === 'exited' && exit.code === missingExit;
  const why = isMissing
    ? what === 'log'
      ? 'there is no log'
      : 'the process has exited'
    : `reading the ${what} failed`;
  const said = isMissing ? '' : ` (${escapeText(stderr.trim()) || exitText(exit)})`;
  return partWithout(placement, node, `${why} on ${node}${said}`);
}

/** The exit code of both commands if there is nothing to read. */
const missingExit = 66;

function logOf({ placement, node, text }: RankPart, { nodes }: FleetObservation) {
  const clock = readValue(nodes[node]?.facts, clockFact);
  const isOff = clock !== undefined && Math.abs(clock.offsetMs) > clock.uncertaintyMs;
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  return { placement, node, lines, clockAheadMs: isOff ? clock.offsetMs : 0 };
}

const stackText = ({ placement, node, text, problems }: RankPart): string =>
  `=== ${placement} on ${node}\n${problems.length === 0 ? text : 'not read\n'}`;

/** The folder of a cluster's incidents, next to its journals. */
const folderOf = (run: Run, cluster: string): string => incidentFolder(journalsOf(run, cluster));

/** Per cluster. */
const mostIncidents = 20;

function store(folder: string, id: string, evidence: object): string {
  const path = join(folder, `${id}.json`);
  writingTo(path, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const old of idsIn(folder).slice(mostIncidents - 1)) rmSync(join(folder, `${old}.json`));
  });
  replaceFile(path, JSON.stringify(evidence), 0o600);
  return path;
}

/** Newest first. */
function idsIn(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .flatMap((name) => /^(\d{8}T\d{6}-[0-9a-f]+)\.json$/.exec(name)?.[1] ?? [])
    .sort()
    .reverse();
}

/** The ids of a cluster's saved incidents, newest first. */
export const savedIncidents = (run: Run, cluster: string): readonly string[] => idsIn(folderOf(run, cluster));

/** The evidence of a saved incident. @throws FleetError `cli/cannot-read`, also if the file is damaged */
export function readEvidence(run: Run, cluster: string, id: string): Evidence {
  const path = join(folderOf(run, cluster), `${id}.json`);
  const unreadable = (why: string, hint?: Prose) =>
    failure('cli/cannot-read', { detail: `${path} ${why}.`, subject: namedSubject(path), ...given({ hint }) });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(`cannot be read: ${messageOf(error)}`);
  }
  const evidence = parseEvidence(text);
  if (evidence === undefined)
    throw unreadable('is damaged', prose`To save and pack the evidence of now: ${meshwright('bundle')}`);
  return evidence;
}

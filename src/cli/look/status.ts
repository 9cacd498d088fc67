import { journalFolder, type RecordedRun, readJournals } from '../../apply/journal/journal.ts';
import { layoutsOf } from '../../desired/layouts.ts';
import { type Diagnostic, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { fleetFindings } from '../../engine/diagnose/diagnose-fleet.ts';
import { troublesOf, withoutConsequences } from '../../engine/diagnose/troubles.ts';
import { withoutVainCommands } from '../../engine/plan/vain-commands.ts';
import { unreachedOf, viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { utcText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { placementFindings } from '../../rack/placement/check/placement-findings.ts';
import {
  type ClientCounts,
  clientCounts,
  type PlacementSurvey,
  surveyPlacements,
} from '../../rack/placement/check/placement-survey.ts';
import { launchBudgets, type NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { rdmaSwitches } from '../../rack/rdma/rdma-switch-steps.ts';
import { doctorJson, doctorText } from '../../report/doctor.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { statusJson } from '../../report/status/status-json.ts';
import { seenLines, statusText } from '../../report/status/status-text.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { judgedFleet, lockedFleet } from '../cluster/settle-cluster.ts';
import { openWays } from '../cluster/ways.ts';
import { codeForNodes, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { journalName, stateFolder } from '../files/places.ts';
import { isLive, liveBlock, logFindings, pageFor, showJson } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

/** `doctor [NODE…]`: one cause, one action and the evidence for each broken thing, in the order of the walk. */
export const doctor: VerbBody = async (run) => {
  const look = await lookForFindings(run);
  const { names, desired, observation, budgets, isSimulated } = look;
  const troubles = withoutVainCommands(troublesOf(look), { desired: look.locked, observation });
  const switches = rdmaSwitches(troubles, observation);
  const shown = { desired, observation, troubles, switches, budgets, isSimulated };
  const lost = names.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  if (run.options.json) {
    showJson(run.console, { ...doctorJson(shown), ...unreachedField(unreachedOf(lost, observation)) });
  } else run.console.out(doctorText({ ...shown, ...pageFor(run.console) }));
  return codeForNodes(names.map((name) => nodeVerdict(name, look)));
};

/** What the verdict on a node is made from. */
interface Judged {
  readonly observation: FleetObservation;
  readonly findings: readonly Diagnostic[];
  readonly placements: readonly PlacementSurvey[];
}

/** How a node came out of a look at it: work for hands alone, wrong, or not to be judged. */
export function nodeVerdict(name: NodeName, { observation, findings, placements }: Judged): NodeVerdict {
  const unseen = verdictOf(observation.failures[name] ?? []);
  if (unseen !== 'fine') return unseen;
  const about = findings.filter((one) => subjectNodes(one.subject).includes(name));
  const errors = about.filter((one) => one.severity === 'error');
  const own = placements.filter((one) => one.nodes.includes(name));
  // A placement that is not as the file says is wrong on every member, wherever its fault lies.
  if (own.some(({ standing }) => standing === 'differs')) return 'wrong';
  if (errors.some((one) => !isHandsWork(one))) return 'wrong';
  // What is unknown could not be judged, so nobody can say that the node is as the file says.
  if (about.some((one) => one.code === 'fact/unknown')) return 'unjudged';
  if (own.some((one) => one.standing === 'unknown' && !hasUnseen(one, observation))) return 'unjudged';
  return errors.length > 0 ? 'hands' : 'fine';
}

/** What nobody knows of a placement because a node was not seen counts for that node, which is not fine itself. */
const hasUnseen = ({ nodes }: PlacementSurvey, { failures }: FleetObservation): boolean =>
  nodes.some((node) => (failures[node]?.length ?? 0) > 0);

/** One look at the nodes of a command line, with what is wrong there. */
export interface FoundLook {
  readonly desired: DesiredFleet;
  /** The same with what the lock adds, as plans are made from it. */
  readonly locked: DesiredFleet;
  /** The nodes that were asked for. */
  readonly names: readonly NodeName[];
  readonly observation: FleetObservation;
  readonly placements: readonly PlacementSurvey[];
  /** What came through the doors of published placements. */
  readonly clients: readonly ClientCounts[];
  /** What is wrong with Macs and cables, and then with placements; its hints are for simulated Macs where they are that. */
  readonly findings: readonly Diagnostic[];
  /** Whether anything is wrong with Macs and cables. */
  readonly isBroken: boolean;
  readonly budgets: readonly NodeBudget[];
  readonly isSimulated: boolean;
}

/** The Macs that have been seen so far, while tokens and silent Macs are waited for. */
type SeenSoFar = Pick<FoundLook, 'desired' | 'observation'>;

/**
 * Observes the nodes that the words of a verb name, all without words, and judges what it sees.
 *
 * @param onSeen called after each Mac with all of those seen so far
 */
export async function lookForFindings(run: Run, onSeen?: (seen: SeenSoFar) => void): Promise<FoundLook> {
  const cluster = openCluster(run);
  const locked = lockedFleet(run, cluster);
  const desired = judgedFleet(run, cluster);
  const nodes = targetedNodes(run, desired, run.words);
  const names = nodes.map(({ name }) => name);
  const ways = openWays(run, cluster);
  const soFar = emptyObservation();
  const { isSimulated } = ways;
  const observed = await observeNodes(run, nodes, ways, {
    ...shownOnly(run),
    tokensOf: desired.placements.flatMap(layoutsOf),
    onSeen: (seen, failures) => {
      soFar.nodes[seen.node] = seen;
      if (failures.length > 0) soFar.failures[seen.node] = failures;
      onSeen?.({ desired, observation: soFar });
    },
  });
  const observation = withShutdowns(run, { cluster: desired.name, isSimulated }, observed);
  const view = viewOf({ desired: locked, observation, targets: names });
  const placements = surveyPlacements(view);
  const broken = fleetFindings(desired, observation);
  const found = withoutConsequences([...broken, ...placementFindings(view, placements)], placements);
  logFindings(run, found);
  return {
    desired,
    locked,
    names,
    observation,
    placements,
    clients: clientCounts(view, placements),
    findings: found,
    isBroken: broken.length > 0,
    budgets: launchBudgets(view),
    isSimulated,
  };
}

/** Without prototypes: `constructor` is a good name for a node. */
const emptyObservation = (): {
  readonly nodes: Record<string, FleetObservation['nodes'][string]>;
  readonly failures: Record<string, readonly Diagnostic[]>;
} => ({ nodes: Object.create(null), failures: Object.create(null) });

/** What a Mac that is off looks like from here: nothing listens, or nothing answers. */
const looksOff = ['ssh/unreachable', 'ssh/refused', 'ssh/timed-out'];

/**
 * The same observation, where a Mac gives no answer with the time at which this computer switched it off, as far as its
 * journals say so. A run that changed that Mac later has seen it again, and then nothing is said.
 */
function withShutdowns(
  run: Run,
  { cluster, isSimulated }: { readonly cluster: string; readonly isSimulated: boolean },
  observation: FleetObservation,
): FleetObservation {
  const isOff = ({ code }: Diagnostic): boolean => looksOff.includes(code);
  const silent = Object.entries(observation.failures).filter(([, found]) => found.some(isOff));
  if (silent.length === 0) return observation;
  const journals = journalsOf(run, journalName(cluster, isSimulated));
  // Without a prototype, as it was: `constructor` is a good name for a node.
  const failures: Record<string, readonly Diagnostic[]> = Object.assign(Object.create(null), observation.failures);
  for (const [node, found] of silent) {
    const words = shutdownOf(journals, node);
    if (words === undefined) continue;
    const hint = isSimulated ? prose`Switch it on: ${meshwright('sim power-on', node)}` : 'Press its power button.';
    failures[node] = found.map((one) => (isOff(one) ? { ...one, detail: prose`${one.detail} ${words}`, hint } : one));
  }
  return { ...observation, failures };
}

/** None where they cannot be read: a look needs them for one sentence only. */
function journalsOf({ env }: Run, name: string): readonly RecordedRun[] {
  try {
    return readJournals(journalFolder(stateFolder(env), name)).runs;
  } catch {
    return [];
  }
}

/** In words when the newest run that had to do with a node switched it off. @param journals newest first */
export function shutdownOf(journals: readonly RecordedRun[], node: string): Prose | undefined {
  const last = journals.find(({ records }) => records.some((one) => 'node' in one && one.node === node));
  if (last === undefined) return undefined;
  const by = last.records.find((one) => one.phase === 'run')?.controller ?? 'this computer';
  const steps = last.records.flatMap((one) =>
    one.phase === 'intent' && one.node === node && one.effect === 'shutdown' ? [one.step] : [],
  );
  const done = last.records.findLast(
    (one) => one.phase === 'outcome' && steps.includes(one.step) && one.outcome === 'changed',
  );
  if (done === undefined) return undefined;
  return prose`It was switched off by ${escapeText(by)} (${aside(meshwright('shutdown'))}) at ${utcText(Math.floor(Date.parse(done.at) / 1_000))}.`;
}

/** The cures of what is broken are for real Macs; nobody needs a power button here. */
const mending = prose`\n  This rack is simulated: ${aside(meshwright('sim fault', '--clear'))} mends what was broken.\n`;

/** `status [NODE…]`: placements and Macs in one table each, and what is wrong with them. */
export const status: VerbBody = async (run) => {
  const { names, isBroken, ...shown } = await lookWithRows(run);
  if (run.options.json) showJson(run.console, statusJson(shown));
  else {
    run.console.out(statusText({ ...shown, ...pageFor(run.console) }));
    if (shown.isSimulated && isBroken) run.console.out(proseText(mending, run.console));
  }
  return codeForNodes(names.map((name) => nodeVerdict(name, shown)));
};

/** A look that ends within this time is shown as one page, without rows before it. */
const quickMs = 1000;

/** On a terminal, where a look takes longer, the rows of the Macs seen so far stand where the whole page comes later. */
async function lookWithRows(run: Run): Promise<FoundLook> {
  if (run.options.json || !isLive(run.console)) return lookForFindings(run);
  const showBlock = liveBlock(run.console);
  let rows: readonly string[] = [];
  let isSlow = false;
  const show = (): void => {
    if (isSlow) showBlock([], rows);
  };
  const timer = setTimeout(() => {
    isSlow = true;
    show();
  }, quickMs);
  try {
    return await lookForFindings(run, (seen) => {
      rows = seenLines({ ...seen, ...pageFor(run.console) });
      show();
    });
  } finally {
    clearTimeout(timer);
    showBlock([], []);
  }
}

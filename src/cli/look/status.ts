import { readIncidents } from '../../apply/journal/incidents.ts';
import { type RecordedRun, readableRuns } from '../../apply/journal/journal.ts';
import { readMeasuredCables } from '../../apply/journal/measured-cables.ts';
import { observeSilentMeshes } from '../../apply/reach/observe.ts';
import { layoutsOf } from '../../desired/layouts.ts';
import { type Diagnostic, hasTrait, isHandsWork } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { fleetFindings } from '../../engine/diagnose/diagnose-fleet.ts';
import { recoveriesIn } from '../../engine/diagnose/past-cures.ts';
import { troublesOf, withoutConsequences } from '../../engine/diagnose/troubles.ts';
import { factNames } from '../../engine/observe/facts.ts';
import { withoutVainCommands } from '../../engine/plan/vain-commands.ts';
import { unreachedOf, viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeObservation } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { subjectNodes } from '../../model/subject.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { utcText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { placementFindings } from '../../rack/placement/check/placement-findings.ts';
import { clientCounts, type PlacementSurvey, surveyPlacements } from '../../rack/placement/check/placement-survey.ts';
import { goodCables } from '../../rack/placement/check/rdma-suspicions.ts';
import { launchBudgets } from '../../rack/placement/placement-blockers.ts';
import { withRecordedSettings } from '../../rack/placement/state/recorded-settings.ts';
import { rdmaSwitches } from '../../rack/rdma/switch-reading.ts';
import { doctorJson, doctorText } from '../../report/doctor.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { type StatusInput, statusJson } from '../../report/status/status-json.ts';
import { seenLines, statusText } from '../../report/status/status-text.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { judgedFleet, lockedFleet } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { withMeasured } from '../cluster/this-computer.ts';
import { codeForNodes, type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { isLive, liveBlock, logFindings, pageFor, paragraphText } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';
import { watchStatus } from './watch-status.ts';

export const doctor: VerbBody = async (run) => {
  const checked = await checkFleet(run);
  const { shown, document } = doctorParts(checked);
  return {
    exit: codeForNodes(checked.names.map((name) => nodeVerdict(name, checked))),
    document,
    text: doctorText(shown, pageFor(run.console)),
  };
};

/** What `doctor` shows of a check, and its document. */
export function doctorParts(checked: CheckedFleet) {
  const { names, desired, observation, budgets, isSimulated } = checked;
  const troubles = withoutVainCommands(troublesOf(checked), { desired: checked.locked, observation });
  const switches = rdmaSwitches(troubles, observation);
  const shown = { desired, observation, troubles, switches, budgets, isSimulated };
  const lost = names.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  const unreached = unreachedField(unreachedOf(lost, observation));
  return { shown, document: { ...doctorJson(shown), ...unreached } };
}

type Judged = Pick<CheckedFleet, 'observation' | 'findings' | 'placements'>;

/** The verdict on one node: fine, wrong, not checked (`unjudged`), or only manual steps remain (`hands`). */
export function nodeVerdict(name: NodeName, { observation, findings, placements }: Judged): NodeVerdict {
  const unseen = verdictOf(observation.failures[name] ?? []);
  if (unseen !== 'fine') return unseen;
  const about = findings.filter((one) => subjectNodes(one.subject).includes(name));
  const errors = about.filter((one) => one.severity === 'error');
  const own = placements.filter((one) => one.nodes.includes(name));
  // If a placement differs from the file, all its nodes are wrong, regardless of the node that causes the difference.
  if (own.some(({ standing }) => standing === 'differs')) return 'wrong';
  if (errors.some((one) => !isHandsWork(one))) return 'wrong';
  // If a fact is unknown, it is also unknown whether the node matches the file.
  if (about.some((one) => hasTrait(one, 'unknown-facts'))) return 'unjudged';
  if (own.some((one) => one.standing === 'unknown' && !hasUnseen(one, observation))) return 'unjudged';
  return errors.length > 0 ? 'hands' : 'fine';
}

/** True if a node of the placement was not observed. Unknown facts then count only for that node. */
const hasUnseen = ({ nodes }: PlacementSurvey, { failures }: FleetObservation): boolean =>
  nodes.some((node) => (failures[node]?.length ?? 0) > 0);

type CheckedFleet = Awaited<ReturnType<typeof checkFleet>>;

/** The Macs observed so far, before the others have answered. */
type SeenSoFar = Pick<StatusInput, 'desired' | 'observation'>;

interface CheckOptions {
  /** Called after each Mac with all Macs observed so far. */
  readonly onSeen?: (seen: SeenSoFar) => void;
  /** An observation of these nodes, with tokens, that is recent enough. */
  readonly seen?: FleetObservation;
  /**
   * True if placements are compared with the settings of their last start as far as they are known, not with the
   * file's. Macs of a mesh that returns no token are then observed twice.
   */
  readonly isAsStarted?: boolean;
}

/** Observes the nodes named on the command line, or else all nodes, and checks for faults. */
export async function checkFleet(run: Run, { onSeen, seen, isAsStarted = false }: CheckOptions = {}) {
  const cluster = openCluster(run);
  const locked = lockedFleet(run, cluster);
  const desired = judgedFleet(run, cluster);
  const nodes = targetedNodes(run, desired, run.words);
  const names = nodes.map(({ name }) => name);
  const ways = openTargets(run, cluster);
  const layouts = desired.placements.flatMap(layoutsOf);
  // Without prototypes, because `constructor` is a valid node name.
  const seenNodes: Record<string, NodeObservation> = Object.create(null);
  const seenFailures: Record<string, readonly Diagnostic[]> = Object.create(null);
  const { isSimulated } = run.console;
  const observed =
    seen ??
    (await observeNodes(run, nodes, ways, {
      ...shownOnly(run),
      tokensOf: layouts,
      onSeen: (one, failures) => {
        seenNodes[one.node] = one;
        if (failures.length > 0) seenFailures[one.node] = failures;
        onSeen?.({ desired, observation: { nodes: seenNodes, failures: seenFailures } });
      },
    }));
  const again = (wanted: readonly NodeName[]): Promise<FleetObservation> => {
    const some = nodes.filter(({ name }) => wanted.includes(name));
    return observeNodes(run, some, ways, { ...shownOnly(run), facts: factNames });
  };
  const settled = isAsStarted ? await observeSilentMeshes(observed, layouts, again) : observed;
  const observation = withShutdowns(run, desired.name, settled);
  const measured = readMeasuredCables(journalsOf(run, desired.name));
  const viewFor = (fleet: DesiredFleet) => viewOf({ desired: fleet, observation, targets: names });
  const inFile = viewFor(withMeasured(run, locked, measured));
  const started = isAsStarted ? withRecordedSettings(inFile) : undefined;
  const view = started === undefined ? inFile : viewFor(started.desired);
  const placements = surveyPlacements(view);
  const broken = fleetFindings(desired, observation, measured);
  const found = withoutConsequences([...broken, ...placementFindings(view, placements)], placements);
  logFindings(run, found);
  return {
    desired,
    /** `desired` with the lock's values, as needed for plans. */
    locked: started?.desired ?? locked,
    /** Placements whose settings in the file are not those of their last start; empty unless asked for. */
    changed: started?.changed ?? [],
    names,
    observation,
    placements,
    clients: clientCounts(view, placements),
    cabled: goodCables(view, placements),
    findings: found,
    /** True if anything is wrong with Macs or cables. Notices, for example about a hold, do not count. */
    isBroken: broken.some(({ severity }) => severity !== 'notice'),
    budgets: launchBudgets(view),
    isSimulated,
  };
}

/** Adds when this computer shut down each Mac that does not answer, unless a later run contacted it. */
function withShutdowns(run: Run, cluster: string, observation: FleetObservation): FleetObservation {
  const isOff = (one: Diagnostic): boolean => hasTrait(one, 'looks-off');
  const silent = Object.entries(observation.failures).filter(([, found]) => found.some(isOff));
  if (silent.length === 0) return observation;
  const journals = readableRuns(journalsOf(run, cluster));
  // Without a prototype, because `constructor` is a valid node name.
  const failures: Record<string, readonly Diagnostic[]> = Object.assign(Object.create(null), observation.failures);
  for (const [node, found] of silent) {
    const words = shutdownOf(journals, node);
    if (words === undefined) continue;
    const hint = run.console.isSimulated
      ? prose`Turn it on: ${meshwright('sim power-on', node)}`
      : 'Press its power button.';
    failures[node] = found.map((one) => (isOff(one) ? { ...one, detail: prose`${one.detail} ${words}`, hint } : one));
  }
  return { ...observation, failures };
}

/** Reports when the newest run on a node shut it down; undefined if that run did not. @param journals newest first */
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
  return prose`${escapeText(by)} shut this Mac down (${aside(meshwright('shutdown'))}) at ${utcText(Math.floor(Date.parse(done.at) / 1_000))}.`;
}

/** Shown below the faults of simulated Macs, whose hints are written for real ones. */
const mending = prose`Simulated rack: ${aside(meshwright('sim fault', '--clear'))} clears all injected faults.`;

export const status: VerbBody = async (run) => {
  if (run.own['watch'] === true) return watchStatus(run);
  const { names, isBroken, ...seen } = await checkWithRows(run);
  const incidents = readIncidents(journalsOf(run, seen.desired.name));
  const recoveries = seen.placements.flatMap(({ name }) => recoveriesIn(incidents, name, Date.now()) ?? []);
  const shown = { ...seen, recoveries };
  const note = shown.isSimulated && isBroken ? `\n${paragraphText(run.console, mending, '  ')}` : '';
  return {
    exit: codeForNodes(names.map((name) => nodeVerdict(name, shown))),
    document: statusJson(shown),
    text: `${statusText(shown, pageFor(run.console))}${note}`,
  };
};

/** Before this time, no rows are shown above the page. */
const quickMs = 1000;

/** If observing takes longer, a terminal shows the Macs observed so far until the page replaces them. */
async function checkWithRows(run: Run): Promise<CheckedFleet> {
  if (run.options.json || !isLive(run.console)) return checkFleet(run);
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
    return await checkFleet(run, {
      onSeen: (seen) => {
        rows = seenLines(seen, pageFor(run.console));
        show();
      },
    });
  } finally {
    clearTimeout(timer);
    showBlock([], []);
  }
}

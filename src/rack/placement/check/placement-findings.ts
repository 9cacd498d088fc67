import { everyNode, onFallback } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import { driverOf } from '../../../drivers/registry.ts';
import { given } from '../../../model/given.ts';
import { seenValue } from '../../../model/known.ts';
import { groupBy } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import { isPlacement, nodesSubject, placementSubject } from '../../../model/subject.ts';
import { meshwright } from '../../../model/text/command.ts';
import { joinProse, named, namedList, prose } from '../../../model/text/prose.ts';
import { layoutText } from '../../../model/text/units.ts';
import { readValue } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, View } from '../../resource.ts';
import { isClosed } from '../endpoint/seen-gateways.ts';
import { endpointStatus } from '../mesh/gateway-steps.ts';
import type { OrphanedRank } from '../mesh/stop-mesh.ts';
import { placementsFact } from '../observed/fact.ts';
import { budgetFindings, lastStartFindings, markedAmong, rebootFindings } from '../placement-blockers.ts';
import { areSeen, awayNodes } from '../state/layouts.ts';
import { orphans, type PlacementCase, placementCases } from '../state/placement-cases.ts';
import { gidFindings } from './gid-index.ts';
import { bridgedLinks, checkDiagnostic } from './placement-checks.ts';
import type { PlacementSurvey, SuspendedRank } from './placement-survey.ts';
import { hintOf, lateWords, rdmaSuspicions, startHistory } from './rdma-suspicions.ts';

/**
 * Findings about the file's placements, each with one action. A placement that could not be checked gets none if one of
 * its nodes was not fully observed, because that node has a separate finding.
 */
export function placementFindings(view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] {
  const spent = budgetFindings(view);
  const others = surveys.filter((one) => !isAmong(spent, one));
  return [
    ...others.flatMap((one) => findingOf(one, view)),
    ...spent,
    ...lastStartFindings(view),
    ...noStartFindings(view),
    ...fallbackFindings(view, surveys),
    ...drafterFindings(view),
    ...gatewayFindings(view),
    ...exposedFindings(view),
    ...rebootFindings(view),
    ...rdmaSuspicions(view, startable(view, others)),
    ...orphanedRankFindings(view),
  ];
}

const isAmong = (findings: readonly Diagnostic[], { name }: PlacementSurvey): boolean =>
  findings.some(({ subject }) => isPlacement(subject, name));

const startable = (view: View, surveys: readonly PlacementSurvey[]): readonly PlacementSurvey[] =>
  surveys.filter(({ nodes }) => markedAmong(view, nodes).length === 0);

/** Findings about failed last starts, for a plan that starts again. If none failed, the plan is the thing to try. */
export function startAdvice(view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] {
  const spent = budgetFindings(view);
  const failed = startable(view, surveys).filter(
    // A sure cause is a blocker of the plan.
    (one) => startHistory(view, one).rung !== 'start' && !isAmong(spent, one) && sureFinding(one, view) === undefined,
  );
  const found = failed.flatMap((one) => [...rdmaSuspicions(view, [one]), ...findingOf(one, view)].slice(0, 1));
  return found.map((one) => ({ ...one, severity: 'warning' }));
}

export const drafterFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap(({ elsewhere, ...own }) => {
    const { placement, leader, mesh, driver, drafter } = elsewhere ?? own;
    const said = seenValue(mesh.ranks[0]?.seen)?.record?.said ?? [];
    if (drafter === undefined || mesh.state !== 'serving' || driver?.observe(said).isWithoutDrafter !== true) return [];
    const detail = `${placement.name} on ${leader} answers without ${drafter.name}: its tokens differ from those of ${placement.model}.`;
    return [diagnose('llama/drafter-not-used', { subject: placementSubject(placement.name), detail })];
  });

const exposedFindings = ({ desired }: View): readonly Diagnostic[] =>
  desired.placements.flatMap((placement) => {
    const runtime = desired.runtimes.find(({ name }) => name === placement.runtime);
    const found = runtime === undefined ? [] : (driverOf(runtime).exposed?.(placement) ?? []);
    return found.map((one) => checkDiagnostic(placement, one));
  });

function findingOf(one: PlacementSurvey, view: View): readonly Diagnostic[] {
  const { name, standing, wanted } = one;
  const subject = placementSubject(name);
  if (standing === 'unknown') {
    const detail = sentence(`Its state is unknown: ${one.evidence}`);
    return one.nodes.some((node) => isUnseen(node, view)) ? [] : [diagnose('mesh/not-judged', { subject, detail })];
  }
  // A placement that serves on its fallback has a separate finding.
  if (standing !== 'differs' || (one.onFallback !== undefined && one.state === 'serving')) return [];
  if (wanted === 'stopped') {
    return [
      diagnose('mesh/not-stopped', {
        subject,
        detail: 'The file says `stopped`, but some ranks of this placement are running.',
      }),
    ];
  }
  if (one.suspended !== undefined) return [suspendedFinding(one, one.suspended)];
  const sure = sureFinding(one, view);
  if (sure !== undefined) return [sure];
  const detail = prose`${sentence(wordsOf(one))}${failureWords(one)}${lateWords(view, one)}`;
  const code = one.instance === 'missing' ? 'mesh/instance-missing' : 'mesh/not-serving';
  return [diagnose(code, { subject, detail, ...given({ hint: hintOf(one, view) }) })];
}

function suspendedFinding({ name }: PlacementSurvey, suspended: readonly SuspendedRank[]): Diagnostic {
  const ranks = suspended.map(({ node, rank, pids }) => {
    const processes = pids.length === 1 ? 'process' : 'processes';
    return prose`rank ${rank} on ${named(node)} (${processes} ${pids.join(', ')})`;
  });
  const resumes = suspended.map(({ node, pids }) => prose`on ${named(node)}, \`sudo kill -CONT ${pids.join(' ')}\``);
  return diagnose('mesh/rank-suspended', {
    subject: placementSubject(name),
    detail: prose`A signal has suspended ${joinProse(ranks, ', ')}.`,
    hint: withCommands(
      prose`Resume without losing a request: ${joinProse(resumes, '; ')}. Or start the placement again`,
      [meshwright('restart', name)],
    ),
  });
}

/** A cause that neither a start nor `apply` removes: the file wants it, or no cure is known. */
function sureFinding({ name }: PlacementSurvey, { desired, observation }: View): Diagnostic | undefined {
  const placement = desired.placements.find((one) => one.name === name);
  if (placement === undefined) return undefined;
  const nodes = placement.nodes.flatMap((node) => observation.nodes[node] ?? []);
  const [found] = [...bridgedLinks(placement, desired, nodes), ...gidFindings(placement, desired, nodes)];
  return found === undefined ? undefined : checkDiagnostic(placement, found);
}

export const noStartFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap(({ placement, mesh }) => {
    if (placement.state !== 'serving' || mesh.state !== 'serving') return [];
    const nodes = placement.nodes.flatMap((node) => view.observation.nodes[node] ?? []);
    return gidFindings(placement, view.desired, nodes).map((found) =>
      checkDiagnostic(placement, {
        ...found,
        severity: 'warning',
        detail: `It serves now, but its next start will fail. ${found.detail}`,
      }),
    );
  });

function isUnseen(node: NodeName, { observation }: View): boolean {
  const facts = observation.nodes[node]?.facts;
  return readValue(facts, placementsFact) === undefined || readValue(facts, servicesFact) === undefined;
}

/** Formats a text as one sentence on one line, and escapes text from nodes. */
const sentence = (text: string): string => `${escapeText(text.replace(/\.$/, ''))}.`;

function wordsOf({ state, evidence }: PlacementSurvey): string {
  switch (state) {
    case 'not-placed':
      return 'It was never started';
    case 'stopped':
      return `It is stopped: ${evidence}`;
    case 'changed':
      return `It runs, but does not match the file: ${evidence}`;
    default:
      return `It is ${state}: ${evidence}`;
  }
}

const failureWords = ({ failure }: PlacementSurvey): string =>
  failure === undefined
    ? ''
    : ` First failure: ${failure.rank}. It logged "${escapeText(failure.line)}". ${failure.meaning}`;

/** True for a rank on its placement's fallback, and for what a stop there leaves: neither is orphaned. */
const isOfFallback = ({ placement, elsewhere }: PlacementCase, { node, seen }: OrphanedRank): boolean =>
  elsewhere !== undefined || (placement.state === 'stopped' && !seen.mayRun && everyNode(placement).includes(node));

function orphanedRankFindings(view: View): readonly Diagnostic[] {
  const own = placementCases(view).flatMap((one) => one.orphanedRanks.filter((rank) => !isOfFallback(one, rank)));
  const all = [...own, ...orphans(view)];
  return [...groupBy(all, ({ placement }) => placement)].map(([placement, found]) =>
    diagnose('mesh/orphaned-rank', {
      subject: nodesSubject(found.map(({ node }) => node)),
      detail: prose`An orphaned rank of ${escapeText(placement)} is on ${namedList(found.map(({ node }) => node))}.`,
    }),
  );
}

/**
 * Placements that run on their fallback, and placements that do not serve but whose fallback can be started because all
 * its nodes were observed.
 */
export const fallbackFindings = (view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] =>
  surveys.flatMap((one) => (one.onFallback === undefined ? offered(one, view) : running(one)));

/** Added for a fallback that runs but does not serve; a fallback without a process does not count as running. */
const brokenWords: Readonly<Partial<Record<PlacementSurvey['state'], string>>> = {
  hung: ' It returns no token there.',
  partial: ' Some of its ranks do not run there.',
  changed: ' The ranks that run there do not match the file.',
};

function running(one: PlacementSurvey): readonly Diagnostic[] {
  const { name, nodes, onFallback: there, wanted, state } = one;
  if (there === undefined || wanted === 'stopped') return [];
  const { contextTokens, away } = there;
  const wait = away.length === 0 ? '' : ` Moving it back waits for ${away.join(', ')}.`;
  const runs = `It runs on its fallback: ${layoutText({ nodes, contextTokens })}.${brokenWords[state] ?? ''}`;
  const detail = `${runs}${wait}`;
  const isBroken = brokenWords[state] !== undefined;
  const hint = withCommands(
    `${isBroken ? 'Restart it there. ' : ''}Once its own nodes are available again, move it back (this interrupts it)`,
    [...(isBroken ? [meshwright('restart', name)] : []), meshwright('apply', '--allow', 'interrupt')],
  );
  return [diagnose('mesh/on-fallback', { subject: placementSubject(name), detail, hint })];
}

const broken: readonly PlacementSurvey['state'][] = ['hung', 'partial', 'dead'];

/** Whether it broke, or its last start failed and the rescue stopped it. One that a person stopped only needs a start. */
const cannotServe = (one: PlacementSurvey, view: View): boolean =>
  broken.includes(one.state) || (one.state === 'stopped' && startHistory(view, one).rung !== 'start');

function offered(one: PlacementSurvey, view: View): readonly Diagnostic[] {
  const { name, state, wanted } = one;
  const { desired, observation } = view;
  const placement = desired.placements.find((own) => own.name === name);
  if (placement?.fallback === undefined || wanted === 'stopped' || state === 'serving') return [];
  const away = awayNodes(one.nodes, observation);
  if (!areSeen(placement.fallback.nodes, observation) || !(away.length > 0 || cannotServe(one, view))) return [];
  const why = away.length > 0 ? `Could not observe ${away.join(', ')}` : 'It does not serve';
  const detail = `${why}. Its fallback can be started: ${layoutText(onFallback(placement))}.`;
  const hint = withCommands('Start the fallback', [meshwright('start', name, '--fallback')]);
  return [diagnose('mesh/fallback-there', { subject: placementSubject(name), detail, hint })];
}

/** Serving placements whose gateway is closed, as after a drain: it accepts no requests until it is opened again. */
export const gatewayFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap(({ elsewhere, ...own }) => {
    const one = elsewhere ?? own;
    const { placement, leader, mesh } = one;
    const target = view.targets.find(({ desired }) => desired.name === leader);
    if (placement.publication === undefined || placement.state !== 'serving' || mesh.state !== 'serving') return [];
    const isShut = target && seenValue(isClosed(target, placement.endpointPort, placement.name));
    return isShut === true ? [gatewayFinding(one, target)] : [];
  });

function gatewayFinding({ placement, leader }: PlacementCase, { facts }: ObservedTarget): Diagnostic {
  const { name, endpointPort, replica } = placement;
  const said = seenValue(endpointStatus(facts, name, endpointPort));
  const reason = said?.closed === undefined ? '.' : `: ${escapeText(said.closed)}`;
  const inFlight = said === undefined ? '' : ` Requests in flight: ${said.running + said.waiting}.`;
  const at = `port ${endpointPort} on ${leader}`;
  const effect = replica === undefined ? `clients of ${at} get 503` : `requests to ${at} go to the other replicas`;
  return diagnose('endpoint/closed', {
    subject: placementSubject(name),
    detail: `It serves, but ${effect}${reason}${inFlight}`,
    hint: prose`To accept requests again: ${meshwright('start', name)}. The next apply does it, too.`,
  });
}

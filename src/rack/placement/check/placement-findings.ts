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
import { namedList, prose } from '../../../model/text/prose.ts';
import { layoutText } from '../../../model/text/units.ts';
import { readValue } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import type { ObservedTarget, View } from '../../resource.ts';
import { doorSight } from '../endpoint/doors.ts';
import { isClosed } from '../endpoint/seen-doors.ts';
import { placementsFact } from '../observed/fact.ts';
import { budgetFindings, lastStartFindings, markedAmong, rebootFindings } from '../placement-blockers.ts';
import { areSeen, awayNodes } from '../state/layouts.ts';
import { orphans, type PlacementCase, placementCases } from '../state/placement-cases.ts';
import type { Leftover } from '../stop-mesh.ts';
import { bridgedLinks, checkDiagnostic } from './placement-checks.ts';
import type { PlacementSurvey } from './placement-survey.ts';
import { hintOf, rdmaSuspicions, startHistory } from './rdma-suspicions.ts';

/**
 * What is wrong with the placements of the file, each with one thing to do. Of one that nobody could judge nothing is
 * said where a node of it was not observed to the end: that is told of the node.
 */
export function placementFindings(view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] {
  const spent = budgetFindings(view);
  const others = surveys.filter((one) => !isAmong(spent, one));
  return [
    ...others.flatMap((one) => findingOf(one, view)),
    ...spent,
    ...lastStartFindings(view),
    ...fallbackFindings(view, surveys),
    ...doorFindings(view),
    ...exposedFindings(view),
    ...rebootFindings(view),
    ...rdmaSuspicions(view, startable(view, others)),
    ...leftOver(view),
  ];
}

const isAmong = (findings: readonly Diagnostic[], { name }: PlacementSurvey): boolean =>
  findings.some(({ subject }) => isPlacement(subject, name));

/** Those with no Mac that has to restart before anything is started there. */
const startable = (view: View, surveys: readonly PlacementSurvey[]): readonly PlacementSurvey[] =>
  surveys.filter(({ nodes }) => markedAmong(view, nodes).length === 0);

/**
 * What `doctor` says of placements whose last start failed: a plan that starts them again says the same. Where none has
 * failed, the plan is itself the first thing to try.
 */
export function startAdvice(view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] {
  const spent = budgetFindings(view);
  const failed = startable(view, surveys).filter(
    (one) => startHistory(view, one).rung !== 'start' && !isAmong(spent, one),
  );
  const found = failed.flatMap((one) => [...rdmaSuspicions(view, [one]), ...findingOf(one, view)].slice(0, 1));
  return found.map((one) => ({ ...one, severity: 'warning' }));
}

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
    const detail = sentence(`Unknown: ${one.evidence}`);
    return one.nodes.some((node) => isUnseen(node, view)) ? [] : [diagnose('mesh/not-judged', { subject, detail })];
  }
  // That it serves, and where it does not belong, is told by itself.
  if (standing !== 'differs' || (one.onFallback !== undefined && one.state === 'serving')) return [];
  if (wanted === 'stopped') {
    return [diagnose('mesh/not-stopped', { subject, detail: 'The file wants it stopped, and ranks of it run.' })];
  }
  const bridged = bridgedFinding(one, view);
  if (bridged !== undefined) return [bridged];
  const detail = `${sentence(wordsOf(one))}${failureWords(one)}`;
  return [diagnose('mesh/not-serving', { subject, detail, ...given({ hint: hintOf(one, view) }) })];
}

/** The one cause that no start and no apply ends, since the file wants it so. */
function bridgedFinding({ name }: PlacementSurvey, { desired, observation }: View): Diagnostic | undefined {
  const placement = desired.placements.find((one) => one.name === name);
  if (placement === undefined) return undefined;
  const nodes = placement.nodes.flatMap((node) => observation.nodes[node] ?? []);
  const [found] = bridgedLinks(placement, desired, nodes);
  return found === undefined ? undefined : checkDiagnostic(placement, found);
}

function isUnseen(node: NodeName, { observation }: View): boolean {
  const facts = observation.nodes[node]?.facts;
  return readValue(facts, placementsFact) === undefined || readValue(facts, servicesFact) === undefined;
}

/** One sentence on one line; what a node put into it shows as it is, harmless. */
const sentence = (text: string): string => `${escapeText(text.replace(/\.$/, ''))}.`;

function wordsOf({ state, evidence }: PlacementSurvey): string {
  switch (state) {
    case 'not-placed':
      return 'It was never started';
    case 'stopped':
      return `It is stopped: ${evidence}`;
    case 'changed':
      return `It runs with old settings: ${evidence}`;
    default:
      return `It is ${state}: ${evidence}`;
  }
}

/** What the rank that failed first says, and what that means. */
const failureWords = ({ failure }: PlacementSurvey): string =>
  failure === undefined ? '' : ` First failed ${failure.rank}: "${escapeText(failure.line)}". ${failure.meaning}`;

/** What belongs to a placement on its fallback is not left over, nor what a stop there has left of one that stays stopped. */
const isOfFallback = ({ placement, elsewhere }: PlacementCase, { node, seen }: Leftover): boolean =>
  elsewhere !== undefined || (placement.state === 'stopped' && !seen.mayRun && everyNode(placement).includes(node));

function leftOver(view: View): readonly Diagnostic[] {
  const own = placementCases(view).flatMap((one) => one.strangers.filter((member) => !isOfFallback(one, member)));
  const all = [...own, ...orphans(view)];
  return [...groupBy(all, ({ placement }) => placement)].map(([placement, found]) =>
    diagnose('mesh/left-over', {
      subject: nodesSubject(found.map(({ node }) => node)),
      detail: prose`A rank of ${escapeText(placement)} is left over on ${namedList(found.map(({ node }) => node))}.`,
    }),
  );
}

/**
 * Placements that run on their fallback, and those that do not serve while their fallback could be started: each of its
 * nodes was seen.
 */
export const fallbackFindings = (view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] =>
  surveys.flatMap((one) => (one.onFallback === undefined ? offered(one, view) : running(one)));

/** Where it does not serve there; a fallback of which nothing has a process is none that runs. */
const brokenWords: Readonly<Partial<Record<PlacementSurvey['state'], string>>> = {
  hung: ' It gives no token there.',
  partial: ' Some of its ranks do not run there.',
  changed: ' What runs there is not what the file says.',
};

function running(one: PlacementSurvey): readonly Diagnostic[] {
  const { name, nodes, onFallback: there, wanted, state } = one;
  if (there === undefined || wanted === 'stopped') return [];
  const { contextTokens, away } = there;
  const wait = away.length === 0 ? '' : ` To be moved back it waits for ${away.join(', ')}.`;
  const runs = `It runs on its fallback: ${layoutText({ nodes, contextTokens })}.${brokenWords[state] ?? ''}`;
  const detail = `${runs}${wait}`;
  const isBroken = brokenWords[state] !== undefined;
  const hint = withCommands(
    `${isBroken ? 'Restart it there. ' : ''}Once its own nodes can carry it again, move it back, which interrupts it`,
    [...(isBroken ? [meshwright('restart', name)] : []), meshwright('apply', '--allow', 'interrupt')],
  );
  return [diagnose('mesh/on-fallback', { subject: placementSubject(name), detail, hint })];
}

/** States of what was started and is broken; what was never started, or was stopped, only if a node of it is away. */
const broken: readonly PlacementSurvey['state'][] = ['hung', 'partial', 'dead'];

function offered(one: PlacementSurvey, { desired, observation }: View): readonly Diagnostic[] {
  const { name, state, wanted } = one;
  const placement = desired.placements.find((own) => own.name === name);
  if (placement?.fallback === undefined || wanted === 'stopped' || state === 'serving') return [];
  const away = awayNodes(one.nodes, observation);
  if (!areSeen(placement.fallback.nodes, observation) || !(away.length > 0 || broken.includes(state))) return [];
  const why = away.length > 0 ? `Nobody can see ${away.join(', ')}` : 'It does not serve';
  const detail = `${why}; its fallback can be started: ${layoutText(onFallback(placement))}.`;
  const hint = withCommands('Start it there', [meshwright('start', name, '--fallback')]);
  return [diagnose('mesh/fallback-there', { subject: placementSubject(name), detail, hint })];
}

/** Placements that serve and whose door is closed, as a drain leaves it: nobody new gets in until somebody opens it. */
export const doorFindings = (view: View): readonly Diagnostic[] =>
  placementCases(view).flatMap(({ elsewhere, ...own }) => {
    const one = elsewhere ?? own;
    const { placement, leader, mesh } = one;
    const target = view.targets.find(({ desired }) => desired.name === leader);
    if (placement.publication === undefined || placement.state !== 'serving' || mesh.state !== 'serving') return [];
    const isShut = target && seenValue(isClosed(target, placement.endpointPort, placement.name));
    return isShut === true ? [doorFinding(one, target)] : [];
  });

function doorFinding({ placement, leader }: PlacementCase, { facts }: ObservedTarget): Diagnostic {
  const { name, endpointPort } = placement;
  const said = seenValue(doorSight(facts, name, endpointPort));
  const reason = said?.closed === undefined ? '.' : `: ${escapeText(said.closed)}`;
  const inside = said === undefined ? '' : ` ${said.running + said.waiting} inside.`;
  return diagnose('endpoint/door-closed', {
    subject: placementSubject(name),
    detail: `It serves, and whoever comes to port ${endpointPort} of ${leader} gets 503${reason}${inside}`,
    hint: prose`When clients may come again: ${meshwright('start', name)}. The next apply opens it, too.`,
  });
}

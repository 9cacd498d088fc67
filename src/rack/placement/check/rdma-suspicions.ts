import { layoutOn } from '../../../desired/layouts.ts';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../../diagnostics/diagnostic.ts';
import { escapeText } from '../../../diagnostics/escape.ts';
import { withCommands } from '../../../diagnostics/prose-text.ts';
import type { FailureAction, PlacementFinding } from '../../../drivers/contract/driver.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import type { FactsRdmaStarts } from '../../../model/documents.generated.ts';
import { given } from '../../../model/given.ts';
import { seenValue } from '../../../model/known.ts';
import { groupBy } from '../../../model/lists.ts';
import { carriedSince, commonMacs, type MeasuredLink } from '../../../model/measured-cable.ts';
import type { Link, LinkEnd, NodeName } from '../../../model/node.ts';
import { linkSubject, nodesSubject, placementSubject, subjectNodes } from '../../../model/subject.ts';
import { aside, meshwright } from '../../../model/text/command.ts';
import { joinProse, mapWords, named, namedList, type Prose, prose } from '../../../model/text/prose.ts';
import { receptacleDevices } from '../../addresses/reading.ts';
import { bootSessionFact } from '../../boot/fact.ts';
import { mayPanicUnderTcp } from '../../boot/rule.ts';
import { linkAt } from '../../cabling/judge-cabling.ts';
import type { Examination, ExaminedNode } from '../../examination.ts';
import { readValue } from '../../fact.ts';
import { interfacesFact } from '../../network/interfaces-fact.ts';
import { kernelObjects } from '../../rdma/kernel-fact.ts';
import { nodeRdma, receptacleRdma } from '../../rdma/receptacle-reading.ts';
import type { View } from '../../resource.ts';
import { placementsFact, rdmaStartsFact } from '../observed/fact.ts';
import { markedAmong } from '../placement-blockers.ts';
import { gidFindings } from './gid-index.ts';
import { type LateRank, lateRank } from './late-rank.ts';
import { queuePairFindings } from './placement-checks.ts';
import type { PlacementSurvey } from './placement-survey.ts';

const linksOf = ({ desired }: View, { nodes }: Pick<DesiredPlacement, 'nodes'>): readonly Link[] =>
  desired.thunderbolt.links.filter(({ ends }) => ends.every(({ node }) => nodes.includes(node)));

/** True if a link is cabled as declared and both ends pass a test; an unknown result fails. */
function isWhole(
  { cabling, nodes }: Examination,
  { ends }: Link,
  isSo: (node: ExaminedNode, end: LinkEnd) => boolean,
): boolean {
  const isEndSo = (end: LinkEnd): boolean => nodes.some((node) => node.name === end.node && isSo(node, end));
  return linkAt(cabling.links, ends[0])?.judgement.kind === 'as-declared' && ends.every(isEndSo);
}

const isFine = (examination: Examination, link: Link): boolean =>
  isWhole(
    examination,
    link,
    (node, end) => nodeRdma(node) === 'ready' && receptacleRdma(examination, node, end).kind === 'ready',
  );

interface Complaint {
  readonly node: NodeName;
  readonly text: string;
}

/** The error logged by a placement's start, if that start was in the current boot session. */
function complaintsIn(
  starts: FactsRdmaStarts['last'] | undefined,
  { name: node, facts }: ExaminedNode,
  placement: string,
): readonly Complaint[] {
  const found = starts?.find((one) => one.placement === placement);
  const isOfNow = found?.startedIn === readValue(facts, bootSessionFact)?.uuid;
  return isOfNow && found?.complaint !== undefined ? [{ node, text: found.complaint }] : [];
}

/**
 * Errors of the verbs library when a device is exhausted: ENOMEM, no protection domain, or EBUSY for one queue pair too
 * many.
 * @see docs/rdma.md
 */
const exhausted = /protection domain|create_qp|errno ?[=:]? ?(?:12|16)\b/i;

/** EHOSTUNREACH, which macOS returns immediately to a program without local network access. @see Apple TN3179 */
const noRoute = /err(?:no|or) ?[=:]? ?65\b|No route to host/i;

const causeWords = 'all RDMA checks pass at both ends';

const tcpCauseWords = 'its cables are as declared and have addresses';

const saidBy = (complaints: readonly Complaint[]): Prose =>
  joinProse(
    complaints.map(({ node, text }) => prose`${named(node)} logged "${escapeText(text)}"`),
    '; ',
  );

function localNetworkFinding({ name }: PlacementSurvey, complaints: readonly Complaint[], fine: string): Diagnostic {
  return diagnose('mesh/suspected-local-network', {
    subject: nodesSubject(complaints.map(({ node }) => node)),
    detail: prose`Suspected: macOS denies ${name} access to the local network, although ${fine}. ${saidBy(complaints)}.`,
  });
}

/** The findings of a check about the layout that a survey describes: then the cause is certain. */
function certain(
  check: typeof queuePairFindings,
  { name, nodes }: PlacementSurvey,
  { desired, observation }: View,
): readonly PlacementFinding[] {
  const placement = desired.placements.find((one) => one.name === name);
  if (placement === undefined) return [];
  const observed = nodes.flatMap((node) => observation.nodes[node] ?? []);
  return check(layoutOn(placement, nodes), desired, observed);
}

/** True if restarting a Mac may free kernel objects; unknown counts as yes. */
function mayHoldObjects({ observation }: View, node: NodeName): boolean {
  const facts = observation.nodes[node]?.facts;
  const left = seenValue(facts && kernelObjects(facts))?.withoutProcess;
  return left === undefined || left.domains + left.queuePairs > 0;
}

function exhaustedFinding(survey: PlacementSurvey, complaints: readonly Complaint[], view: View): Diagnostic {
  const { name } = survey;
  const nodes = complaints.map(({ node }) => node);
  const said = saidBy(complaints);
  const [sure] = certain(queuePairFindings, survey, view);
  if (sure !== undefined) {
    return diagnose(sure.code, {
      subject: placementSubject(name),
      detail: prose`${sure.detail} The last start failed: ${said}.`,
    });
  }
  const detail = prose`Suspected: no protection domain or queue pair is left. The last start of ${name} failed: ${said}.`;
  const full = nodes.filter((node) => mayHoldObjects(view, node));
  return diagnose('rdma/suspected-exhausted', {
    subject: nodesSubject(nodes),
    ...(full.length > 0
      ? {
          detail,
          hint: ladderHint(view, survey, {
            nodes: full,
            macs: full.length === 1 ? 'that Mac' : 'those Macs',
            byHand: 'Quit every other program there that opens RDMA devices, then start the placement again.',
          }),
        }
      : {
          detail: prose`The last start of ${name} failed: ${said}. A restart of the Mac would not help, because the kernel holds no leftover RDMA objects.`,
          hint: withCommands('Start it again, then read its log', [
            meshwright('restart', name),
            meshwright('logs', name),
          ]),
        }),
  });
}

/** The links whose addresses an error mentions. */
const mentionedLinks = ({ desired }: View, links: readonly Link[], texts: readonly string[]): readonly Link[] =>
  links.filter((link) => {
    const network = desired.thunderbolt.networks[link.index];
    return network !== undefined && texts.some((text) => namesNetwork(text, network.address));
  });

/** True if a text names one of the two addresses of a /30. */
function namesNetwork(text: string, network: string): boolean {
  const at = network.lastIndexOf('.') + 1;
  const first = Number(network.slice(at));
  return [1, 2].some((offset) => {
    const address = `${network.slice(0, at)}${first + offset}`.replaceAll('.', '\\.');
    return new RegExp(`(?<![\\d.])${address}(?![\\d])`).test(text);
  });
}

/** What a link carried since the Macs at both ends booted; an earlier measurement says nothing about it now. */
function carriedNow({ desired, observation }: View, { index, ends }: Link): MeasuredLink['carries'] | undefined {
  const bootTimes = ends.map(({ node }) => {
    const session = readValue(observation.nodes[node]?.facts, bootSessionFact);
    return session === undefined ? Number.POSITIVE_INFINITY : session.bootedAtEpochSeconds * 1_000;
  });
  return carriedSince(desired.thunderbolt.measured?.[index], bootTimes);
}

/** The placements whose cables were all measured as good since their Macs booted; undefined if none can be measured. */
export function goodCables(view: View, surveys: readonly PlacementSurvey[]): readonly string[] | undefined {
  if (view.desired.thunderbolt.canMeasure !== true) return undefined;
  const isGood = (survey: PlacementSurvey): boolean =>
    linksOf(view, survey).every((link) => {
      const carries = carriedNow(view, link);
      return carries === 'rdma' || (carries === 'tcp' && survey.transport === 'tcp');
    });
  return surveys.filter(isGood).map(({ name }) => name);
}

interface Suspects {
  readonly links: readonly Link[];
  readonly nodes: readonly NodeName[];
  /** Whether they are measured as dead, can be measured, or need a compiled program first. */
  readonly proof: 'measured' | 'measurable' | 'compilable' | 'none';
  readonly late?: LateRank;
}

const macsAt = ({ length }: readonly NodeName[], words: string): string =>
  length === 1 ? 'the Mac at the end of all of them' : words;

/** What the survey and the ranks' logs say about a failure. */
const textsOf = ({ evidence, failure, name }: PlacementSurvey, nodes: readonly ExaminedNode[]): readonly string[] => [
  evidence,
  ...(failure?.isUnreached === true ? [failure.line] : []),
  ...nodes.flatMap((node) => [...rdmaComplaint(node, name), ...nodeComplaint(node, name)]).map(({ text }) => text),
];

/** The late rank with its cables; otherwise the links that a text mentions, or all links of the placement. */
function suspectsOf(view: View, survey: PlacementSurvey): Suspects {
  const own = linksOf(view, survey);
  const carried = own.map((link) => carriedNow(view, link));
  const dead = own.filter(
    (_, at) => carried[at] === 'nothing' || (carried[at] === 'tcp' && survey.transport === 'rdma'),
  );
  const nodes = membersOf(view, survey);
  const mentioned = mentionedLinks(view, own, textsOf(survey, nodes));
  const late = lateRank({ placement: survey.name, nodes, links: own, dead, mentioned });
  const by = view.desired.thunderbolt.canMeasure === true ? 'measurable' : 'compilable';
  const proof = carried.includes(undefined) ? by : 'none';
  if (late?.isWeak === false) {
    const isMeasured = late.links.some((link) => dead.includes(link));
    // A measurement can show that only one of the two Macs is the cause.
    const isOpen = late.links.length === 1 && own.length > 1;
    return { links: late.links, nodes: late.macs, proof: isMeasured ? 'measured' : isOpen ? proof : 'none', late };
  }
  const more = given({ late });
  if (dead.length > 0) return { links: dead, nodes: commonMacs(dead), proof: 'measured', ...more };
  const links = mentioned.length > 0 ? mentioned : own;
  const ends = [...new Set(links.flatMap((link) => link.ends.map(({ node }) => node)))].toSorted();
  return { links, nodes: ends, proof, ...more };
}

function deadFinding(view: View, survey: PlacementSurvey, complaints: readonly Complaint[]): Diagnostic {
  const { failure } = survey;
  const unanswered = failure?.isUnreached === true ? [failure] : [];
  const words = [...complaints, ...unanswered.map(({ node, line }) => ({ node, text: line }))];
  const { links, nodes, proof, late } = suspectsOf(view, survey);
  const [only] = links;
  // A measurement and a quoted error say the same.
  const more = late === undefined || proof === 'measured' || (links.length === 1 && words.length > 0) ? '' : late.text;
  const said = joinProse(
    [...groupBy(words, ({ text }) => text)].map(([text, all]) => {
      const macs = all.map(({ node }) => node).filter((node, at, nodes) => nodes.indexOf(node) === at);
      return prose`; ${namedList(macs)} logged "${text}"`;
    }),
    '',
  );
  const areAll = proof === 'measured' || (late?.links ?? []).length > 0;
  const several = areAll ? `${links.length} cables carry` : `one of ${links.length} cables carries`;
  const what = links.length === 1 ? 'this cable carries' : several;
  const why = prose`${survey.name} is ${survey.state.replace('-', ' ')} (${survey.evidence})${said}`;
  const isOverTcp = survey.transport === 'tcp';
  return diagnose(isOverTcp ? 'address/suspected-no-answer' : 'rdma/suspected-idle-dead', {
    subject: links.length === 1 && only !== undefined ? linkSubject(only.ends) : nodesSubject(nodes),
    detail: prose`${proof === 'measured' ? 'Measured' : 'Suspected'}: ${what} no traffic, although ${isOverTcp ? tcpCauseWords : causeWords}. ${mapWords(why, escapeText)}.${more}`,
    hint: ladderHint(view, survey, {
      nodes,
      proof,
      macs: macsAt(nodes, 'the Macs at both ends'),
      byHand: `At the rack: replace ${links.length === 1 ? 'this cable' : 'these cables, one at a time'}, then start the placement again.`,
    }),
  });
}

/** True if its last start failed because a rank got no answer from its peer's address on a cable. */
const wasUnreached = (view: View, survey: PlacementSurvey): boolean =>
  survey.failure?.isUnreached === true && startHistory(view, survey).hasExited;

/** True if its last start gave no token while its programs ran on. A program that exits logs the reason. */
function wasSilent(view: View, survey: PlacementSurvey): boolean {
  const history = startHistory(view, survey);
  return survey.state === 'stopped' && history.wasSilent && !history.hasExited;
}

/**
 * True if a start or a request for a token failed. A placement that was never started, was stopped on purpose, has a
 * suspended rank, or lacks its instance proves nothing.
 */
const hasFailed = ({ standing, wanted, state, suspended, instance }: PlacementSurvey): boolean =>
  suspended === undefined &&
  instance === undefined &&
  standing === 'differs' &&
  wanted === 'serving' &&
  state !== 'not-placed' &&
  state !== 'changed';

function suspicionsOf(view: View, survey: PlacementSurvey): readonly Diagnostic[] {
  const { examination } = view;
  const links = linksOf(view, survey);
  if (!hasFailed(survey) || links.length === 0 || !links.every((link) => isFine(examination, link))) return [];
  if (certain(gidFindings, survey, view).length > 0) return [];
  const complaints = membersOf(view, survey).flatMap((node) => rdmaComplaint(node, survey.name));
  const spent = complaints.filter(({ text }) => exhausted.test(text));
  if (spent.length > 0) return [exhaustedFinding(survey, spent, view)];
  const unrouted = complaints.filter(({ text }) => noRoute.test(text));
  if (unrouted.length > 0) return [localNetworkFinding(survey, unrouted, causeWords)];
  const hasSymptom =
    survey.state === 'hung' || complaints.length > 0 || wasSilent(view, survey) || wasUnreached(view, survey);
  return hasSymptom && !isOfMac(suspectsOf(view, survey)) ? [deadFinding(view, survey, complaints)] : [];
}

/** True if something on one or two Macs explains the failure, so that no cable is suspected. */
const isOfMac = ({ late }: Suspects): boolean => late?.isWeak === false && late.links.length === 0;

/** The Mac or the cable that holds up a placement. */
export const lateIn = (view: View, survey: PlacementSurvey): LateRank | undefined =>
  hasFailed(survey) && survey.state !== 'partial' ? suspectsOf(view, survey).late : undefined;

/** The sentence about a Mac that holds up its placement. The finding about a cable names its Macs itself. */
export function lateWords(view: View, survey: PlacementSurvey): Prose {
  const late = lateIn(view, survey);
  return late?.links.length === 0 ? late.text : '';
}

/** True if a receptacle's interface has an address that is not self-assigned. */
function hasAddress({ facts }: ExaminedNode, { receptacle }: LinkEnd): boolean {
  const device = seenValue(receptacleDevices(facts))?.get(receptacle);
  const own = readValue(facts, interfacesFact)?.find(({ name }) => name === device);
  return own?.ipv4.some(({ address }) => !address.startsWith('169.254.')) === true;
}

const rdmaComplaint = (node: ExaminedNode, placement: string): readonly Complaint[] =>
  complaintsIn(readValue(node.facts, rdmaStartsFact)?.last, node, placement);

const membersOf = ({ examination }: View, { nodes }: PlacementSurvey): readonly ExaminedNode[] =>
  examination.nodes.filter(({ name }) => nodes.includes(name));

/** The error that a rank has logged since its last start in this boot session. */
const nodeComplaint = (node: ExaminedNode, placement: string): readonly Complaint[] =>
  complaintsIn(readValue(node.facts, placementsFact), node, placement);

/** Over TCP, only a rank's own log shows that it did not reach its peer. */
function tcpSuspicionsOf(view: View, survey: PlacementSurvey): readonly Diagnostic[] {
  const links = linksOf(view, survey);
  const areAddressed = links.length > 0 && links.every((link) => isWhole(view.examination, link, hasAddress));
  if (!hasFailed(survey) || !areAddressed) return [];
  const unrouted = membersOf(view, survey)
    .flatMap((node) => nodeComplaint(node, survey.name))
    .filter(({ text }) => noRoute.test(text));
  if (unrouted.length > 0) return [localNetworkFinding(survey, unrouted, tcpCauseWords)];
  return wasUnreached(view, survey) && !isOfMac(suspectsOf(view, survey)) ? [deadFinding(view, survey, [])] : [];
}

/**
 * Suspected causes that only traffic can reveal: a start or a request for a token failed in this boot session, although
 * every check of the placement's links passes.
 */
export const rdmaSuspicions = (view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] =>
  surveys.flatMap((survey) =>
    survey.transport === 'rdma' ? suspicionsOf(view, survey) : tcpSuspicionsOf(view, survey),
  );

/** What a placement's last start in this boot session recorded, and what to try next. Unobserved nodes add nothing. */
export function startHistory(
  { observation }: View,
  { name, nodes }: { readonly name: string; readonly nodes: readonly NodeName[] },
) {
  const all = nodes.flatMap((node) => {
    const facts = observation.nodes[node]?.facts;
    const session = readValue(facts, bootSessionFact);
    const ranks = session === undefined ? undefined : readValue(facts, placementsFact);
    const own = ranks?.filter((one) => one.placement === name) ?? [];
    return own.map((rank) => ({ rank, isOfNow: rank.startedIn === session?.uuid }));
  });
  const records = all.filter(({ isOfNow }) => isOfNow).map(({ rank }) => rank);
  const failed = records.filter(({ outcome }) => outcome === 'failed' || outcome === 'exited');
  const isAgain = failed.some(({ failedIn }) => failedIn !== undefined);
  // If starts failed both before and after a restart, a person is needed.
  // A restart of one of its Macs may have been the cure.
  const isOpen = failed.length === 0 || all.some(({ isOfNow }) => !isOfNow);
  const rung: 'start' | 'reboot' | 'person' = isOpen ? 'start' : isAgain ? 'person' : 'reboot';
  return {
    rung,
    /** True if it returned no token although its ranks ran, before it was stopped or when its start was abandoned. */
    wasSilent: records.some(({ outcome }) => outcome === 'failed' || outcome === 'hung'),
    /** True if its start failed after a program had exited on its own. */
    hasExited: failed.some(({ outcome }) => outcome === 'exited'),
  };
}

interface Cure {
  readonly nodes: readonly NodeName[];
  /** What is known about its cables; absent if they are not the cause. */
  readonly proof?: Suspects['proof'];
  /** Those Macs in words: `the Macs at both ends`. */
  readonly macs: string;
  /** The manual step if a restart does not help, in whole sentences. */
  readonly byHand: Prose;
}

/** The next thing to try. It is never one that has failed since these Macs booted. */
function ladderHint(view: View, survey: PlacementSurvey, { nodes, proof, macs, byHand }: Cure): Prose {
  const { name, state } = survey;
  const reboot = meshwright('reboot', ...nodes);
  const { rung: last } = startHistory(view, survey);
  // Only these Macs may be the cause: a restart of others says nothing about them.
  const rung = last === 'person' && startHistory(view, { name, nodes }).rung === 'reboot' ? 'reboot' : last;
  const measure = meshwright('cables', '--measure');
  const compile = prose`\nTo restart fewer Macs, find the cable or the Mac first: \`npm run native\`, then ${aside(measure)}`;
  const orMeasure = (hint: Prose): Prose => (proof === 'compilable' ? prose`${hint}${compile}` : hint);
  if (proof === 'measured' && rung !== 'person')
    return withCommands(`A start will not help. Restart ${macs}`, [reboot]);
  switch (rung) {
    case 'start': {
      const restart = meshwright('restart', name);
      return proof === 'measurable'
        ? withCommands('Try a start first; if that does not help, see what doctor reports', [
            restart,
            meshwright('doctor'),
          ])
        : orMeasure(withCommands(`Try a start first; if that does not help, restart ${macs}`, [restart, reboot]));
    }
    case 'reboot': {
      const why = 'Its last start failed, so another start will not help.';
      if (proof !== 'measurable') return orMeasure(withCommands(`${why} Restart ${macs}`, [reboot]));
      const stop = state === 'stopped' ? [] : [meshwright('stop', name)];
      const commands = [...stop, measure, meshwright('doctor')];
      return prose`${withCommands(`${why} Find the cable or the Mac first`, commands)}\nIf the cables cannot be measured, restart ${macs}: ${reboot}`;
    }
    case 'person':
      return prose`Starts failed before and after Macs were restarted. ${byHand}`;
  }
}

/** Failures that `apply`, a start or a restart of Macs can fix, tried in this order. */
const byLadder: readonly FailureAction[] = ['apply', 'restart', 'reboot'];

/** A placement started with the file's settings needs another start. Else the hint is `apply`, unless one failed. */
export function hintOf(survey: PlacementSurvey, view: View): Prose | undefined {
  const { name, nodes, state, staysOn, failure } = survey;
  const own = membersOf(view, survey);
  const panicked = survey.transport === 'tcp' && linksOf(view, survey).length > 0 ? own.filter(mayPanicUnderTcp) : [];
  if (panicked.length > 0) {
    const macs = namedList(panicked.map((one) => one.name));
    return prose`Do not start it yet: it sends TCP over cables, and ${macs} may panic again. First remove the cause, or write \`transport: rdma\` for it in the file.`;
  }
  if (staysOn !== undefined) {
    const commands = [meshwright('reboot', ...nodes), meshwright('doctor')];
    return withCommands('Another start would not help. Restart its Macs, then see what doctor reports', commands);
  }
  const marked = markedAmong(view, nodes);
  if (marked.length > 0) {
    const commands = [meshwright('reboot', ...marked)];
    return withCommands(`Nothing can be started on ${marked.join(', ')} before a restart`, commands);
  }
  if (survey.instance === 'missing') {
    const cheaper = prose`${aside(meshwright('recover', name))} creates only the instance again, if its Macs see each other.`;
    return prose`${withCommands('Start the placement again', [meshwright('restart', name)])}\n${cheaper}`;
  }
  const { rung, hasExited } = startHistory(view, survey);
  const logs = meshwright('logs', name);
  const isBroken = state === 'hung' || state === 'partial' || state === 'dead';
  if (rung === 'start') {
    const commands = [meshwright('restart', name), logs];
    if (failure !== undefined)
      return withCommands(prose`${failure.cure} Then start it again; its log has details`, commands);
    return isBroken ? withCommands('Start it again; its log has details', commands) : undefined;
  }
  const denied = rdmaSuspicions(view, [survey]).find((one) => hasTrait(one, 'local-network'));
  if (denied !== undefined) {
    return prose`Another start would fail the same way. First allow the program to use the local network on ${subjectNodes(denied.subject).join(', ')}, then: ${aside(meshwright('restart', name))}`;
  }
  // A log line about another lost rank is no more specific than no line.
  const isKnown = failure !== undefined && failure.action !== 'read-other-ranks';
  if (isKnown ? !byLadder.includes(failure.action) : hasExited) {
    const cure = failure?.cure ?? 'Its program exited on its own.';
    return prose`${cure} Fix the file or the Mac first: another start would fail the same way. Its log: ${logs}`;
  }
  const { links, nodes: ends, proof, late } = suspectsOf(view, survey);
  const macs = proof === 'measured' || late?.isWeak === false || links.length === 1 ? ends : nodes;
  return ladderHint(view, survey, {
    nodes: macs,
    proof,
    macs: macs.length === nodes.length ? 'its Macs' : macsAt(macs, 'the Macs of this link'),
    byHand: prose`Fix the file or the Mac. The log shows what is wrong: ${logs}`,
  });
}

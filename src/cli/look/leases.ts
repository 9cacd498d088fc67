import { newRunId } from '../../apply/journal/journal.ts';
import { claimOf, thisController } from '../../apply/lease/controller.ts';
import { type Released, releaseDeadLease, releaseLeaseOf } from '../../apply/lease/lease-keeper.ts';
import { type NodeTarget, openSession } from '../../apply/reach/session.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
import type { LeaseLease } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { type Known, mapKnown, unknown } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { labelled, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { read } from '../../rack/fact.ts';
import { leasesFact } from '../../rack/records/leases-fact.ts';
import { gatherAlike } from '../../report/findings.ts';
import { unreachedField } from '../../report/nodes-text.ts';
import { counted, hang, headLines, type Page, pageText, plainPaint } from '../../report/page.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { codeForNodes, exitCode, type NodeVerdict } from '../exit-codes.ts';
import { askYes } from '../terminal/ask.ts';
import { diagnosticsJson, type Ended, logFindings, pageFor, withProgress } from '../terminal/console.ts';
import { timingFor, useLimits } from '../use-limits.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

export const leaseStatus: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const asked = targetedNodes(run, cluster.fleet, run.words);
  const nodes = asked.map(({ name }) => name);
  const observation = await observeNodes(run, asked, openTargets(run, cluster), shownOnly(run));
  const diagnostics = nodes.flatMap((name) => observation.failures[name] ?? []);
  const lost = nodes.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  const leases = nodes.map((name) => ({ name, lease: leaseOn(observation, name) }));
  return {
    exit: codeForNodes(leases.map(({ lease }): NodeVerdict => (lease.kind === 'known' ? 'fine' : 'unjudged'))),
    document: {
      ...documentHead(run.console),
      nodes: Object.fromEntries(leases.map(({ name, lease }) => [name, leaseJson(lease)])),
      ...unreachedField(unreachedOf(lost, observation)),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    },
    text: leasesText(cluster.fleet.name, leases, { ...pageFor(run.console), paint: plainPaint }),
    findings: gatherAlike(diagnostics),
  };
};

interface NodeLease {
  readonly name: NodeName;
  readonly lease: Known<ObservedLease | undefined>;
}

function leaseJson(lease: NodeLease['lease']) {
  if (lease.kind === 'unknown') return { held: null, reason: lease.detail };
  const { token: _token, ...shown } = lease.value ?? {};
  return { held: lease.value !== undefined, ...shown };
}

function leasesText(cluster: string, leases: readonly NodeLease[], page: Page): string {
  const known = leases.flatMap(({ lease }) => (lease.kind === 'known' ? [lease.value] : []));
  const held = known.filter((one) => one !== undefined).length;
  const seen = known.length === leases.length ? '' : `${known.length} of ${counted(leases.length, 'node')} observed, `;
  const width = Math.max(0, ...leases.map(({ name }) => name.length));
  const lines = leases.flatMap(({ name, lease }) => {
    const text =
      lease.kind === 'unknown' ? 'unknown' : lease.value === undefined ? 'free' : leaseOwnerText(lease.value, name);
    return hang(`  ${name.padEnd(width)}   `, escapeText(text), page.columns);
  });
  return pageText([headLines(cluster, `${seen}${held === 0 ? 'no leases' : counted(held, 'lease')}`, page), lines]);
}

interface Freed {
  readonly node: NodeName;
  readonly isFree: boolean;
  readonly isReleased: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** `lease release NODE…|--all [--run ID]`: releases the lease of a dead run, or of the run with this id. */
export const leaseRelease: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const wanted = textOption(run, 'run');
  const nodes = namedNodes(run, cluster.fleet);
  if (wanted !== undefined && nodes.length === 0) throw usageError('--run needs a named node.', 'Name the node.');
  const ways = openTargets(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const leases = nodes.map(({ name }) => ({ node: name, lease: leaseOn(observation, name) }));
  const leased = leases.flatMap(({ node, lease }) =>
    lease.kind === 'known' && lease.value ? [{ node, seen: lease.value }] : [],
  );
  if (leased.length > 0 && !(await askYes(run, questionFor(leased)))) return exitCode.nothingChanged;
  const all = await ways.toAll(nodes);
  const watched = leased.map(({ node }) => ({ name: node }));
  const freed = await withProgress(run.console, ['watching', watched], (done) =>
    Promise.all(
      leases.map(async ({ node, lease }) => {
        const way = all.find((one) => one.node === node);
        const one =
          lease.kind === 'unknown' || way === undefined
            ? notFreed(node, ...(observation.failures[node] ?? []))
            : await freeOne(run, way, lease.value, wanted);
        done(node);
        return one;
      }),
    ),
  );
  return releaseResult(run, freed);
};

function questionFor(leased: readonly { readonly node: NodeName; readonly seen: ObservedLease }[]): string {
  return [
    'These nodes are leased:',
    ...leased.map(({ node, seen }) => `  ${node}   ${leaseOwnerText(seen)}`),
    'Release these leases?',
  ].join('\n');
}

async function freeOne(
  run: Run,
  way: NodeTarget,
  lease: ObservedLease | undefined,
  wanted: string | undefined,
): Promise<Freed> {
  const { node } = way;
  if (lease === undefined) return { node, isFree: true, isReleased: false, diagnostics: [] };
  const { run: holder, token } = lease;
  if (wanted !== undefined && wanted !== holder) return notFreed(node, otherRun(node, lease, wanted));
  const limits = useLimits(run);
  const session = openSession(way, { ...limits, retryMs: timingFor(run).retryMs });
  try {
    const released =
      wanted !== undefined && token !== undefined
        ? await releaseLeaseOf(session, { run: wanted, token }, limits.deadlineMs)
        : await releaseDead(run, session);
    return freedBy(node, lease, released);
  } finally {
    session.close();
  }
}

async function releaseDead(run: Run, session: ReturnType<typeof openSession>): Promise<Released> {
  const controller = await thisController();
  const now = new Date();
  const about = { run: newRunId(now), verb: 'lease release', phase: 'releasing', since: now.toISOString() };
  const claim = claimOf(controller, about);
  const askMs = run.options.deadline;
  return releaseDeadLease(session, { claim, controller, timing: timingFor(run), askMs, signal: run.signal });
}

export function freedBy(node: NodeName, seen: ObservedLease, released: Released): Freed {
  switch (released.kind) {
    case 'released':
    case 'free':
      return { node, isFree: true, isReleased: released.kind === 'released', diagnostics: [] };
    case 'alive':
      return notFreed(node, alive(node, released.holder));
    case 'not-this-run':
      return notFreed(node, otherRun(node, seen, seen.run ?? ''));
    case 'unheard':
      return notFreed(node, unheard(node));
    case 'interrupted':
      return notFreed(node);
    case 'failed':
      return notFreed(node, ...released.diagnostics);
  }
}

const notFreed = (node: NodeName, ...diagnostics: readonly Diagnostic[]): Freed => ({
  node,
  isFree: false,
  isReleased: false,
  diagnostics,
});

const alive = (node: NodeName, holder: ObservedLease): Diagnostic =>
  diagnose('lease/alive', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${leaseOwnerText(holder)}; this run just renewed its lease.`,
    hint: prose`Wait until the run ends, or stop it on its controller. To release the lease anyway: ${meshwright('lease release', node, '--run', holder.run ?? '')}`,
  });

const otherRun = (node: NodeName, seen: ObservedLease, wanted: string): Diagnostic =>
  diagnose('lease/other-run', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${leaseOwnerText(seen)}, but --run names ${wanted}.`,
  });

const unheard = (node: NodeName): Diagnostic =>
  diagnose('lease/not-released', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}The node did not answer, so it is unknown whether the lease was released.`,
  });

function releaseResult(run: Run, freed: readonly Freed[]): Ended {
  const mark = run.console.isSimulated ? 'simulated ' : '';
  const diagnostics = freed.flatMap((one) => one.diagnostics);
  logFindings(run, diagnostics);
  const nodes = freed.map(({ node, isFree, isReleased }) => [node, { held: !isFree, released: isReleased }]);
  const text = ({ node, isFree, isReleased }: Freed): string =>
    `${mark}${node}   ${isReleased ? 'released' : isFree ? 'was free' : 'not released'}\n`;
  return {
    exit: codeForNodes(freed.map(({ isFree }): NodeVerdict => (isFree ? 'fine' : 'wrong'))),
    document: {
      ...documentHead(run.console),
      nodes: Object.fromEntries(nodes),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    },
    text: freed.map(text).join(''),
    findings: gatherAlike(diagnostics),
  };
}

/** One node's observed lease; without `run` if its owner died before writing a name into the lease. */
interface ObservedLease extends Pick<LeaseLease, 'run' | 'owner' | 'verb' | 'phase' | 'since'> {
  readonly token?: number;
}

/** A node's lease; a known `undefined` means that the node has no lease. */
function leaseOn(observation: FleetObservation, node: string): Known<ObservedLease | undefined> {
  const fact = read(observation.nodes[node]?.facts, leasesFact);
  if (fact === undefined) return unknown('unreachable', 'The node was not observed.');
  return mapKnown(fact, ([lease]) => lease && observedLease(lease.fields));
}

function observedLease(fields: Readonly<Record<string, string>>): ObservedLease {
  const { run, owner, verb, phase, since } = fields;
  const token = /^\d{1,15}$/.test(fields['token'] ?? '') ? Number(fields['token']) : undefined;
  return given({ run, token, owner, verb, phase, since });
}

/**
 * Text such as `apply by ana@desk.lan since 2026-11-20T11:18:44Z, at studio-1/power/set (run 20261120T111844-5f3a9c)`;
 * for a step on a different node: `while studio-1/power/set runs`.
 * @param node the node with the lease
 */
export function leaseOwnerText({ run, owner, verb, phase, since }: ObservedLease, node?: string): string {
  if (run === undefined) return 'a run that died while taking the lease';
  const when = since === undefined ? '' : ` since ${since.replace(/\.\d+Z$/, 'Z')}`;
  const isOfOther = node !== undefined && phase?.includes('/') === true && !phase.startsWith(`${node}/`);
  const at = phase === undefined ? '' : isOfOther ? `, while ${phase} runs` : `, at ${phase}`;
  return `${verb ?? 'a run'} by ${owner ?? 'an unknown user'}${when}${at} (run ${run})`;
}

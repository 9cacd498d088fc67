import { newRunId } from '../../apply/journal/journal.ts';
import { claimOf, thisController } from '../../apply/lease/controller.ts';
import { type Released, releaseDeadLease, releaseLeaseOf } from '../../apply/lease/lease-keeper.ts';
import { type NodeWay, openSession } from '../../apply/reach/session.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { unreachedOf } from '../../engine/plan/view.ts';
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
import { counted, hang, headLines, plainPaint } from '../../report/page.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { namedNodes } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import { codeForNodes, exitCode, type NodeVerdict } from '../exit-codes.ts';
import { askYes } from '../terminal/ask.ts';
import { diagnosticsJson, logFindings, showDiagnostics, showJson, withProgress } from '../terminal/console.ts';
import { timingFor, useLimits } from '../use-limits.ts';
import { type Run, textOption, usageError, type VerbBody } from '../verb.ts';
import { observeNodes, shownOnly } from './observe-fleet.ts';

/** `lease status [NODE…]`: which run has the lease of which node. */
export const leaseStatus: VerbBody = async (run) => {
  const cluster = openCluster(run);
  const asked = targetedNodes(run, cluster.fleet, run.words);
  const nodes = asked.map(({ name }) => name);
  const { isSimulated } = run.console;
  const observation = await observeNodes(run, asked, openWays(run, cluster), shownOnly(run));
  const diagnostics = nodes.flatMap((name) => observation.failures[name] ?? []);
  const lost = nodes.filter((name) => (observation.failures[name]?.length ?? 0) > 0);
  const holds = nodes.map((name) => ({ name, hold: holdOn(observation, name) }));
  if (run.options.json) {
    showJson(run.console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      nodes: Object.fromEntries(
        holds.map(({ name, hold }) => {
          if (hold.kind === 'unknown') return [name, { held: null, reason: hold.detail }];
          const { token: _token, ...shown } = hold.value ?? {};
          return [name, { held: hold.value !== undefined, ...shown }];
        }),
      ),
      ...unreachedField(unreachedOf(lost, observation)),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
  } else {
    const { columns, hasUnicode: unicode } = run.console;
    const page = { columns, unicode, paint: plainPaint, isSimulated };
    const held = holds.filter(({ hold }) => hold.kind === 'known' && hold.value !== undefined).length;
    const known = holds.filter(({ hold }) => hold.kind === 'known').length;
    const seen = known === holds.length ? '' : `${known} of ${counted(holds.length, 'node')} observed, `;
    const about = `${seen}${held === 0 ? 'no leases' : counted(held, 'lease')}`;
    const width = Math.max(0, ...nodes.map((name) => name.length));
    const lines = holds.flatMap(({ name, hold }) => {
      const text = hold.kind === 'unknown' ? 'unknown' : hold.value === undefined ? 'free' : holdText(hold.value, name);
      return hang(`  ${name.padEnd(width)}   `, escapeText(text), columns);
    });
    const head = headLines(cluster.fleet.name, about, page);
    run.console.out(`${[...head, '', ...lines].join('\n')}\n`);
    showDiagnostics(run.console, gatherAlike(diagnostics));
  }
  return codeForNodes(holds.map(({ hold }): NodeVerdict => (hold.kind === 'known' ? 'fine' : 'unjudged')));
};

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
  const ways = openWays(run, cluster);
  const observation = await observeNodes(run, nodes, ways);
  const holds = nodes.map(({ name }) => ({ node: name, hold: holdOn(observation, name) }));
  const held = holds.flatMap(({ node, hold }) =>
    hold.kind === 'known' && hold.value ? [{ node, seen: hold.value }] : [],
  );
  if (held.length > 0 && !(await askYes(run, questionFor(held)))) return exitCode.nothingChanged;
  const all = await ways.toAll(nodes);
  const watched = held.map(({ node }) => ({ name: node }));
  const freed = await withProgress(run.console, ['watching', watched], (done) =>
    Promise.all(
      holds.map(async ({ node, hold }) => {
        const way = all.find((one) => one.node === node);
        const one =
          hold.kind === 'unknown' || way === undefined
            ? notFreed(node, ...(observation.failures[node] ?? []))
            : await freeOne(run, way, hold.value, wanted);
        done(node);
        return one;
      }),
    ),
  );
  show(run, freed);
  return codeForNodes(freed.map(({ isFree }): NodeVerdict => (isFree ? 'fine' : 'wrong')));
};

function questionFor(held: readonly { readonly node: NodeName; readonly seen: SeenHold }[]): string {
  return [
    'These nodes are leased:',
    ...held.map(({ node, seen }) => `  ${node}   ${holdText(seen)}`),
    'Release these leases?',
  ].join('\n');
}

async function freeOne(run: Run, way: NodeWay, hold: SeenHold | undefined, wanted: string | undefined): Promise<Freed> {
  const { node } = way;
  if (hold === undefined) return { node, isFree: true, isReleased: false, diagnostics: [] };
  const { run: holder, token } = hold;
  if (wanted !== undefined && wanted !== holder) return notFreed(node, otherRun(node, hold, wanted));
  const limits = useLimits(run);
  const session = openSession(way, { ...limits, retryMs: timingFor(run).retryMs });
  try {
    const released =
      wanted !== undefined && token !== undefined
        ? await releaseLeaseOf(session, { run: wanted, token }, limits.deadlineMs)
        : await releaseDead(run, session);
    return freedBy(node, hold, released);
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

/** Reports how a release ended. */
export function freedBy(node: NodeName, seen: SeenHold, released: Released): Freed {
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

const alive = (node: NodeName, holder: SeenHold): Diagnostic =>
  diagnose('lease/alive', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${holdText(holder)}; this run just renewed its lease.`,
    hint: prose`Wait until the run ends, or stop it on its controller. To release the lease anyway: ${meshwright('lease release', node, '--run', holder.run ?? '')}`,
  });

const otherRun = (node: NodeName, seen: SeenHold, wanted: string): Diagnostic =>
  diagnose('lease/other-run', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}${holdText(seen)}, but --run names ${wanted}.`,
  });

const unheard = (node: NodeName): Diagnostic =>
  diagnose('lease/not-released', {
    subject: nodeSubject(node),
    detail: prose`${labelled(node)}The node did not answer, so it is unknown whether the lease was released.`,
  });

function show(run: Run, freed: readonly Freed[]): void {
  const { isSimulated } = run.console;
  const diagnostics = freed.flatMap((one) => one.diagnostics);
  logFindings(run, diagnostics);
  if (run.options.json) {
    const nodes = freed.map(({ node, isFree, isReleased }) => [node, { held: !isFree, released: isReleased }]);
    showJson(run.console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      nodes: Object.fromEntries(nodes),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  for (const { node, isFree, isReleased } of freed) {
    const text = isReleased ? 'released' : isFree ? 'was free' : 'not released';
    run.console.out(`${isSimulated ? 'simulated ' : ''}${node}   ${text}\n`);
  }
  showDiagnostics(run.console, gatherAlike(diagnostics));
}

/** The observed lease of one node; without `run` if its owner died before writing its name into the lease. */
interface SeenHold {
  readonly run?: string;
  readonly token?: number;
  readonly owner?: string;
  readonly verb?: string;
  readonly phase?: string;
  readonly since?: string;
}

/** The lease of a node; a known `undefined` means that the node is free. */
function holdOn(observation: FleetObservation, node: string): Known<SeenHold | undefined> {
  const fact = read(observation.nodes[node]?.facts, leasesFact);
  if (fact === undefined) return unknown('unreachable', 'The node was not observed.');
  return mapKnown(fact, ([lease]) => lease && seenHold(lease.fields));
}

function seenHold(fields: Readonly<Record<string, string>>): SeenHold {
  const { run, token, owner, verb, phase, since } = fields;
  return {
    ...given({ run }),
    ...(token !== undefined && /^\d{1,15}$/.test(token) ? { token: Number(token) } : {}),
    ...given({ owner, verb, phase, since }),
  };
}

/**
 * `apply by ana@desk.lan since 2026-11-20T11:18:44Z, at studio-1/power/set (run 20261120T111844-5f3a9c)`; for a step on
 * a different node: `while studio-1/power/set runs`.
 *
 * @param node whose lease it is
 */
export function holdText({ run, owner, verb, phase, since }: SeenHold, node?: string): string {
  if (run === undefined) return 'a run that died while taking the lease';
  const when = since === undefined ? '' : ` since ${since.replace(/\.\d+Z$/, 'Z')}`;
  const isOfOther = node !== undefined && phase?.includes('/') === true && !phase.startsWith(`${node}/`);
  const at = phase === undefined ? '' : isOfOther ? `, while ${phase} runs` : `, at ${phase}`;
  return `${verb ?? 'a run'} by ${owner ?? 'an unknown user'}${when}${at} (run ${run})`;
}

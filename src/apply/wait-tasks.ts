import { everyNode } from '../desired/layouts.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { TaskWork } from '../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { whereTheyRanLast } from '../rack/placement/state/layouts.ts';
import type { PlaybookOptions } from './playbook-report.ts';
import { pause, timeFor } from './run-timing.ts';

type WaitWork = Extract<TaskWork, { readonly kind: 'wait' }>;

/** The result of a wait; without an observation, it was interrupted. */
interface Waited {
  readonly observation?: FleetObservation;
  readonly failed?: readonly NodeName[];
  readonly diagnostics?: readonly Diagnostic[];
}

/** An unmet condition and the nodes that do not meet it. */
interface Missing {
  readonly node: NodeName;
  readonly why: string;
  readonly fails: readonly NodeName[];
}

/** Observes repeatedly until all conditions are met or the deadline has passed; empty if interrupted. */
export async function waitFor(work: WaitWork, options: WaitOptions & Pick<PlaybookOptions, 'scope'>): Promise<Waited> {
  const { desired } = options.scope;
  const waited = await waitUntil(work, options, (observation) => missingIn(observation, work, desired));
  if (waited === undefined) return {};
  const { observation, missing } = waited;
  const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
  return { observation, failed, diagnostics: missing.map((one) => waitOver(one, work.deadlineMs)) };
}

/** Between two checks of a batch that bakes. Each asks every placement for a token. */
const bakePollMs = 30_000;

/** Checks that placements serve, from now until the time is over. One check that fails is repeated at once. */
export async function bake(
  { nodes, placements, ms }: Extract<TaskWork, { readonly kind: 'bake' }>,
  { timing, signal, observe, onWait, scope }: WaitOptions & Pick<PlaybookOptions, 'scope'>,
): Promise<Waited> {
  const work = { kind: 'wait', for: 'serving', nodes, placements, deadlineMs: ms } as const;
  const endMs = performance.now() + timeFor(ms, timing, 0);
  while (signal?.aborted !== true) {
    let observation = await observe(nodes);
    let missing = missingIn(observation, work, scope.desired);
    if (missing.length > 0) {
      observation = await observe(nodes);
      missing = missingIn(observation, work, scope.desired);
    }
    if (signal?.aborted) break;
    const leftMs = endMs - performance.now();
    if (missing.length > 0 || leftMs <= 0) {
      const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
      const diagnostics = missing.map(({ node, why }) =>
        diagnose('task/not-healthy', { subject: nodeSubject(node), detail: prose`${named(node)}: ${why}` }),
      );
      return { observation, failed, diagnostics };
    }
    onWait?.([`${placements.join(', ')} to keep serving`], leftMs);
    await pause(Math.min(leftMs, timeFor(bakePollMs, timing, timing.gatePollMs)), signal);
  }
  return {};
}

type WaitOptions = Pick<PlaybookOptions, 'timing' | 'signal' | 'observe' | 'onWait'>;

/** Observes until nothing is missing or the deadline has passed; resolves to the last check, or undefined on abort. */
export async function waitUntil<M extends { readonly node: string; readonly why: string }>(
  { nodes, deadlineMs }: Pick<WaitWork, 'nodes' | 'deadlineMs'>,
  { timing, signal, observe, onWait }: WaitOptions,
  missingIn: (observation: FleetObservation) => readonly M[],
): Promise<{ readonly observation: FleetObservation; readonly missing: readonly M[] } | undefined> {
  const endMs = performance.now() + timeFor(deadlineMs, timing, 10_000);
  while (signal?.aborted !== true) {
    const observation = await observe(nodes);
    const missing = missingIn(observation);
    if (missing.length === 0 || performance.now() >= endMs) return { observation, missing };
    const texts = missing.map(({ node, why }) => `${node} (${why.replace(/\.$/, '')})`);
    onWait?.(texts, endMs - performance.now());
    await pause(timing.gatePollMs, signal);
  }
  return undefined;
}

function missingIn(observation: FleetObservation, work: WaitWork, desired: DesiredFleet): readonly Missing[] {
  const unseen = work.nodes.flatMap((node): readonly Missing[] => {
    const [problem] = observation.failures[node] ?? [];
    return problem === undefined ? [] : [{ node, why: problem.summary, fails: [node] }];
  });
  if (work.for === 'observed') return unseen;
  const lacking = whereTheyRanLast(desired, observation.nodes)
    .placements.filter(({ name }) => work.placements.includes(name))
    .map(({ name, ...placement }) => {
      const goal = { kind: 'start', placements: [name] } as const;
      const { changes, waiting } = makePlan({ goal, desired, observation, targets: work.nodes });
      // Any of these nodes can be the leader, and a batch may contain only one of them.
      const fails = everyNode(placement);
      const missing = [
        ...changes.map(({ node, resource, from }): Missing => ({ node, why: `${resource}: ${from}`, fails })),
        ...waiting.map(
          ({ node, resource, for: reasons }): Missing => ({
            node,
            why: `${resource}: ${reasons.map(({ text }) => text).join(', ')}`,
            fails,
          }),
        ),
      ];
      return { nodes: placement.nodes, missing };
    })
    .filter(({ missing }) => missing.length > 0);
  // An unreached node in a different layout does not prevent serving.
  const away = unseen.filter(({ node }) => lacking.some(({ nodes }) => nodes.includes(node)));
  return [...lacking.flatMap(({ missing }) => missing), ...away];
}

const waitOver = ({ node, why }: Missing, deadlineMs: number): Diagnostic =>
  diagnose('task/wait-over', {
    subject: nodeSubject(node),
    detail: prose`${named(node)}, after ${Math.round(deadlineMs / 1_000)} s: ${why}`,
  });

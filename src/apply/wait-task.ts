import { everyNode } from '../desired/fallback.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { Work } from '../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/fleet-observation.ts';
import { whereTheyRanLast } from '../rack/placement/state/layouts.ts';
import { pause } from './pause.ts';
import type { PlaybookOptions } from './playbook-report.ts';
import { timeFor } from './run-timing.ts';

type WaitWork = Extract<Work, { kind: 'wait' }>;

/** What is not there yet, and the nodes for which that is a failure. */
interface Missing {
  readonly node: NodeName;
  readonly why: string;
  readonly fails: readonly NodeName[];
}

/** How a wait ended: empty when it was broken off. */
export interface WaitEnd {
  readonly observation?: FleetObservation;
  readonly failed?: readonly NodeName[];
  readonly diagnostics?: readonly Diagnostic[];
}

/** What it looks with. */
export interface WaitTools {
  readonly options: Pick<PlaybookOptions, 'timing' | 'signal' | 'scope' | 'observe' | 'onWait'>;
  /** What was seen before may not hold any more. */
  readonly forget: () => void;
}

/** Looks afresh, again and again, until all of it is there or the deadline is over. */
export async function waitFor(work: WaitWork, { options, forget }: WaitTools): Promise<WaitEnd> {
  const { timing, signal, scope } = options;
  const endMs = performance.now() + timeFor(work.deadlineMs, timing, 10_000);
  forget();
  while (signal?.aborted !== true) {
    const observation = await options.observe(work.nodes);
    const missing = missingIn(observation, work, scope.desired);
    if (missing.length === 0) return { observation };
    if (performance.now() >= endMs) {
      const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
      return { observation, failed, diagnostics: missing.map((one) => waitOver(one, work.deadlineMs)) };
    }
    const texts = missing.map(({ node, why }) => `${node} (${why.replace(/\.$/, '')})`);
    options.onWait?.(texts, endMs - performance.now());
    await pause(timing.gatePollMs, signal);
  }
  return {};
}

function missingIn(observation: FleetObservation, work: WaitWork, desired: DesiredFleet): readonly Missing[] {
  const unseen = work.nodes.flatMap((node): readonly Missing[] => {
    const [problem] = observation.failures[node] ?? [];
    return problem === undefined ? [] : [{ node, why: problem.summary, fails: [node] }];
  });
  if (work.for === 'observed') return unseen;
  const meant = whereTheyRanLast(desired, observation.nodes).placements;
  const lacking = meant
    .filter(({ name }) => work.placements.includes(name))
    .map(({ name, ...placement }) => {
      const goal = { kind: 'start', placements: [name] } as const;
      const { changes, waiting } = makePlan({ goal, desired, observation, targets: work.nodes });
      // It serves nobody of those that may carry it: a batch may have any of them alone.
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
  // Nodes that only another layout has keep nothing from serving where it is meant to.
  const away = unseen.filter(({ node }) => lacking.some(({ nodes }) => nodes.includes(node)));
  return [...lacking.flatMap(({ missing }) => missing), ...away];
}

const waitOver = ({ node, why }: Missing, deadlineMs: number): Diagnostic =>
  diagnose('task/wait-over', {
    subject: nodeSubject(node),
    detail: prose`${named(node)}, after ${Math.round(deadlineMs / 1_000)} s: ${why}`,
  });

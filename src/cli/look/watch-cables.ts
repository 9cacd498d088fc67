import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type FleetWatch, watchFleet } from '../../apply/reach/watch-fleet.ts';
import { pause } from '../../apply/run-timing.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { isHalfSeen } from '../../engine/cables/cable-events.ts';
import { type CableWork, cableFacts, cableWork } from '../../engine/cables/cable-work.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { hang, type Page } from '../../report/page.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { showProgress } from '../terminal/progress.ts';
import { timingFor } from '../terminal/timing.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** Which nodes do not answer any more, and why, and which of them answer again. */
export function lostLines(sight: Sight, before: Sight | undefined, page: Page): readonly string[] {
  const earlier = before?.lost ?? [];
  return [
    ...sight.lost
      .filter((name) => !earlier.includes(name))
      .flatMap((name) => {
        const [problem] = sight.observation.failures[name] ?? [];
        const why = escapeText(proseText(problem?.detail ?? problem?.summary ?? '', page));
        return hang(`${name} cannot be seen: `, `${why} It is tried again.`, page.columns);
      }),
    ...earlier.filter((name) => !sight.lost.includes(name)).map((name) => `${name} answers again`),
  ];
}

/** One look at the rack, with what hands have to do as it is now. */
export interface Sight {
  readonly observation: FleetObservation;
  readonly work: CableWork;
  /** Whether everything was asked anew that cables are judged by. */
  readonly isWhole: boolean;
  /** Whether anything that is plugged in, or any node that answers, is another one than in the look before. */
  readonly isChanged: boolean;
  /** Nodes that do not answer. */
  readonly lost: readonly NodeName[];
}

/** What is watched, and who is told of it. */
interface CableWatch {
  readonly cluster: OpenedCluster;
  readonly ways: Ways;
  /** Told of every look that can be trusted, with the one before it; true ends the watch. */
  readonly onSight: (sight: Sight, before: Sight | undefined) => boolean;
}

/** A look at a busy Mac takes seconds; whoever plugs cables waits for no dead one. */
const patienceMs = 5_000;

/**
 * Looks at the cables again and again, over one connection and with one exec per node and look, until it is told to end,
 * interrupted, or nobody reads the answer any more. A look asks only what is plugged in; when that has changed, or when
 * something else than cables is waited for, the next one asks for all that cables are judged by.
 *
 * @returns the last look that was told; undefined when there was none
 */
export async function watchCables(run: Run, watch: CableWatch): Promise<Sight | undefined> {
  const { cluster, ways, onSight } = watch;
  const signal = AbortSignal.any([run.signal, run.console.outClosed]);
  setMaxListeners(0, signal);
  const { gatePollMs, retryMs } = timingFor(run);
  const fleet = watchFleet(await ways.toAll(cluster.fleet.nodes), {
    ...useLimits(run),
    signal,
    parallel: run.options.parallel,
    newToken: () => randomBytes(16).toString('hex'),
    facts: cableFacts,
    often: ['thunderbolt'],
    retryMs,
    patienceMs,
  });
  let before: Sight | undefined;
  let told: Sight | undefined;
  let isDone = false;
  try {
    while (!isDone && !signal.aborted) {
      const sight = await lookOnce(run, watch, { fleet, before });
      if (signal.aborted) break;
      const isTold = isTrusted(sight, before);
      isDone = isTold && onSight(sight, told);
      told = isTold ? sight : told;
      before = sight;
      if (!isDone) await pause(gatePollMs, signal);
    }
  } finally {
    fleet.close();
  }
  return told;
}

interface Looking {
  readonly fleet: FleetWatch;
  readonly before: Sight | undefined;
}

async function lookOnce(run: Run, { cluster }: CableWatch, { fleet, before }: Looking): Promise<Sight> {
  const names = cluster.fleet.nodes.map(({ name }) => name);
  const progress = before === undefined ? showProgress(run.console, 'observing', names) : undefined;
  const isWhole = before === undefined || before.isChanged || isWaiting(before.work);
  const observation = await fleet.look(isWhole ? 'whole' : 'often').finally(() => progress?.stop());
  const lost = names.filter((name) => (observation.failures[name] ?? []).length > 0);
  const work = cableWork(cluster.fleet, observation);
  const isChanged = before === undefined || plugText({ work, lost }) !== plugText(before);
  return { observation, work, isWhole, isChanged, lost };
}

const plugText = ({ work, lost }: Pick<Sight, 'work' | 'lost'>): string =>
  JSON.stringify([work.examination.cabling.rack.views, lost]);

/** Whether somebody has to do something that no receptacle shows: stop a placement, take a bridge away. */
const isWaiting = ({ acts, loops }: CableWork): boolean => loops.length > 0 || acts.some(({ isFree }) => !isFree);

/** A cable that only one end sees may just have been plugged in, between the looks at both: the next look tells. */
const isTrusted = ({ work }: Sight, before: Sight | undefined): boolean =>
  !isHalfSeen(work.examination.cabling.rack) ||
  (before !== undefined && isHalfSeen(before.work.examination.cabling.rack));

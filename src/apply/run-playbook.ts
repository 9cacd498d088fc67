import { makePlan } from '../engine/plan/make-plan.ts';
import type { EffectTotal } from '../engine/plan/plan.ts';
import { batchesOf, expandTask, type LaterTask, playNodes } from '../engine/playbooks/expand.ts';
import type { Play, Playbook } from '../engine/playbooks/playbook.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { type OpenRun, openRun } from './open-run.ts';
import type { PlaybookOptions, PlaybookPlace, PlaybookReport, PlaybookWork } from './playbook-report.ts';
import { carryOut, type DoneWork } from './playbook-work.ts';

/** What a playbook run remembers from one task to the next. */
interface PlaybookState {
  readonly options: PlaybookOptions;
  readonly plays: readonly Play[];
  readonly works: PlaybookWork[];
  /** Begun when something is sent for the first time. */
  run?: OpenRun;
  /** The last look, while nothing has been done that could have changed what it shows. */
  seen?: { readonly nodes: ReadonlySet<NodeName>; readonly observation: FleetObservation };
  first: PlaybookOptions['first'];
  isStopped: boolean;
  isDeclined: boolean;
}

/**
 * Runs the tasks of a playbook, play after play and batch after batch, under one journal and with one lease and one
 * connection per node from its first change to its end. A node that has failed takes no part in the rest of its play.
 * @throws FleetError `journal/cannot-write` before anything is sent, and whatever `observe` rejects with
 */
export async function runPlaybook(playbook: Playbook, options: PlaybookOptions): Promise<PlaybookReport> {
  const { plays } = playbook;
  const { first } = options;
  const state: PlaybookState = { options, plays, works: [], first, isStopped: false, isDeclined: false };
  try {
    if (options.foresee !== undefined) options.foresee(await effectsAhead(playbook, state));
    for (const [at, play] of plays.entries()) {
      if (!isOver(state)) await runPlay(play, at, state);
    }
  } finally {
    await state.run?.close();
  }
  const nodes = nodesOfAll(playbook, options);
  const isInterrupted = options.signal?.aborted === true;
  const observation = isInterrupted ? undefined : await lookAt(nodes, state);
  return {
    works: state.works,
    nodes,
    ...given({ observation }),
    isStopped: state.isStopped,
    isDeclined: state.isDeclined,
    isInterrupted,
  };
}

/** What the plans of all tasks would do if each began with the nodes as they are now. */
async function effectsAhead({ plays }: Playbook, state: PlaybookState): Promise<readonly EffectTotal[]> {
  const { scope } = state.options;
  const works = plays.flatMap((play, at) => {
    const nodes = playNodes(play, scope);
    return play.tasks.map((task, index) =>
      expandTask(task, scope, nodes, laterTasks(index, { play, at, nodes }, state)),
    );
  });
  const plans = works.filter((work) => work.kind === 'plan');
  const meant = new Set(plans.flatMap(({ targets }) => targets));
  const names = scope.desired.nodes.map(({ name }) => name).filter((name) => meant.has(name));
  if (names.length === 0) return [];
  const observation = await lookAt(names, state);
  return plans.flatMap(({ goal, targets }) => makePlan({ goal, desired: scope.desired, observation, targets }).effects);
}

/** Of a run that has no lease yet. */
const neverLost = new AbortController().signal;

const isOver = ({ options, isStopped, isDeclined }: PlaybookState): boolean =>
  isStopped || isDeclined || options.signal?.aborted === true;

function nodesOfAll({ plays }: Playbook, { scope }: PlaybookOptions): readonly NodeName[] {
  const meant = new Set(plays.flatMap((play) => playNodes(play, scope)));
  return scope.desired.nodes.map(({ name }) => name).filter((name) => meant.has(name));
}

async function runPlay(play: Play, at: number, state: PlaybookState): Promise<void> {
  const { scope } = state.options;
  const failed = new Set<NodeName>();
  const batches = batchesOf(play, playNodes(play, scope));
  for (const [batch, members] of batches.entries()) {
    for (const node of await runBatch({ play, at, batch, members }, state)) failed.add(node);
    if (failed.size > play.maxFailures) state.isStopped = true;
    if (isOver(state)) return;
  }
}

interface Batch {
  readonly play: Play;
  /** Of the play, and of the batch in it; from 0. */
  readonly at: number;
  readonly batch: number;
  readonly members: readonly NodeName[];
}

/** Gives the members that have failed. */
async function runBatch({ play, at, batch, members }: Batch, state: PlaybookState): Promise<ReadonlySet<NodeName>> {
  const failed = new Set<NodeName>();
  for (const [index, task] of play.tasks.entries()) {
    const nodes = members.filter((node) => !failed.has(node));
    if (isOver(state) || nodes.length === 0) break;
    const work = await runTask({ play: at, batch, task, nodes }, state, laterTasks(index, { play, at, nodes }, state));
    for (const node of work.failed.filter((one) => members.includes(one))) failed.add(node);
  }
  return failed;
}

/** What is still to come for these nodes, and then in the plays after theirs. */
function laterTasks(
  index: number,
  { play, at, nodes }: Pick<Batch, 'play' | 'at'> & Pick<PlaybookPlace, 'nodes'>,
  { plays, options }: PlaybookState,
): readonly LaterTask[] {
  const own = play.tasks.slice(index + 1).map((task) => ({ task, nodes }));
  const others = plays
    .slice(at + 1)
    .flatMap((one) => one.tasks.map((task) => ({ task, nodes: playNodes(one, options.scope) })));
  return [...own, ...others];
}

async function runTask(place: PlaybookPlace, state: PlaybookState, later: readonly LaterTask[]): Promise<PlaybookWork> {
  const { options, works } = state;
  const done = await carryOut(expandTask(place.task, options.scope, place.nodes, later), {
    place,
    options,
    look: (nodes) => lookAt(nodes, state),
    forget: () => {
      delete state.seen;
    },
    takeFirst: () => {
      const { first } = state;
      state.first = undefined;
      const observation = first?.observation;
      if (observation) state.seen = { nodes: new Set(place.nodes), observation };
      return first;
    },
    run: () => {
      state.run ??= openRun(options.run());
      return state.run;
    },
  });
  const work = workOf(place, done);
  state.isDeclined ||= done.isDeclined === true;
  state.isStopped ||= done.isEnd === true;
  works.push(work);
  await options.onWork?.(work, state.run?.lost ?? neverLost);
  return work;
}

function workOf(place: PlaybookPlace, { plan, observation, run, ...done }: DoneWork): PlaybookWork {
  return {
    ...place,
    ...given({ plan, observation, run }),
    failed: done.failed ?? [],
    refusals: done.refusals ?? run?.refusals ?? [],
    diagnostics: done.diagnostics ?? run?.diagnostics ?? [],
  };
}

/** The last look where it still holds and shows all of these nodes, else a fresh one. */
async function lookAt(nodes: readonly NodeName[], state: PlaybookState): Promise<FleetObservation> {
  const { seen, options } = state;
  if (seen !== undefined && nodes.every((node) => seen.nodes.has(node))) return seen.observation;
  const observation = await options.observe(nodes);
  state.seen = { nodes: new Set(nodes), observation };
  return observation;
}

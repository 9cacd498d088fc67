import { ipv4Number } from '../../desired/addresses.ts';
import type { ExoPlacement } from '../../model/endpoint-calls.ts';
import type { Asking, Heard, Talk, TalkRequest } from '../contract/driver.ts';
import { type ExoInstance, type ExoState, parseState, type RunnerState } from './answers.ts';
import { signatureIn } from './classify.ts';

/** A placement with what exo calls its nodes in this start. */
export interface Placing {
  readonly wish: ExoPlacement;
  /** In rank order. */
  readonly ids: readonly string[];
}

/** Between two looks at a mesh. */
export const pollMs = 1_000;

const giveWay = 30_000;
const warmUpMs = 180_000;
const connectMs = 60_000;
/** From the command to an instance in the state; commands are carried out later than they are answered. */
const appearMs = 30_000;

/** A minute, and what 1.5 GB/s take; exo says how many layers are loaded, and every one of them begins it anew. */
const loadMs = (bytes: number): number => 60_000 + Math.ceil(bytes / 1_500_000);

/** A request to the leader. */
export const leaderRequest = (
  { wish: { nodes, port } }: Placing,
  method: TalkRequest['method'],
  path: string,
): TalkRequest => {
  const [node] = nodes;
  if (node === undefined) throw new Error('a placement has at least one node');
  return { node, method, port, path };
};

/** A look at the state of a mesh. */
export const askState = (
  placing: Placing,
  about: string,
  hear: (heard: Heard, state: ExoState | undefined) => Talk,
): Asking => ({
  kind: 'ask',
  request: leaderRequest(placing, 'GET', '/state'),
  afterMs: pollMs,
  about,
  hear: (heard) => hear(heard, heard.status === 200 ? parseState(heard.body) : undefined),
});

/** What the last looks showed. */
interface Watch {
  readonly instance: ExoInstance;
  /** Whether it was in the state. */
  readonly isSeen: boolean;
  /** Of the last change, in words, and when it was seen. */
  readonly last: string;
  readonly sinceMs: number;
  /** Since when there was no state in any answer. */
  readonly silentSinceMs: number | undefined;
  readonly eventIndex: number;
}

/** Waits until every runner of an instance is ready, as long as they go on. @param sinceMs when it was asked for */
export const awaitRunners = (placing: Placing, instance: ExoInstance, sinceMs: number): Talk =>
  watch(placing, {
    instance,
    isSeen: false,
    last: 'it was asked for',
    sinceMs,
    silentSinceMs: undefined,
    eventIndex: 0,
  });

function watch(placing: Placing, before: Watch): Asking {
  return askState(placing, before.last, (heard, state) => {
    if (state === undefined) return silent(placing, before, heard);
    const seen: Watch = { ...before, silentSinceMs: undefined };
    const instance = state.instances.find(({ id }) => id === seen.instance.id);
    if (instance === undefined) return absent(placing, seen, { heard, state });
    const failed = state.failedDownloads.find(
      ({ node, modelId }) => modelId === placing.wish.modelId && placing.ids.includes(node),
    );
    if (failed !== undefined) {
      const reason = `${nodeOf(placing, failed.node)} has not all files of the model: ${failed.message}`;
      return withdraw(placing, instance, { kind: 'failed', code: 'exo/runner-failed', reason });
    }
    return judge(placing, { ...seen, instance, isSeen: true, eventIndex: state.eventIndex }, { heard, state });
  });
}

interface Look {
  readonly heard: Heard;
  readonly state: ExoState;
}

/** What an answer is worth that is no state: none, until it has lasted. */
function silent(placing: Placing, seen: Watch, { status, atMs }: Heard): Talk {
  const { silentSinceMs = atMs } = seen;
  if (atMs - silentSinceMs < connectMs) return watch(placing, { ...seen, silentSinceMs });
  const words = status === 0 ? 'its API does not answer any more' : `its API answers with status ${status}`;
  const reason = `${words}; last: ${seen.last}`;
  return withdraw(placing, seen.instance, { kind: 'failed', code: 'exo/stuck', reason });
}

function absent(placing: Placing, seen: Watch, { heard: { atMs }, state }: Look): Talk {
  const gone = placing.ids.filter((id) => !state.topology.nodes.includes(id)).map((id) => nodeOf(placing, id));
  const isNewSession = state.eventIndex < seen.eventIndex;
  if (seen.isSeen && (isNewSession || gone.length > 0)) {
    const why = gone.length > 0 ? `${gone.join(', ')} left the mesh` : 'its master changed, and exo forgot everything';
    return { kind: 'failed', code: 'exo/master-lost', reason: `${why}; last: ${seen.last}` };
  }
  if (seen.isSeen) {
    return { kind: 'failed', code: 'exo/runner-failed', reason: `exo deleted the instance itself; last: ${seen.last}` };
  }
  if (atMs - seen.sinceMs < appearMs) return watch(placing, seen);
  const reason = 'it took the placement and never made it; its own log says why';
  return { kind: 'failed', code: 'exo/placement-refused', reason };
}

function judge(placing: Placing, seen: Watch, { heard: { atMs }, state }: Look): Talk {
  const progress = progressOf(seen.instance, state.runners);
  if (progress.kind === 'ready')
    return { kind: 'done', note: readyNote(placing, state) + unknownWays(seen.instance, placing.wish, placing.ids) };
  if (progress.kind === 'failed') return failing(placing, seen, { message: progress.message, atMs });
  if (progress.text !== seen.last) return watch(placing, { ...seen, last: progress.text, sinceMs: atMs });
  const limit = limitOf(progress, placing);
  if (atMs - seen.sinceMs < limit) return watch(placing, seen);
  const reason = `nothing has moved for ${Math.round(limit / 1_000)} s while ${words[progress.kind]} (${progress.text})`;
  return withdraw(placing, seen.instance, { kind: 'failed', code: 'exo/stuck', reason });
}

type Waiting = Exclude<Progress, { readonly kind: 'ready' | 'failed' }>;

const words: Readonly<Record<Waiting['kind'], string>> = {
  connecting: 'the runners connected',
  loading: 'the model was loaded',
  warming: 'the model warmed up',
};

function limitOf({ kind }: Waiting, { wish }: Placing): number {
  return { connecting: connectMs, loading: loadMs(wish.bytesPerNode), warming: warmUpMs }[kind];
}

/**
 * exo makes failed runners again, five times, and then deletes the instance. What is known to fail again, and takes
 * something away each time, is not waited for.
 */
function failing(placing: Placing, seen: Watch, { message, atMs }: { message: string; atMs: number }): Talk {
  const known = signatureIn(message);
  const last = `a runner failed: ${message.trim().replaceAll(/\s+/g, ' ')}`;
  if (known === undefined) {
    const isStill = last === seen.last;
    if (!isStill) return watch(placing, { ...seen, last, sinceMs: atMs });
    if (atMs - seen.sinceMs < connectMs) return watch(placing, seen);
    return withdraw(placing, seen.instance, { kind: 'failed', code: 'exo/runner-failed', reason: last });
  }
  const reason = `${last}. ${known.meaning}`;
  return withdraw(placing, seen.instance, { kind: 'failed', code: 'exo/runner-failed', reason, hint: known.cure });
}

/**
 * Lets exo end the runners itself before its processes are stopped: one that is killed inside of a collective leaves
 * the GPU busy until the Mac restarts (issue 1137).
 */
function withdraw(placing: Placing, { id }: ExoInstance, then: Talk): Talk {
  return {
    kind: 'ask',
    request: leaderRequest(placing, 'DELETE', `/instance/${id}`),
    afterMs: 0,
    about: 'taking the instance away',
    hear: ({ atMs }) => awaitGone(placing, id, { untilMs: atMs + giveWay, next: () => then }),
  };
}

interface Leaving {
  readonly untilMs: number;
  /** What follows, from then on. */
  readonly next: (atMs: number) => Talk;
}

/** Waits until an instance is not in the state any more; after a while it goes on all the same. */
export function awaitGone(placing: Placing, id: string, wait: Leaving): Talk {
  return askState(placing, 'taking the instance away', ({ atMs }, state) => {
    const isThere = state === undefined || state.instances.some((instance) => instance.id === id);
    return isThere && atMs < wait.untilMs ? awaitGone(placing, id, wait) : wait.next(atMs);
  });
}

/** A node as the file calls it. */
const nodeOf = ({ wish, ids }: Placing, id: string): string => wish.nodes[ids.indexOf(id)] ?? id;

function readyNote({ wish, ids }: Placing, { identities }: ExoState): string {
  const ghosts = identities.filter((id) => !ids.includes(id)).length;
  const made = `${wish.sharding} over ${wish.meta} on ${wish.nodes.length} node${wish.nodes.length === 1 ? '' : 's'}`;
  return ghosts === 0 ? made : `${made}; exo still names ${ghosts} that are gone`;
}

/** How far the runners of an instance have come; the slowest one counts. */
type Progress =
  | { readonly kind: 'connecting'; readonly text: string }
  | { readonly kind: 'loading'; readonly text: string }
  | { readonly kind: 'warming'; readonly text: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Judges the runners that an instance names, and no others: those of instances of old stay in the state (issue 1732).
 * One that is not there yet, or was ended to be made again, counts as connecting.
 */
function progressOf(instance: ExoInstance, runners: Readonly<Record<string, RunnerState>>): Progress {
  const states = Object.values(instance.runnerByNode).map(
    (id): RunnerState => (Object.hasOwn(runners, id) ? runners[id] : undefined) ?? { kind: 'connecting' },
  );
  for (const state of states) if (state.kind === 'failed') return { kind: 'failed', message: state.message };
  const early = states.filter(({ kind }) => kind === 'connecting' || kind === 'ended');
  const text = (count: number, words: string): string => `${count} of ${states.length} runners ${words}`;
  if (early.length > 0) return { kind: 'connecting', text: text(states.length - early.length, 'are connected') };
  const loading = states.flatMap((state) => (state.kind === 'loading' ? [state] : []));
  if (loading.length > 0) {
    const layers = loading.map((state) => `${state.layers} of ${state.of}`).join(', ');
    return { kind: 'loading', text: `layers loaded: ${layers}` };
  }
  const warming = states.filter(({ kind }) => kind === 'warming');
  if (warming.length > 0) return { kind: 'warming', text: text(states.length - warming.length, 'are warm') };
  return { kind: 'ready' };
}

/** A connection of a ring beside the cables: `off` is at no address of the declared ones, though there is one. */
interface RingWay {
  readonly verdict: 'on' | 'off' | 'unknown';
  /** `studio-1 to studio-2 at 192.0.2.12`. */
  readonly text: string;
  /** Of the other node, on every declared cable between the two. */
  readonly cabled: readonly string[];
}

/** Where macOS itself gives an interface an address, nothing says which interface has it. */
const isJudged = (ip: string): boolean => ipv4Number(ip) !== undefined && !ip.startsWith('169.254.');

function waysOf(
  { ring }: ExoInstance,
  { nodes, cables = [] }: ExoPlacement,
  ids: readonly string[],
): readonly RingWay[] {
  return ring.map(({ from, to, ip }) => {
    const [source = from, sink = to] = [from, to].map((id) => nodes[ids.indexOf(id)]);
    const cabled = cables.find((cable) => cable.from === source && cable.to === sink)?.addresses ?? [];
    const elsewhere = cabled.length > 0 && isJudged(ip) ? 'off' : 'unknown';
    return { verdict: cabled.includes(ip) ? 'on' : elsewhere, text: `${source} to ${sink} at ${ip}`, cabled };
  });
}

/**
 * Why a ring over TCP is not on the declared cables: exo takes the best way that it has found itself, which can be Wi-Fi or
 * the office network. `undefined` where nothing is known to be wrong.
 *
 * @see exo: find_ip_prioritised and get_mlx_ring_hosts_by_node in master/placement_utils.py
 */
export function ringOffCables(instance: ExoInstance, wish: ExoPlacement, ids: readonly string[]): string | undefined {
  const off = waysOf(instance, wish, ids).filter(({ verdict }) => verdict === 'off');
  if (off.length === 0) return undefined;
  const ways = off.map(({ text, cabled }) => `${text} (the cable: ${cabled.join(', ')})`);
  return `its ring connects ${ways.join(', ')}`;
}

/** The connections of a ring over TCP that nothing known here tells apart. */
function unknownWays(instance: ExoInstance, wish: ExoPlacement, ids: readonly string[]): string {
  if (wish.cables === undefined) return '';
  const found = waysOf(instance, wish, ids).filter(({ verdict }) => verdict === 'unknown');
  return found.length === 0 ? '' : `; unknown whether over a cable: ${found.map(({ text }) => text).join(', ')}`;
}

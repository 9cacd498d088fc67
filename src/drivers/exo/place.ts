import type { ExoPlacement } from '../../model/endpoint-calls.ts';
import type { Asking, Heard, Talk, TalkRequest } from '../contract/driver.ts';
import {
  type ExoInstance,
  type ExoPreview,
  type ExoState,
  parseModelIds,
  parseNodeId,
  parsePreviews,
  parseState,
  type RunnerState,
  refusalText,
} from './answers.ts';
import { signatureIn } from './classify.ts';
import { ringOffCables, unknownWays } from './ring-ways.ts';

/** From the start of the last rank until all of them have said who they are. */
const identifyMs = 60_000;
/** From there until exo has seen the cables: it looks at them every 5 to 10 seconds, and at RDMA after that. */
const topologyMs = 120_000;
/** Two requests for a card of {@link addMs}. */
const modelMs = 120_000;
/**
 * Before exo makes a card from local files it asks Hugging Face for the size of each of the two, even when it is offline,
 * and gives each up after 10 s without a connection or 30 s in all.
 *
 * @see exo: fetch_config_data in shared/models/model_cards.py, create_http_session in download/download_utils.py
 */
const addMs = 60_000;
/** Previews depend on the memory that is free, which exo measures by and by. */
const previewMs = 60_000;
const leaveMs = 30_000;

/**
 * Makes exo place a model on exactly the declared nodes: who they are in this start, whether exo sees all cables, what
 * it would do, the one offer that is what was declared, and its runners until they are ready. exo forgets all of it
 * whenever it starts, so nothing is taken from a start before.
 */
export const placeOnExo = (wish: ExoPlacement): Talk => askIdentity(wish, [], 0);

function askIdentity(wish: ExoPlacement, ids: readonly string[], sinceMs: number): Talk {
  const node = wish.nodes[ids.length];
  if (node === undefined) return awaitTopology({ wish, ids }, sinceMs);
  return {
    kind: 'ask',
    request: { node, method: 'GET', port: wish.port, path: '/node_id' },
    afterMs: pollMs,
    about: `asking ${node} who it is`,
    hear: ({ status, body, atMs }) => {
      const id = status === 200 ? parseNodeId(body) : undefined;
      if (id === undefined && atMs - sinceMs < identifyMs) return askIdentity(wish, ids, sinceMs);
      if (id === undefined) {
        const reason = status === 0 ? 'its API does not answer' : `its API answers with status ${status}`;
        return { kind: 'failed', code: 'exo/no-identity', reason: `${node}: ${reason}` };
      }
      if (ids.includes(id)) {
        const reason = `${node} and ${wish.nodes[ids.indexOf(id)] ?? ''} are one and the same to exo: ${id}`;
        return { kind: 'failed', code: 'exo/no-identity', reason };
      }
      return askIdentity(wish, [...ids, id], atMs);
    },
  };
}

/** Every ordered pair of different nodes. */
const pairsOf = (ids: readonly string[]): readonly (readonly [string, string])[] =>
  ids.flatMap((from) => ids.filter((to) => to !== from).map((to) => [from, to] as const));

/** What exo does not see yet of the mesh; empty when nothing is missing. */
function missingIn({ topology, measured }: ExoState, { wish, ids }: Placing): string {
  const name = (id: string): string => wish.nodes[ids.indexOf(id)] ?? id;
  const absent = ids.filter((id) => !topology.nodes.includes(id));
  if (absent.length > 0) return `it does not see ${absent.map(name).join(', ')}`;
  const strangers = topology.nodes.filter((id) => !ids.includes(id));
  if (strangers.length > 0) return `it sees nodes that are not of this placement: ${strangers.join(', ')}`;
  const unmeasured = ids.filter((id) => !measured.includes(id));
  if (unmeasured.length > 0) return `it does not know the memory of ${unmeasured.map(name).join(', ')}`;
  const oneWay = pairsOf(ids).find(([a, b]) => topology.sockets.has(`${a} ${b}`) && !topology.sockets.has(`${b} ${a}`));
  if (oneWay !== undefined) return `it sees ${name(oneWay[1])} from ${name(oneWay[0])}, and not the other way round`;
  if (wish.meta === 'MlxRing') return '';
  const [pair] = pairsOf(ids).filter(([a, b]) => !topology.rdma.has(`${a} ${b}`));
  return pair === undefined ? '' : `it sees no RDMA from ${name(pair[0])} to ${name(pair[1])}`;
}

function awaitTopology(placing: Placing, sinceMs: number): Talk {
  const look = (missing: string): Asking =>
    askState(placing, missing === '' ? 'looking at the mesh' : missing, ({ status, atMs }, state) => {
      const now = state === undefined ? `its state cannot be read (status ${status})` : missingIn(state, placing);
      if (now === '' && state !== undefined) return knowModel(placing, state, atMs);
      if (atMs - sinceMs < topologyMs) return look(now);
      return { kind: 'failed', code: 'exo/mesh-incomplete', reason: now };
    });
  return look('');
}

/** exo knows models by cards, and forgets those that were added whenever its master changes. */
function knowModel(placing: Placing, state: ExoState, sinceMs: number): Talk {
  const { modelId } = placing.wish;
  const ask = (afterMs: number, without: string): Asking => ({
    kind: 'ask',
    request: leaderRequest(placing, 'GET', '/models'),
    afterMs,
    about: `asking whether it knows ${modelId}`,
    hear: ({ status, body, atMs }) => {
      const ids = status === 200 ? parseModelIds(body) : undefined;
      if (ids?.includes(modelId)) return clear(placing, state, atMs);
      const isOver = atMs - sinceMs >= modelMs;
      if (ids !== undefined) return isOver && without !== '' ? refused(without) : add();
      return isOver ? refused(`its list of models cannot be read (status ${status})`) : ask(pollMs, without);
    },
  });
  // exo may have added the card though its answer came too late, so the list is read again before a second request.
  const add = (): Asking => ({
    kind: 'ask',
    request: {
      ...leaderRequest(placing, 'POST', '/models/add'),
      body: JSON.stringify({ model_id: modelId }),
      limitMs: addMs,
    },
    afterMs: 0,
    about: `adding ${modelId} to its models`,
    hear: ({ status, body, atMs }) => {
      if (status === 200) return clear(placing, state, atMs);
      return status === 0 ? ask(pollMs, `no answer to adding ${modelId}`) : refused(refusalText(body));
    },
  });
  return ask(0, '');
}

const refused = (reason: string): Talk => ({ kind: 'failed', code: 'exo/model-refused', reason });

/** A mesh has one placement: an instance that is right is kept, as after a run that was cut off; others are deleted. */
function clear(placing: Placing, state: ExoState, atMs: number): Talk {
  const wish = { ...placing.wish, ids: placing.ids };
  const right = state.instances.find(
    (instance) => isWished(instance, wish) && ringOffCables(instance, placing.wish, placing.ids) === undefined,
  );
  const others = state.instances.filter((instance) => instance !== right);
  // What follows has all of its own time, however long others take to go.
  const next = (goneMs: number): Talk =>
    right === undefined ? askPreviews(placing, goneMs) : awaitRunners(placing, right, goneMs);
  const leave = ([first, ...rest]: readonly ExoInstance[], goneMs: number): Talk =>
    first === undefined
      ? next(goneMs)
      : takeAway(placing, first, 'taking away an instance of before', (gone) => leave(rest, gone));
  return leave(others, atMs);
}

/** The nodes are a superset match: what comes back has other sets of nodes in it as well. */
function askPreviews(placing: Placing, sinceMs: number): Talk {
  const { wish, ids } = placing;
  const query = [`model_id=${encodeURIComponent(wish.modelId)}`, ...ids.map((id) => `node_ids=${id}`)].join('&');
  return {
    kind: 'ask',
    request: leaderRequest(placing, 'GET', `/instance/previews?${query}`),
    afterMs: pollMs,
    about: 'asking what it would do',
    hear: ({ status, body, atMs }) => {
      const previews = status === 200 ? parsePreviews(body) : undefined;
      const choice = previews && choosePreview(previews, { ...wish, ids });
      // exo finds the cables by and by: until then it offers a ring over another network.
      const off = choice?.kind === 'chosen' ? ringOffCables(choice.instance, wish, ids) : undefined;
      if (choice?.kind === 'chosen' && off === undefined) return post(placing, choice, { sinceMs: atMs, tries: 1 });
      if (atMs - sinceMs < previewMs) return askPreviews(placing, sinceMs);
      if (off !== undefined) return { kind: 'failed', code: 'exo/ring-off-cables', reason: off };
      const why =
        choice?.kind === 'none'
          ? choice.reason
          : `its previews cannot be read (status ${status}: ${refusalText(body)})`;
      const nodes = `${wish.nodes.length} node${wish.nodes.length === 1 ? '' : 's'}`;
      const reason = `it offers no ${wish.sharding} over ${wish.meta} on exactly these ${nodes}: ${why}`;
      return { kind: 'failed', code: 'exo/placement-refused', reason };
    },
  };
}

type Chosen = Extract<ReturnType<typeof choosePreview>, { readonly kind: 'chosen' }>;

/** How often an instance is posted at most; its id is in it, so that a second time does no harm. */
const maxPosts = 3;

function post(placing: Placing, chosen: Chosen, at: { sinceMs: number; tries: number }): Talk {
  const request: TalkRequest = {
    ...leaderRequest(placing, 'POST', '/instance'),
    body: JSON.stringify({ instance: chosen.verbatim }),
  };
  return {
    kind: 'ask',
    request,
    afterMs: 0,
    about: 'asking for the placement',
    hear: ({ status, body, atMs }: Heard) => {
      if (status === 200) return awaitRunners(placing, chosen.instance, atMs);
      if (status === 0 && at.tries < maxPosts) return post(placing, chosen, { ...at, tries: at.tries + 1 });
      return { kind: 'failed', code: 'exo/placement-refused', reason: `status ${status}: ${refusalText(body)}` };
    },
  };
}

/** What an instance must be to count as the declared one. */
export type InstanceWish = Pick<ExoPlacement, 'modelId' | 'sharding' | 'meta'> & {
  /** exo's ids of exactly the nodes that it is to be on. */
  readonly ids: readonly string[];
};

/** The preview to be posted, or why there is none. */
type Choice =
  | { readonly kind: 'chosen'; readonly instance: ExoInstance; readonly verbatim: unknown }
  /** `reason` goes on "exo offers no …: ". */
  | { readonly kind: 'none'; readonly reason: string };

const isOnExactly = ({ runnerByNode }: ExoInstance, ids: readonly string[]): boolean => {
  const nodes = Object.keys(runnerByNode);
  return nodes.length === ids.length && ids.every((id) => nodes.includes(id));
};

/** Whether an instance is what was declared, by its own tags and its own nodes alone. */
const isWished = (instance: ExoInstance, wish: InstanceWish): boolean =>
  instance.modelId === wish.modelId &&
  instance.tag === `${wish.meta}Instance` &&
  instance.shardTags.length === wish.ids.length &&
  instance.shardTags.every((tag) => tag === `${wish.sharding}ShardMetadata`) &&
  isOnExactly(instance, wish.ids);

const instanceText = ({ tag, shardTags, runnerByNode }: ExoInstance): string => {
  const nodes = Object.keys(runnerByNode).length;
  return `${tag} with ${[...new Set(shardTags)].join(', ')} on ${nodes} node${nodes === 1 ? '' : 's'}`;
};

/**
 * The one preview that is what was declared. exo answers with more than was asked for (other node sets, other
 * transports), and what it calls `Tensor` over `MlxJaccl` can be a ring of one node: its labels count for nothing.
 */
export function choosePreview(previews: readonly ExoPreview[], wish: InstanceWish): Choice {
  for (const { instance, verbatim } of previews) {
    if (instance !== undefined && isWished(instance, wish)) return { kind: 'chosen', instance, verbatim };
  }
  return { kind: 'none', reason: reasonOf(previews, wish) };
}

function reasonOf(previews: readonly ExoPreview[], { sharding, meta, ids }: InstanceWish): string {
  if (previews.length === 0) return 'it has no previews at all';
  const labelled = previews.filter((preview) => preview.sharding === sharding && preview.meta === meta);
  const error = labelled.find((preview) => preview.error !== undefined)?.error;
  if (error !== undefined) return error;
  const others = labelled.flatMap(({ instance }) => instance ?? []);
  const sameNodes = others.find((instance) => isOnExactly(instance, ids));
  const shown = sameNodes ?? others[0];
  if (shown === undefined) return `it has no preview of ${sharding} over ${meta}`;
  return `what it calls ${sharding} over ${meta} is a ${instanceText(shown)}`;
}

/** A placement with what exo calls its nodes in this start. */
interface Placing {
  readonly wish: ExoPlacement;
  /** In rank order. */
  readonly ids: readonly string[];
}

/** Between two looks at a mesh. */
const pollMs = 1_000;

const warmUpMs = 180_000;
const connectMs = 60_000;
/** From the command to an instance in the state; commands are carried out later than they are answered. */
const appearMs = 30_000;

/** A minute, and what 1.5 GB/s take; exo says how many layers are loaded, and every one of them begins it anew. */
const loadMs = (bytes: number): number => 60_000 + Math.ceil(bytes / 1_500_000);

/** A request to the leader. */
const leaderRequest = (
  { wish: { nodes, port } }: Placing,
  method: TalkRequest['method'],
  path: string,
): TalkRequest => {
  const [node] = nodes;
  if (node === undefined) throw new Error('a placement has at least one node');
  return { node, method, port, path };
};

/** A look at the state of a mesh. */
const askState = (
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
const awaitRunners = (placing: Placing, instance: ExoInstance, sinceMs: number): Talk =>
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
const withdraw = (placing: Placing, instance: ExoInstance, then: Talk): Talk =>
  takeAway(placing, instance, 'taking the instance away', () => then);

/** Deletes an instance and waits until it is gone; after a while it goes on all the same, from the time that it is then. */
function takeAway(placing: Placing, { id }: ExoInstance, about: string, next: (atMs: number) => Talk): Talk {
  const awaitGone = (untilMs: number): Talk =>
    askState(placing, 'taking the instance away', ({ atMs }, state) => {
      const isThere = state === undefined || state.instances.some((instance) => instance.id === id);
      return isThere && atMs < untilMs ? awaitGone(untilMs) : next(atMs);
    });
  return {
    kind: 'ask',
    request: leaderRequest(placing, 'DELETE', `/instance/${id}`),
    afterMs: 0,
    about,
    hear: ({ atMs }) => awaitGone(atMs + leaveMs),
  };
}

/** A node by its name in the file. */
const nodeOf = ({ wish, ids }: Placing, id: string): string => wish.nodes[ids.indexOf(id)] ?? id;

function readyNote({ wish, ids }: Placing, { identities }: ExoState): string {
  const ghosts = identities.filter((id) => !ids.includes(id)).length;
  const made = `${wish.sharding} over ${wish.meta} on ${wish.nodes.length} node${wish.nodes.length === 1 ? '' : 's'}`;
  return ghosts === 0 ? made : `${made}; exo still names ${ghosts} that are gone`;
}

/** How far the runners of an instance have come; the slowest one counts. */
type Progress =
  | { readonly kind: 'connecting' | 'loading' | 'warming'; readonly text: string }
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

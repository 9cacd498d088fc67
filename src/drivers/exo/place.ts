import type { ExoPlacement } from '../../model/endpoint-calls.ts';
import { orderedPairs } from '../../model/lists.ts';
import type { Asking, Heard, Talk, TalkRequest } from '../contract/driver.ts';
import { signatureIn } from '../messages/exo.ts';
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
import { ringOffCables, unknownWays } from './ring-ways.ts';

/** Time limit from the start of the last rank until all ranks have returned their ids. */
const identifyMs = 60_000;
/** Time limit from then until exo sees the cables. exo checks cables every 5 to 10 seconds, and RDMA after that. */
const topologyMs = 120_000;
/** Time limit for two requests for a card ({@link addMs}). */
const modelMs = 120_000;
/**
 * Before exo derives a card from local files, it asks Hugging Face for the size of two files, even offline. Each
 * request gives up after 10 s without a connection, or after 30 s in total.
 *
 * @see exo: fetch_config_data in shared/models/model_cards.py, create_http_session in download/download_utils.py
 */
const addMs = 60_000;
/** Time limit for previews, which depend on free memory; exo measures memory gradually. */
const previewMs = 60_000;
const leaveMs = 30_000;

/**
 * Makes exo place a model on exactly the declared nodes. It reads their ids, waits until exo sees all cables, posts the
 * one preview that matches the file, and waits until its runners are ready. exo forgets all this when it stops, so
 * every start does it again.
 */
export const placeOnExo = (desired: ExoPlacement): Talk => askIdentity(desired, [], 0);

function askIdentity(desired: ExoPlacement, ids: readonly string[], sinceMs: number): Talk {
  const node = desired.nodes[ids.length];
  if (node === undefined) return awaitTopology({ desired, ids }, sinceMs);
  return {
    kind: 'ask',
    request: { node, method: 'GET', port: desired.port, path: '/node_id' },
    afterMs: pollMs,
    about: `reading the exo id of ${node}`,
    hear: ({ status, body, atMs }) => {
      const id = status === 200 ? parseNodeId(body) : undefined;
      if (id === undefined && atMs - sinceMs < identifyMs) return askIdentity(desired, ids, sinceMs);
      if (id === undefined) {
        const reason = status === 0 ? 'its API does not answer' : `its API returned status ${status}`;
        return failed('exo/no-identity', `${node}: ${reason}`);
      }
      if (ids.includes(id)) {
        const reason = `${node} and ${desired.nodes[ids.indexOf(id)] ?? ''} have the same exo id: ${id}`;
        return failed('exo/no-identity', reason);
      }
      return askIdentity(desired, [...ids, id], atMs);
    },
  };
}

/** The part of the mesh that exo does not see yet, in words; empty if exo sees everything. */
function missingIn({ topology, measured }: ExoState, { desired, ids }: Placing): string {
  const name = (id: string): string => desired.nodes[ids.indexOf(id)] ?? id;
  const absent = ids.filter((id) => !topology.nodes.includes(id));
  if (absent.length > 0) return `exo does not see ${absent.map(name).join(', ')}`;
  const strangers = topology.nodes.filter((id) => !ids.includes(id));
  if (strangers.length > 0) return `exo sees nodes outside this placement: ${strangers.join(', ')}`;
  const unmeasured = ids.filter((id) => !measured.includes(id));
  if (unmeasured.length > 0) return `exo has not yet measured the memory of ${unmeasured.map(name).join(', ')}`;
  const oneWay = orderedPairs(ids).find(
    ([a, b]) => topology.sockets.has(`${a} ${b}`) && !topology.sockets.has(`${b} ${a}`),
  );
  if (oneWay !== undefined) return `exo sees ${name(oneWay[1])} from ${name(oneWay[0])}, but not the reverse`;
  if (desired.meta === 'MlxRing') return '';
  const [pair] = orderedPairs(ids).filter(([a, b]) => !topology.rdma.has(`${a} ${b}`));
  return pair === undefined ? '' : `exo sees no RDMA from ${name(pair[0])} to ${name(pair[1])}`;
}

function awaitTopology(placing: Placing, sinceMs: number): Talk {
  const check = (missing: string): Asking =>
    askState(placing, missing === '' ? 'checking the mesh' : missing, ({ status, atMs }, state) => {
      const now = state === undefined ? `its state cannot be read (status ${status})` : missingIn(state, placing);
      if (now === '' && state !== undefined) return knowModel(placing, state, atMs);
      if (atMs - sinceMs < topologyMs) return check(now);
      return failed('exo/mesh-incomplete', now);
    });
  return check('');
}

/** Adds the model's card, by which exo identifies it. exo forgets added cards whenever its master changes. */
function knowModel(placing: Placing, state: ExoState, sinceMs: number): Talk {
  const { modelId } = placing.desired;
  const ask = (afterMs: number, without: string): Asking => ({
    kind: 'ask',
    request: leaderRequest(placing, 'GET', '/models'),
    afterMs,
    about: `checking whether exo knows ${modelId}`,
    hear: ({ status, body, atMs }) => {
      const ids = status === 200 ? parseModelIds(body) : undefined;
      if (ids?.includes(modelId)) return clear(placing, state, atMs);
      const isOver = atMs - sinceMs >= modelMs;
      if (ids !== undefined) return isOver && without !== '' ? refused(without) : add();
      return isOver ? refused(`its model list cannot be read (status ${status})`) : ask(pollMs, without);
    },
  });
  // exo may have added the card although its response was late, so the list is read again before a second request.
  const add = (): Asking => ({
    kind: 'ask',
    request: {
      ...leaderRequest(placing, 'POST', '/models/add'),
      body: JSON.stringify({ model_id: modelId }),
      limitMs: addMs,
    },
    afterMs: 0,
    about: `adding ${modelId} to exo's models`,
    hear: ({ status, body, atMs }) => {
      if (status === 200) return clear(placing, state, atMs);
      return status === 0
        ? ask(pollMs, `exo did not answer the request to add ${modelId}`)
        : refused(refusalText(body));
    },
  });
  return ask(0, '');
}

const failed = (code: Failed['code'], reason: string): Failed => ({ kind: 'failed', code, reason });

const refused = (reason: string): Talk => failed('exo/model-refused', reason);

type Failed = Extract<Talk, { readonly kind: 'failed' }>;

/** Deletes all instances except a matching one, such as that of an interrupted run. A mesh has only one placement. */
function clear(placing: Placing, state: ExoState, atMs: number): Talk {
  const desired = { ...placing.desired, ids: placing.ids };
  const right = state.instances.find(
    (instance) => isDesired(instance, desired) && ringOffCables(instance, placing.desired, placing.ids) === undefined,
  );
  const others = state.instances.filter((instance) => instance !== right);
  // The next phase gets its full time, however long the deletions take.
  const next = (goneMs: number): Talk =>
    right === undefined ? askPreviews(placing, goneMs) : awaitRunners(placing, right, goneMs);
  const leave = ([first, ...rest]: readonly ExoInstance[], goneMs: number): Talk =>
    first === undefined
      ? next(goneMs)
      : takeAway(placing, first, 'deleting an earlier instance', (gone) => leave(rest, gone));
  return leave(others, atMs);
}

/** Requests previews. exo returns them for any set of nodes that contains the requested nodes. */
function askPreviews(placing: Placing, sinceMs: number): Talk {
  const { desired, ids } = placing;
  const query = [`model_id=${encodeURIComponent(desired.modelId)}`, ...ids.map((id) => `node_ids=${id}`)].join('&');
  return {
    kind: 'ask',
    request: leaderRequest(placing, 'GET', `/instance/previews?${query}`),
    afterMs: pollMs,
    about: "reading exo's placement previews",
    hear: ({ status, body, atMs }) => {
      const previews = status === 200 ? parsePreviews(body) : undefined;
      const choice = previews && choosePreview(previews, { ...desired, ids });
      // exo finds the cables gradually. Until then it offers a ring over a different network.
      const off = choice?.kind === 'chosen' ? ringOffCables(choice.instance, desired, ids) : undefined;
      if (choice?.kind === 'chosen' && off === undefined) return post(placing, choice);
      if (atMs - sinceMs < previewMs) return askPreviews(placing, sinceMs);
      if (off !== undefined) return failed('exo/ring-off-cables', off);
      const why =
        choice?.kind === 'none'
          ? choice.reason
          : `its previews cannot be read (status ${status}: ${refusalText(body)})`;
      const nodes = `${desired.nodes.length} node${desired.nodes.length === 1 ? '' : 's'}`;
      const reason = `exo offers no ${desired.sharding} over ${desired.meta} on exactly these ${nodes}: ${why}`;
      return failed('exo/placement-refused', reason);
    },
  };
}

type Chosen = Extract<ReturnType<typeof choosePreview>, { readonly kind: 'chosen' }>;

/** Maximum number of posts of an instance. It contains its id, so repeating the request is safe. */
const maxPosts = 3;

function post(placing: Placing, chosen: Chosen, tries = 1): Talk {
  const body = JSON.stringify({ instance: chosen.verbatim });
  return {
    kind: 'ask',
    request: { ...leaderRequest(placing, 'POST', '/instance'), body },
    afterMs: 0,
    about: 'requesting the placement',
    hear: ({ status, body: answer, atMs }: Heard) => {
      if (status === 200) return awaitRunners(placing, chosen.instance, atMs);
      if (status === 0 && tries < maxPosts) return post(placing, chosen, tries + 1);
      return failed('exo/placement-refused', `status ${status}: ${refusalText(answer)}`);
    },
  };
}

/** The properties that identify the declared instance. */
export type DesiredInstance = Pick<ExoPlacement, 'modelId' | 'sharding' | 'meta'> & {
  /** The exo ids of the desired nodes, and of no others. */
  readonly ids: readonly string[];
};

type Choice =
  | { readonly kind: 'chosen'; readonly instance: ExoInstance; readonly verbatim: unknown }
  /** `reason` continues "exo offers no …: ". */
  | { readonly kind: 'none'; readonly reason: string };

const isOnExactly = ({ runnerByNode }: ExoInstance, ids: readonly string[]): boolean => {
  const nodes = Object.keys(runnerByNode);
  return nodes.length === ids.length && ids.every((id) => nodes.includes(id));
};

/** Compares an instance with the declared one by its own tags and nodes only. */
const isDesired = (instance: ExoInstance, desired: DesiredInstance): boolean =>
  instance.modelId === desired.modelId &&
  instance.tag === `${desired.meta}Instance` &&
  instance.shardTags.length === desired.ids.length &&
  instance.shardTags.every((tag) => tag === `${desired.sharding}ShardMetadata`) &&
  isOnExactly(instance, desired.ids);

const instanceText = ({ tag, shardTags, runnerByNode }: ExoInstance): string => {
  const nodes = Object.keys(runnerByNode).length;
  return `${tag} with ${[...new Set(shardTags)].join(', ')} on ${nodes} node${nodes === 1 ? '' : 's'}`;
};

/** The preview that matches the declaration. Labels are ignored, because exo's `MlxJaccl` can be a ring of one node. */
export function choosePreview(previews: readonly ExoPreview[], desired: DesiredInstance): Choice {
  for (const { instance, verbatim } of previews) {
    if (instance !== undefined && isDesired(instance, desired)) return { kind: 'chosen', instance, verbatim };
  }
  return { kind: 'none', reason: reasonOf(previews, desired) };
}

function reasonOf(previews: readonly ExoPreview[], { sharding, meta, ids }: DesiredInstance): string {
  if (previews.length === 0) return 'exo returned no previews';
  const labelled = previews.filter((preview) => preview.sharding === sharding && preview.meta === meta);
  const error = labelled.find((preview) => preview.error !== undefined)?.error;
  if (error !== undefined) return error;
  const others = labelled.flatMap(({ instance }) => instance ?? []);
  const sameNodes = others.find((instance) => isOnExactly(instance, ids));
  const shown = sameNodes ?? others[0];
  if (shown === undefined) return `exo returned no preview of ${sharding} over ${meta}`;
  return `exo's preview of ${sharding} over ${meta} is a ${instanceText(shown)}`;
}

/** A placement with exo's node ids in this start. */
interface Placing {
  readonly desired: ExoPlacement;
  /** In rank order. */
  readonly ids: readonly string[];
}

const pollMs = 1_000;

const warmUpMs = 180_000;
const connectMs = 60_000;
/** Time limit from the request until the instance is in the state; exo runs commands after it answers. */
const appearMs = 30_000;

/** Time limit for loading: one minute plus the time at 1.5 GB/s. Each layer that exo reports restarts the limit. */
const loadMs = (bytes: number): number => 60_000 + Math.ceil(bytes / 1_500_000);

const leaderRequest = (
  { desired: { nodes, port } }: Placing,
  method: TalkRequest['method'],
  path: string,
): TalkRequest => {
  const [node] = nodes;
  if (node === undefined) throw new Error('a placement has at least one node');
  return { node, method, port, path };
};

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

interface Watch {
  readonly instance: ExoInstance;
  /** Whether the instance was in the state. */
  readonly isSeen: boolean;
  /** The last progress text, and when it changed. */
  readonly last: string;
  readonly sinceMs: number;
  /** The time since which responses contain no state. */
  readonly silentSinceMs: number | undefined;
  readonly eventIndex: number;
}

/**
 * Waits until all runners of an instance are ready, as long as they make progress. @param sinceMs time of the request
 */
const awaitRunners = (placing: Placing, instance: ExoInstance, sinceMs: number): Talk =>
  watch(placing, {
    instance,
    isSeen: false,
    last: 'the instance was requested',
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
    const download = state.failedDownloads.find(
      ({ node, modelId }) => modelId === placing.desired.modelId && placing.ids.includes(node),
    );
    if (download !== undefined) {
      const reason = `${nodeOf(placing, download.node)} is missing files from the model: ${download.message}`;
      return withdraw(placing, instance, failed('exo/runner-failed', reason));
    }
    return judge(placing, { ...seen, instance, isSeen: true, eventIndex: state.eventIndex }, { heard, state });
  });
}

interface StateAnswer {
  readonly heard: Heard;
  readonly state: ExoState;
}

/** Handles a response without a state, which counts as a failure only after a while. */
function silent(placing: Placing, seen: Watch, { status, atMs }: Heard): Talk {
  const { silentSinceMs = atMs } = seen;
  if (atMs - silentSinceMs < connectMs) return watch(placing, { ...seen, silentSinceMs });
  const words = status === 0 ? 'its API stopped answering' : `its API returned status ${status}`;
  const reason = `${words}; last state: ${seen.last}`;
  return withdraw(placing, seen.instance, failed('exo/stuck', reason));
}

function absent(placing: Placing, seen: Watch, { heard: { atMs }, state }: StateAnswer): Talk {
  const gone = placing.ids.filter((id) => !state.topology.nodes.includes(id)).map((id) => nodeOf(placing, id));
  const isNewSession = state.eventIndex < seen.eventIndex;
  if (seen.isSeen && (isNewSession || gone.length > 0)) {
    const why = gone.length > 0 ? `${gone.join(', ')} left the mesh` : 'the exo master changed and lost all placements';
    return failed('exo/master-lost', `${why}; last state: ${seen.last}`);
  }
  if (seen.isSeen) return failed('exo/runner-failed', `exo deleted the instance itself; last state: ${seen.last}`);
  if (atMs - seen.sinceMs < appearMs) return watch(placing, seen);
  const reason = 'exo accepted the placement but did not create it; see its log';
  return failed('exo/placement-refused', reason);
}

function judge(placing: Placing, seen: Watch, { heard: { atMs }, state }: StateAnswer): Talk {
  const progress = progressOf(seen.instance, state.runners);
  if (progress.kind === 'ready')
    return { kind: 'done', note: readyNote(placing, state) + unknownWays(seen.instance, placing.desired, placing.ids) };
  if (progress.kind === 'failed') return failing(placing, seen, { message: progress.message, atMs });
  if (progress.text !== seen.last) return watch(placing, { ...seen, last: progress.text, sinceMs: atMs });
  const limit = limitOf(progress, placing);
  if (atMs - seen.sinceMs < limit) return watch(placing, seen);
  const reason = `no progress for ${Math.round(limit / 1_000)} s while ${words[progress.kind]} (${progress.text})`;
  return withdraw(placing, seen.instance, failed('exo/stuck', reason));
}

type Waiting = Exclude<Progress, { readonly kind: 'ready' | 'failed' }>;

const words: Readonly<Record<Waiting['kind'], string>> = {
  connecting: 'the runners were connecting',
  loading: 'the model was loading',
  warming: 'the model was warming up',
};

const limitOf = ({ kind }: Waiting, { desired }: Placing): number =>
  ({ connecting: connectMs, loading: loadMs(desired.bytesPerNode), warming: warmUpMs })[kind];

/**
 * exo restarts failed runners five times, and then deletes the instance. A known failure is not retried, because it
 * repeats and uses up resources each time.
 */
function failing(placing: Placing, seen: Watch, { message, atMs }: { message: string; atMs: number }): Talk {
  const known = signatureIn(message);
  const last = `a runner failed: ${message.trim().replaceAll(/\s+/g, ' ')}`;
  if (known === undefined) {
    if (last !== seen.last) return watch(placing, { ...seen, last, sinceMs: atMs });
    if (atMs - seen.sinceMs < connectMs) return watch(placing, seen);
    return withdraw(placing, seen.instance, failed('exo/runner-failed', last));
  }
  const reason = `${last}. ${known.meaning}`;
  return withdraw(placing, seen.instance, { ...failed('exo/runner-failed', reason), hint: known.cure });
}

/**
 * Lets exo stop the runners before its processes are stopped: a runner killed inside a collective keeps its GPU busy
 * until the Mac restarts (issue 1137).
 */
const withdraw = (placing: Placing, instance: ExoInstance, then: Talk): Talk =>
  takeAway(placing, instance, 'deleting the instance', () => then);

/** Deletes an instance and waits until it is gone. After {@link leaveMs} it continues anyway, with the current time. */
function takeAway(placing: Placing, { id }: ExoInstance, about: string, next: (atMs: number) => Talk): Talk {
  const awaitGone = (untilMs: number): Talk =>
    askState(placing, 'deleting the instance', ({ atMs }, state) => {
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

const nodeOf = ({ desired, ids }: Placing, id: string): string => desired.nodes[ids.indexOf(id)] ?? id;

function readyNote({ desired, ids }: Placing, { identities }: ExoState): string {
  const ghosts = identities.filter((id) => !ids.includes(id)).length;
  const made = `${desired.sharding} over ${desired.meta} on ${desired.nodes.length} node${desired.nodes.length === 1 ? '' : 's'}`;
  return ghosts === 0 ? made : `${made}; exo still lists ${ghosts} former node${ghosts === 1 ? '' : 's'}`;
}

/** Progress of an instance's runners; the slowest one counts. */
type Progress =
  | { readonly kind: 'connecting' | 'loading' | 'warming'; readonly text: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Evaluates only the runners that an instance lists, because runners of earlier instances remain in the state (issue
 * 1732). A runner that does not exist yet, or that is being restarted, counts as connecting.
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
  if (warming.length > 0) return { kind: 'warming', text: text(states.length - warming.length, 'are warmed up') };
  return { kind: 'ready' };
}

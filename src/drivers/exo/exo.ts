import { endAddresses } from '../../desired/addresses.ts';
import { askedPort } from '../../desired/endpoints.ts';
import type { DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { ExoFarewell, ExoPlacement, StartDialogue } from '../../model/endpoint-calls.ts';
import type { NodeName } from '../../model/node.ts';
import { type CabledFleet, linksBetween } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import type { RuntimeDriver, StartPhase, Talk, TalkRequest } from '../contract/driver.ts';
import { heldInParts } from '../contract/memory.ts';
import { otherSplits } from '../contract/split.ts';
import { type ExoInstance, type ExoState, parseState } from './answers.ts';
import { check, exoShape, judgeSplit, openApi } from './check.ts';
import { logPattern, signatures } from './classify.ts';
import { configure } from './configure.ts';
import { type ExoRuntime, keys } from './runtime.ts';

/** An API that takes longer to tell its state will not end anything in order either. */
const answerMs = 5_000;
/**
 * A command is carried out within a second, and a runner has 3 + 5 + 2 + 2 seconds to end before exo kills it.
 *
 * @see exo: worker/runner/supervisor.py
 */
const leaveMs = 25_000;
const pollMs = 500;

/** Looks, not time: one takes as long as the way to the node does, and the step has a deadline for all of them. */
const looksAtLeave = leaveMs / pollMs;
const unaskedLooks = 10;

/**
 * Makes exo end its runners itself before its processes are told to end: an instance that is deleted leaves its
 * collective in order, while a runner that is killed inside of one can keep its GPU busy until the Mac restarts (issue
 * 1137). An exo that does not answer is not waited for.
 */
export const leaveExo = (call: ExoFarewell): Talk => ({ ...firstLook(call, unaskedLooks), afterMs: 0 });

const firstLook = (call: ExoFarewell, looksLeft: number): Extract<Talk, { kind: 'ask' }> =>
  askState(call, 'asking what it has placed', ({ status, isUnasked, isRefused }, state) => {
    if (isUnasked) return looksLeft > 1 ? firstLook(call, looksLeft - 1) : cut('nobody could ask its API');
    if (isRefused) return { kind: 'done', note: 'its API does not run' };
    if (state === undefined) return cut(status === 0 ? 'its API does not answer' : `its API answers ${status}`);
    if (state.instances.length === 0) return { kind: 'done', note: 'nothing is placed' };
    return takeAway(call, state.instances, { instances: state.instances, looksLeft: looksAtLeave });
  });

/** Why the processes are stopped without that. */
const cut = (reason: string): Talk => ({ kind: 'failed', code: 'exo/no-farewell', reason });

interface Leaving {
  readonly instances: readonly ExoInstance[];
  readonly looksLeft: number;
}

type Look = Pick<Parameters<Extract<Talk, { kind: 'ask' }>['hear']>[0], 'status' | 'isUnasked' | 'isRefused'>;

const askState = (
  { node, port }: ExoFarewell,
  about: string,
  hear: (heard: Look, state: ExoState | undefined) => Talk,
): Extract<Talk, { kind: 'ask' }> => ({
  kind: 'ask',
  request: { node, port, method: 'GET', path: '/state', limitMs: answerMs },
  afterMs: pollMs,
  about,
  hear: (heard) => hear(heard, heard.status === 200 ? parseState(heard.body) : undefined),
});

/** Whatever is answered to it: whether it was done stands in the state. */
function takeAway(call: ExoFarewell, [first, ...rest]: readonly ExoInstance[], leaving: Leaving): Talk {
  if (first === undefined) return awaitEnd(call, leaving, 'it was asked to take it away');
  const { node, port } = call;
  const request: TalkRequest = { node, port, method: 'DELETE', path: `/instance/${first.id}`, limitMs: answerMs };
  return {
    kind: 'ask',
    request,
    afterMs: 0,
    about: 'taking the instance away',
    hear: () => takeAway(call, rest, leaving),
  };
}

function awaitEnd(call: ExoFarewell, leaving: Leaving, last: string): Talk {
  return askState(call, last, ({ status }, state) => {
    const now = state === undefined ? `its state cannot be read (status ${status})` : leftOf(leaving, state);
    if (now === '') return { kind: 'done', note: 'its runners have ended' };
    const looksLeft = leaving.looksLeft - 1;
    return looksLeft > 0 ? awaitEnd(call, { ...leaving, looksLeft }, now) : cut(now);
  });
}

/** What is still there, in words. Runners of others, as some stay in a state for ever (issue 1732), count for nothing. */
function leftOf({ instances }: Leaving, state: ExoState): string {
  const left = instances.filter(({ id }) => state.instances.some((one) => one.id === id));
  if (left.length > 0) return `it has not taken ${left.map(({ id }) => id).join(', ')} away`;
  const runners = instances
    .flatMap(({ runnerByNode }) => Object.values(runnerByNode))
    .filter((id) => Object.hasOwn(state.runners, id));
  return runners.length === 0
    ? ''
    : `${runners.length} of its runners ${runners.length === 1 ? 'has' : 'have'} not ended`;
}

/** What exo is asked to make of its ranks; on one node alone it knows a pipeline over a ring only. */
export function dialogue(placement: DesiredPlacement, model: DesiredModel, fleet: CabledFleet): StartDialogue {
  const { nodes, sharding, transport } = placement;
  const isOne = nodes.length === 1;
  const bytes = model.files
    .filter(({ path }) => path.endsWith('.safetensors'))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    name: 'exo-place',
    args: {
      nodes,
      port: askedPort(placement),
      modelId: model.repository ?? model.name,
      sharding: sharding === 'tensor' && !isOne ? 'Tensor' : 'Pipeline',
      meta: transport === 'rdma' && !isOne ? 'MlxJaccl' : 'MlxRing',
      bytesPerNode: Math.ceil(bytes / nodes.length),
      ...(transport === 'tcp' && !isOne ? { cables: cablesOf(fleet, nodes) } : {}),
    },
  };
}

/** A pair is left out while one of its cables has no network: not all of its addresses are known then. */
function cablesOf(fleet: CabledFleet, nodes: readonly NodeName[]): NonNullable<ExoPlacement['cables']> {
  return nodes.flatMap((from) =>
    nodes.flatMap((to) => {
      const links = from === to ? [] : linksBetween(fleet, from, to);
      const addresses = links.flatMap(({ index, ends }) => {
        const network = fleet.networks[index];
        const all = network === undefined ? [] : endAddresses(ends, network);
        return all.filter(({ end }) => end.node === to).map(({ address }) => address);
      });
      return links.length === 0 || addresses.length < links.length ? [] : [{ from, to, addresses }];
    }),
  );
}

/**
 * Lines in which exo prints a request, as an extended regular expression for awk and for JavaScript. What it is started
 * through lets none of them into a log; logs of an older meshwright have them.
 *
 * @see exo: master/main.py, worker/runner/runner.py, worker/runner/supervisor.py, llm_inference/model_output_parsers.py
 */
export const requestPattern =
  'Executing command: |received chat request: |Starting task |Skipping invalid task |Task .* dropped, runner closed|tool_call_text_parts=|tool call parsing failed|yielding tool call: ';

/** The forced master first: one that came later would take over from another and everything would begin again. */
const phases: readonly StartPhase[] = [
  { ranks: 'leader', until: 'joined' },
  { ranks: 'followers', until: 'joined' },
];

/** exo: one on every node, a mesh of its own for each placement, which is talked over with it after every start. */
export const exo: RuntimeDriver<ExoRuntime> = {
  id: 'exo',
  keys,
  configure,
  memory: { held: (wish, rooms) => heldInParts(wish, rooms, 'memory') },
  programs: ({ program }) => [program],
  needs: () => [],
  // `usage` comes with the last token and adds one for each that mlx gave; an answer that was cut short has none.
  // @see exo at b5375f8, worker/engines/mlx/generator/batch_generate.py:365 and generate.py:720; v1.0.71 alike
  tokenRequest: (_placement, _runtime, model) => countedChatRequest(model.repository ?? model.name),
  // More than EXO_MAX_CONCURRENT_REQUESTS wait in a queue of its own. @see exo at b5375f8, batch_generator.py:409
  phases: () => phases,
  check,
  tensorShape: exoShape,
  judgeSplit,
  splitAdvice: (split) => otherSplits(split, judgeSplit) ?? 'Use one node, or another runtime.',
  exposed: openApi,
  dialogue: (placement, _runtime, model, fleet) => dialogue(placement, model, fleet),
  farewell: 'exo-farewell',
  // Nobody has confirmed that two starts of a split model agree to the last bit.
  goldenCheck: () => 'printable',
  // It forgets its placements whenever a member goes.
  canRestartOne: () => false,
  // A runner that is left in a collective keeps its GPU busy until a restart (issue 1137).
  stopOrder: 'together',
  // It ends its runners first, up to twelve seconds; a second signal, or KILL, leaves a GPU busy (issues 1137 and 1372).
  graceMs: 15_000,
  logPattern,
  requestPattern,
  signatures,
  // Which transport there is stands in the instance that was talked over, not in the log.
  observe: () => ({}),
};

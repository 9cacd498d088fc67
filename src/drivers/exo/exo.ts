import { endAddresses } from '../../desired/addresses.ts';
import { askedPort, innerPort } from '../../desired/endpoints.ts';
import { tensorProblems } from '../../desired/tensor-limits.ts';
import { isBelow } from '../../desired/version-range.ts';
import type { DesiredModel, DesiredPlacement } from '../../model/desired.ts';
import type { ExoGracefulShutdown, ExoPlacement, StartDialogue } from '../../model/endpoint-calls.ts';
import { seenValue } from '../../model/known.ts';
import { everyPair } from '../../model/lists.ts';
import { totalBytes } from '../../model/model-bytes.ts';
import type { ModelShape } from '../../model/model-shape.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { type CabledFleet, endTowards, linksBetween } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import { type ReservedWords, refuse, refused, reserve, reservedFindings } from '../contract/checks.ts';
import {
  type Asking,
  type Heard,
  leaderFirst,
  type PlacementCheck,
  type PlacementFinding,
  type RuntimeDriver,
  type Talk,
} from '../contract/driver.ts';
import { heldInParts } from '../contract/memory.ts';
import { jacclGid } from '../contract/mlx-group.ts';
import { judgeTensors, otherSplits, type RankSplit, type SplitJudgement } from '../contract/split.ts';
import { exoCard } from '../known/exo-cards.ts';
import { hasExoClass, newestExo } from '../known/model-types.ts';
import { logPattern, signatures } from '../messages/exo.ts';
import { type ExoInstance, type ExoState, parseState } from './answers.ts';
import { configure, fastSynch } from './configure.ts';
import { type ExoRuntime, keys } from './runtime.ts';

type Check = PlacementCheck<ExoRuntime>;

/** All objections to an exo placement. exo itself would report them much later, or never. */
const check = (one: Check): readonly PlacementFinding[] => [
  ...named(one),
  ...indexed(one),
  ...split(one),
  ...divided(one),
  ...cabled(one),
  ...synched(one),
  ...left(one),
  ...openApi(one.placement),
  ...reservedFindings(one.placement, reserved),
];

function named({ model }: Check): readonly PlacementFinding[] {
  if (model.repository !== undefined) return [];
  return [refused('exo/no-repository', `models.${model.name} does not name its repository.`)];
}

/** exo treats a model as complete if its index and all files in the index exist. @see exo: download_utils.py */
function indexed({ model: { name, files } }: Check): readonly PlacementFinding[] {
  if (files.length === 0) return [];
  const wanted = ['config.json', 'model.safetensors.index.json'];
  const missing = wanted.filter((path) => !files.some((file) => file.path === path));
  return missing.map((path) => refused('exo/no-index', `The files of ${name} do not include ${path}.`));
}

/** Splits that exo would reject only after all other placements were stopped and its ranks were started. */
function split({ placement, runtime: { version }, model: { repository, shape } }: Check): readonly PlacementFinding[] {
  const { sharding, nodes } = placement;
  if (repository === undefined || sharding === undefined || nodes.length === 1) return [];
  const { problems, doubts } = refusedSplit({ repository, version }, sharding, shape?.classes);
  return [
    ...problems.map((detail) => refused('exo/cannot-split', detail)),
    // Without a shape, the reason why it is unknown is reported elsewhere.
    ...(shape === undefined ? [] : doubts).map(
      (detail): PlacementFinding => ({ code: 'exo/not-known-to-split', severity: 'warning', detail }),
    ),
  ];
}

/** Checks divisors that only exo needs. Models that no runtime can split are reported elsewhere. */
function divided({ placement, runtime, model }: Check): readonly PlacementFinding[] {
  const { sharding, nodes } = placement;
  const shape = exoShape(runtime, model);
  if (sharding !== 'tensor' || shape === undefined) return [];
  return undividedByExo(shape, nodes.length).map((what) =>
    refused('placement/not-divisible', `exo cannot split ${model.name}: ${what}.`),
  );
}

/**
 * Checks the cables. Over RDMA, exo uses only full JACCL meshes, in which every pair of ranks needs a cable, because
 * its ring uses TCP. So a pipeline needs every cable too.
 *
 * @see exo: placement.py
 */
function cabled({ placement: { nodes, transport }, fleet: { thunderbolt } }: Check): readonly PlacementFinding[] {
  if (transport !== 'rdma') return [];
  const without = everyPair(nodes).filter(([node, other]) => endTowards(thunderbolt, node, other) === undefined);
  if (without.length === 0) return [];
  const pairs = without.map((pair) => pair.join(' and '));
  return [refused('exo/needs-every-pair', `No link connects ${pairs.join(', nor ')}.`)];
}

/** exo turns fast synch on unless `EXO_FAST_SYNCH` is false, which the driver sets. */
function synched({ placement: { env, args } }: Check): readonly PlacementFinding[] {
  const named = [
    ...Object.keys(env).filter((name) => name === fastSynch && env[name] !== 'false'),
    // argparse accepts any unique beginning of the option.
    ...args.filter((arg) => arg.length >= '--fa'.length && '--fast-synch'.startsWith(arg)),
  ];
  return named.map((word) => ({
    code: 'exo/fast-synch',
    severity: 'warning',
    detail: `\`${word === fastSynch ? 'env' : 'args'}\` contains ${word}.`,
  }));
}

const exoDaemon = 'io.exo.networksetup';

/** exo's network daemon removes the cable addresses every 30 minutes. @see exo issues 1158, 2007 and 2067 */
function left({ nodes, fleet }: Check): readonly PlacementFinding[] {
  const desired = fleet.thunderbolt.foreignDaemons;
  if (desired === 'stop' || desired === 'remove') return [];
  return nodes.flatMap(({ node, mac }) => {
    const seen = seenValue(mac?.foreignDaemons);
    if (seen?.some(({ label, isLoaded }) => label === exoDaemon && isLoaded) !== true) return [];
    return [refused('exo/network-daemon', `${exoDaemon} runs on ${node}.`)];
  });
}

const ownPorts = 'Each start uses its own ports; set the API port with `endpoint.port`.';
const ownMesh = 'Each placement is a separate exo mesh with its own name.';
const ownRunners = 'exo groups its runners at every start, based on the cables that it sees.';
const ownFiles = 'exo reads the model files that apply installed, and downloads none.';

/** Words that the driver sets for exo, or forbids. */
export const reserved: ReservedWords = {
  reading: 'abbreviated',
  env: [
    ...reserve('The driver gives exo a separate home folder per placement.', 'HOME', 'EXO_HOME'),
    ...reserve('exo needs it to find macOS tools.', 'PATH'),
    ...reserve(ownFiles, 'EXO_OFFLINE', 'EXO_MODELS_READ_ONLY_DIRS', 'EXO_MODELS_DIRS', 'EXO_DEFAULT_MODELS_DIR'),
    ...reserve(ownMesh, 'EXO_LIBP2P_NAMESPACE', 'EXO_ZENOH_NAMESPACE', 'EXO_BOOTSTRAP_PEERS'),
    ...reserve('Use `parallel`.', 'EXO_MAX_CONCURRENT_REQUESTS'),
    // exo sets these for its runners, regardless of its own environment. @see exo: worker/runner/bootstrap.py,
    // utils_mlx.py
    ...reserve('exo sets it for its runners; use EXO_FAST_SYNCH ("true" or "false").', 'MLX_METAL_FAST_SYNCH'),
    ...reserve(ownRunners, 'MLX_RANK', 'MLX_HOSTFILE', 'MLX_IBV_DEVICES', 'MLX_JACCL_COORDINATOR'),
  ],
  args: [
    ...reserve('The first of `nodes` is the master.', '--force-master', '-m'),
    ...reserve(ownPorts, '--api-port', '--zenoh-port', '--discovery-port', '--libp2p-port'),
    ...reserve(ownMesh, '--namespace', '--bootstrap-peers'),
    ...reserve(ownFiles, '--offline', '--no-downloads'),
    ...reserve('Every rank needs an API and a worker, because its peers look for them.', '--no-api', '--no-worker'),
    ...reserve('launchd starts exo.', '--legacy-daemon'),
    // -q also counts as a changed verbosity, with which the log starts at DEBUG. @see exo: shared/logging.py,
    // utils_mlx.py
    ...refuse(
      'writes every prompt into the log',
      'The driver hides prompts in the log only at the default verbosity.',
      ...['-v', '--verbose', '-q', '--quiet'],
    ),
  ],
};

/**
 * Warns that exo's own API is open on every interface of the placement's nodes, although the gateway checks keys.
 *
 * @see exo at b5375f8, src/exo/api/main.py:1942 (bind 0.0.0.0) and 337 (every origin)
 */
function openApi({ name, publication, nodes }: DesiredPlacement): readonly PlacementFinding[] {
  if (publication === undefined) return [];
  const detail = `exo's API listens on port ${innerPort(name)} on every interface of ${everyNodeText(nodes)}, without a key. Anyone who reaches it can send requests, delete the placement, and read prompts (/events).`;
  return [{ code: 'exo/open-api', severity: 'warning', detail }];
}

/** The shape that exo divides. Key-value heads that need not be divisible count like the other heads. */
const dividedShape = (shape: ModelShape, repository: string, version: string): ModelShape =>
  exoCard(repository, version)?.wholeKvHeads === true ? { ...shape, kvHeads: shape.heads } : shape;

const exoShape = ({ version }: ExoRuntime, { repository = '', shape }: DesiredModel): ModelShape | undefined =>
  shape === undefined ? undefined : dividedShape(shape, repository, version);

/**
 * Dimensions that only exo must divide: the width, and the key-value heads even with latent attention. Each text
 * continues "exo cannot split it: ". Empty if no runtime can split the model, which is reported elsewhere.
 *
 * @see exo: placement_utils.py
 */
function undividedByExo(shape: ModelShape, ranks: number): readonly string[] {
  if (tensorProblems(shape, ranks).length > 0) return [];
  const widths = [
    ['width', shape.hidden],
    ['number of key-value heads', shape.kvHeads],
  ] as const;
  return widths
    .filter(([, count]) => count % ranks !== 0)
    .map(([what, count]) => `its ${what} (${count}) is not divisible by ${ranks}`);
}

/** The same objections as in {@link check}; without a repository, only those to the dimensions. */
function judgeSplit(split: RankSplit): SplitJudgement {
  const { shape: whole, sharding, size, exo: version, repository } = split;
  const shape = dividedShape(whole, repository ?? '', version);
  const divided = judgeTensors(
    { ...split, shape },
    undividedByExo(shape, size).map((what) => `exo cannot split it: ${what}.`),
  );
  if (repository === undefined || size === 1) return divided;
  const { problems, doubts } = refusedSplit({ repository, version }, sharding, shape.classes);
  return { problems: [...problems, ...divided.problems], doubts: [...doubts, ...divided.doubts] };
}

/**
 * The reasons why exo would reject a split that the model's dimensions allow, and the doubts about it.
 * @param classes `architectures` of its `config.json`; undefined if unread
 */
function refusedSplit(
  { repository, version }: { readonly repository: string; readonly version: string },
  sharding: 'tensor' | 'pipeline',
  classes: readonly string[] | undefined,
): SplitJudgement {
  const refuse = (...problems: readonly string[]): SplitJudgement => ({ problems, doubts: [] });
  const doubt = (reason: string): SplitJudgement => ({ problems: [], doubts: [reason] });
  const card = exoCard(repository, version);
  if (sharding === 'pipeline') {
    return refuse(...(card?.noPipeline === true ? [`exo refuses a pipeline for ${repository}.`] : []));
  }
  if (card !== undefined) {
    return refuse(...(card.noTensor === true ? [`exo refuses tensor sharding for ${repository}.`] : []));
  }
  const none = `exo has no card for ${repository}`;
  if (classes === undefined) return doubt(`${none}, and the \`architectures\` of the model are unknown.`);
  const [only = 'no class', ...others] = classes;
  if (others.length === 0 && hasExoClass(only, version)) return refuse();
  const named = [only, ...others].join(' and ');
  return isBelow(newestExo.main, version)
    ? doubt(
        `exo up to ${newestExo.main} refuses tensor sharding for the architecture ${named}; newer versions may not.`,
      )
    : refuse(`${none}, and refuses tensor sharding for the architecture ${named}.`);
}

/** An API that needs longer to return its state cannot shut anything down cleanly either. */
const answerMs = 5_000;
/**
 * A command takes up to one second. Then a runner has 3 + 5 + 2 + 2 seconds until exo kills it.
 *
 * @see exo: worker/runner/supervisor.py
 */
const leaveMs = 25_000;
const pollMs = 500;

/** Counted in polls, because a poll takes as long as the connection. The step limits their total time. */
const leavePolls = leaveMs / pollMs;
const unaskedPolls = 10;

/**
 * Makes exo stop its runners before its processes are stopped. When an instance is deleted, its runners leave their
 * collective cleanly. A runner killed inside a collective can keep its GPU busy until the Mac restarts (issue 1137). If
 * exo does not answer, this does not wait.
 */
export const leaveExo = (call: ExoGracefulShutdown): Talk => ({ ...firstPoll(call, unaskedPolls), afterMs: 0 });

const firstPoll = (call: ExoGracefulShutdown, pollsLeft: number): Asking =>
  askState(call, 'reading its placements', ({ status, isUnasked, isRefused }, state) => {
    if (isUnasked) return pollsLeft > 1 ? firstPoll(call, pollsLeft - 1) : cut('no request reached its API');
    if (isRefused) return { kind: 'done', note: 'its API is not running' };
    if (state === undefined) return cut(status === 0 ? 'its API does not answer' : `its API returned status ${status}`);
    if (state.instances.length === 0) return { kind: 'done', note: 'exo had no placement' };
    return takeAway(call, state.instances, { instances: state.instances, pollsLeft: leavePolls });
  });

/** Ends the dialogue with the reason why the processes are stopped without a graceful shutdown. */
const cut = (reason: string): Talk => ({ kind: 'failed', code: 'exo/no-graceful-shutdown', reason });

interface Leaving {
  readonly instances: readonly ExoInstance[];
  readonly pollsLeft: number;
}

const askState = (
  { node, port }: ExoGracefulShutdown,
  about: string,
  hear: (heard: Heard, state: ExoState | undefined) => Talk,
): Asking => ({
  kind: 'ask',
  request: { node, port, method: 'GET', path: '/state', limitMs: answerMs },
  afterMs: pollMs,
  about,
  hear: (heard) => hear(heard, heard.status === 200 ? parseState(heard.body) : undefined),
});

/** Ignores the responses: the state shows whether the instance was deleted. */
function takeAway(call: ExoGracefulShutdown, [first, ...rest]: readonly ExoInstance[], leaving: Leaving): Talk {
  if (first === undefined) return awaitEnd(call, leaving, 'waiting for exo to delete the instance');
  const { node, port } = call;
  return {
    kind: 'ask',
    request: { node, port, method: 'DELETE', path: `/instance/${first.id}`, limitMs: answerMs },
    afterMs: 0,
    about: 'deleting the instance',
    hear: () => takeAway(call, rest, leaving),
  };
}

function awaitEnd(call: ExoGracefulShutdown, leaving: Leaving, last: string): Talk {
  return askState(call, last, ({ status }, state) => {
    const now = state === undefined ? `its state cannot be read (status ${status})` : leftOf(leaving, state);
    if (now === '') return { kind: 'done', note: 'its runners stopped' };
    const pollsLeft = leaving.pollsLeft - 1;
    return pollsLeft > 0 ? awaitEnd(call, { ...leaving, pollsLeft }, now) : cut(now);
  });
}

/** The remaining instances and their runners, in words. Runners of others can remain in the state (issue 1732). */
function leftOf({ instances }: Leaving, state: ExoState): string {
  const left = instances.filter(({ id }) => state.instances.some((one) => one.id === id));
  if (left.length > 0) return `exo has not deleted ${left.map(({ id }) => id).join(', ')}`;
  const runners = instances
    .flatMap(({ runnerByNode }) => Object.values(runnerByNode))
    .filter((id) => Object.hasOwn(state.runners, id));
  return runners.length === 0
    ? ''
    : `${runners.length} of its runners ${runners.length === 1 ? 'is' : 'are'} still running`;
}

/** The placement to request from exo. On a single node, exo supports only a pipeline over a ring. */
export function dialogue(placement: DesiredPlacement, model: DesiredModel, fleet: CabledFleet): StartDialogue {
  const { nodes, sharding, transport } = placement;
  const isOne = nodes.length === 1;
  const bytes = totalBytes(model.files.filter(({ path }) => path.endsWith('.safetensors')));
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

/** The addresses on the cables, without those of cables that have no network yet. */
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
 * Log lines with requests, as an extended regular expression for awk and JavaScript. The driver's start program keeps
 * such lines out of the log, but logs of older meshwright versions contain them.
 *
 * @see exo: master/main.py, worker/runner/runner.py, worker/runner/supervisor.py, llm_inference/model_output_parsers.py
 */
export const requestPattern =
  'Executing command: |received chat request: |Starting task |Skipping invalid task |Task .* dropped, runner closed|tool_call_text_parts=|tool call parsing failed|yielding tool call: ';

/** exo, one per node. Each placement is a separate mesh, and a dialogue after every start places the model. */
export const exo: RuntimeDriver<ExoRuntime> = {
  id: 'exo',
  keys,
  configure,
  memory: { held: (settings, rooms) => heldInParts(settings, rooms, 'memory') },
  programs: ({ program }) => [program],
  // `usage` comes with the last token and counts every token from mlx; a canceled answer has none.
  // @see exo at b5375f8, worker/engines/mlx/generator/batch_generate.py:365 and generate.py:720; v1.0.71 alike
  tokenRequest: (_placement, _runtime, model) => countedChatRequest(model.repository ?? model.name),
  // exo queues requests beyond EXO_MAX_CONCURRENT_REQUESTS. @see exo at b5375f8, batch_generator.py:409
  // The forced master starts first: a later one would replace another master, and the session would start over.
  waves: () => leaderFirst,
  check,
  // Its runners are mlx groups.
  sendsFromGid: jacclGid,
  tensorShape: exoShape,
  versionOf: ({ version }) => version,
  pairVersions: ({ version }) => ({ exo: version }),
  judgeSplit,
  splitAdvice: (split) => otherSplits(split, judgeSplit) ?? 'Use one node, or another runtime.',
  exposed: openApi,
  // @see exo at b5375f8, api/main.py for the paths, and fetch_image_url and generate_chat_stream in
  // api/adapters/chat_completions.py
  api: () => ({
    paths: ['/v1/chat/completions', '/v1/messages', '/v1/responses'],
    fetchesImages: true,
    endsStreams: true,
    // It has forgotten its placement.
    deadError: 'No instance found for model',
  }),
  dialogue: (placement, _runtime, model, fleet) => dialogue(placement, model, fleet),
  // The master deletes the instance of a node that was silent for 30 s. @see exo: master/main.py, api/main.py
  droppedStatus: 404,
  gracefulShutdown: 'exo-graceful-shutdown',
  // It is not confirmed that two starts of a split model are bit-identical.
  goldenCheck: () => 'printable',
  // exo forgets its placements whenever a rank leaves.
  canRestartOne: () => false,
  // A runner left in a collective keeps its GPU busy until a restart (issue 1137).
  stopOrder: 'together',
  // exo stops its runners first, in up to 12 seconds. A second signal, or KILL, leaves a GPU busy (issues 1137 and
  // 1372).
  graceMs: 15_000,
  logPattern,
  requestPattern,
  signatures,
  // The transport is in the instance from the dialogue, not in the log.
  observe: () => ({}),
};

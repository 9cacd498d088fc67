import type { DesiredModel } from '../../model/desired.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { below } from '../../node/paths/node-paths.ts';
import { endTowards } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import {
  ownFiles,
  ownMemory,
  ownModel,
  ownPlace,
  type ReservedWords,
  refuse,
  refused,
  reserve,
  reservedFindings,
} from '../contract/checks.ts';
import {
  followersFirst,
  type HeldBytes,
  type LoggedMesh,
  type PlacementCheck,
  type PlacementFinding,
  type RuntimeDriver,
} from '../contract/driver.ts';
import { logPattern, signatures } from '../messages/llamacpp.ts';
import { configure, modelFile } from './configure.ts';
import { memory } from './memory.ts';
import { isReleaseLayout, keys, type LlamaRuntime } from './runtime.ts';

type Check = PlacementCheck<LlamaRuntime>;

/** All objections to a llama.cpp placement before its start, except memory. */
const check = (one: Check): readonly PlacementFinding[] => [
  ...split(one),
  ...file(one),
  ...cabled(one),
  ...reservedFindings(one.placement, reserved),
  ...(one.placement.drafter === undefined ? [] : reservedFindings(one.placement, ofDrafters)),
];

function split({ placement }: Check): readonly PlacementFinding[] {
  if (placement.sharding !== 'tensor') return [];
  return [refused('llama/not-by-tensor', `${placement.name} sets sharding: tensor.`)];
}

const file = ({ placement, model, fleet }: Check): readonly PlacementFinding[] =>
  [model, ...fleet.models.filter(({ name }) => name === placement.drafter)].flatMap(ggufFindings);

/** Checks one model's files; no findings while the files are unknown. */
function ggufFindings({ name, files }: DesiredModel): readonly PlacementFinding[] {
  if (files.length === 0) return [];
  const found = modelFile(files);
  switch (found.kind) {
    case 'file':
      return [];
    case 'none':
      return [refused('llama/no-gguf', `None of the ${files.length} files of ${name} is a .gguf.`)];
    case 'several':
      return [refused('llama/several-ggufs', `The .gguf files of ${name}: ${found.paths.slice(0, 4).join(', ')}.`)];
  }
}

/** Checks the cables. The server needs a cable to each worker, because Macs do not forward traffic. */
function cabled({ placement, fleet: { thunderbolt } }: Check): readonly PlacementFinding[] {
  const [leader, ...followers] = placement.nodes;
  if (leader === undefined) return [];
  const without = followers.filter((node) => endTowards(thunderbolt, node, leader) === undefined);
  if (without.length === 0) return [];
  return [refused('llama/no-cable', `No link connects the leader ${leader} to ${without.join(' and ')}.`)];
}

const ownSplit = 'Use `shares`.';
const ownWorkers = 'The other `nodes` are the workers, each on its cable to the leader.';
const ownKey = "The gateway checks keys; the server must accept apply's requests without a key.";
const ownLayers = 'All layers run on GPUs.';
const ownFit = 'llama.cpp must not change settings to make a model fit; use `shares` and `context`.';
const ownLog = "The driver's settings log memory use, but no prompts.";
const ownLogFile = prose`\`${aside(meshwright('logs'))}\` reads the log in its usual place.`;

const ownDrafter = 'To draft with a second model, use `drafter`.';

const prompts = 'writes every prompt into a file';
const otherLog = 'changes the log format, so meshwright cannot read the log';
const otherCache = 'moves the cache, so the memory plan is wrong';
const secondModel = 'loads a second model, which the memory plan does not count';

/** Words that the driver sets for llama.cpp or forbids, in all spellings that llama.cpp accepts. */
export const reserved: ReservedWords = {
  reading: 'whole',
  env: [
    ...reserve('Use `transport`.', 'GGML_RPC_NO_RDMA'),
    ...reserve('Use the runtime key `cache`.', 'LLAMA_CACHE'),
    ...reserve(ownWorkers, 'LLAMA_ARG_RPC'),
    ...reserve(ownModel, 'LLAMA_ARG_MODEL', 'LLAMA_ARG_MODEL_URL', 'LLAMA_ARG_HF_REPO', 'LLAMA_ARG_HF_FILE'),
    ...reserve(ownModel, 'LLAMA_ARG_DOCKER_REPO'),
    ...reserve('The alias is always the name in `model`.', 'LLAMA_ARG_ALIAS'),
    ...reserve(ownPlace, 'LLAMA_ARG_HOST', 'LLAMA_ARG_PORT', 'LLAMA_ARG_REUSE_PORT'),
    ...reserve(ownSplit, 'LLAMA_ARG_TENSOR_SPLIT', 'LLAMA_ARG_SPLIT_MODE', 'LLAMA_ARG_MAIN_GPU', 'LLAMA_ARG_DEVICE'),
    ...reserve(ownSplit, 'LLAMA_ARG_OVERRIDE_TENSOR', 'LLAMA_ARG_CPU_MOE', 'LLAMA_ARG_N_CPU_MOE'),
    ...reserve(ownLayers, 'LLAMA_ARG_N_GPU_LAYERS'),
    ...reserve(ownFit, 'LLAMA_ARG_FIT', 'LLAMA_ARG_FIT_CTX', 'LLAMA_ARG_FIT_TARGET'),
    ...reserve('Use `context`.', 'LLAMA_ARG_CTX_SIZE'),
    ...reserve('Use `parallel`.', 'LLAMA_ARG_N_PARALLEL'),
    ...reserve(ownMemory, 'LLAMA_ARG_CACHE_RAM'),
    ...reserve(ownLog, 'LLAMA_ARG_LOG_VERBOSITY', 'LLAMA_LOG_VERBOSITY'),
    ...reserve(ownLogFile, 'LLAMA_ARG_LOG_FILE', 'LLAMA_LOG_FILE'),
    ...refuse(otherLog, ownLog, 'LLAMA_ARG_LOG_JSONL'),
    ...refuse(otherCache, ownMemory, 'LLAMA_ARG_SWA_FULL', 'LLAMA_ARG_KV_OFFLOAD', 'LLAMA_ARG_NO_KV_OFFLOAD'),
    ...refuse(secondModel, ownFiles, 'LLAMA_ARG_MMPROJ', 'LLAMA_ARG_MMPROJ_URL'),
    ...refuse(secondModel, ownDrafter, 'LLAMA_ARG_SPEC_DRAFT_MODEL', 'LLAMA_ARG_SPEC_DRAFT_HF_REPO'),
    ...refuse(secondModel, ownDrafter, 'LLAMA_ARG_MODEL_DRAFT', 'LLAMA_ARG_HFD_REPO'),
    ...reserve(ownKey, 'LLAMA_API_KEY', 'LLAMA_ARG_API_KEY_FILE'),
  ],
  args: [
    ...reserve(ownModel, '-m', '--model', '-mu', '--model-url', '-hf', '-hfr', '--hf-repo', '-hff', '--hf-file'),
    ...reserve(ownModel, '-dr', '--docker-repo'),
    ...reserve('The alias is always the name in `model`.', '-a', '--alias'),
    ...reserve(ownPlace, '--host', '--port', '--reuse-port'),
    ...reserve(ownWorkers, '--rpc'),
    ...reserve(ownSplit, '-ts', '--tensor-split', '-sm', '--split-mode', '-mg', '--main-gpu', '-dev', '--device'),
    ...reserve(ownSplit, '-ot', '--override-tensor', '-cmoe', '--cpu-moe', '-ncmoe', '--n-cpu-moe'),
    ...reserve(ownLayers, '-ngl', '--gpu-layers', '--n-gpu-layers'),
    ...reserve(ownFit, '-fit', '--fit', '-fitc', '--fit-ctx', '-fitt', '--fit-target'),
    ...reserve('Use `context`.', '-c', '--ctx-size'),
    ...reserve('Use `parallel`.', '-np', '--parallel'),
    ...reserve(ownMemory, '-cram', '--cache-ram'),
    ...reserve(ownLog, '-lv', '--verbosity', '--log-verbosity'),
    ...reserve(ownLog, '-v', '--verbose', '--log-verbose', '--log-disable'),
    ...reserve(ownLogFile, '--log-file'),
    ...refuse(prompts, ownLog, '--log-prompts-dir'),
    ...refuse(otherLog, ownLog, '--log-jsonl'),
    ...refuse(otherCache, ownMemory, '--swa-full', '-nkvo', '--no-kv-offload'),
    ...refuse(secondModel, ownFiles, '-mm', '--mmproj', '-mmu', '--mmproj-url'),
    ...refuse(secondModel, ownDrafter, '-md', '--model-draft', '--spec-draft-model'),
    ...refuse(secondModel, ownDrafter, '-hfd', '-hfrd', '--hf-repo-draft', '--spec-draft-hf'),
    ...reserve(ownKey, '--api-key', '--api-key-file'),
  ],
};

const ownType = 'With `drafter`, the driver always drafts with that model.';

/** More reserved words of a placement with a drafter. */
const ofDrafters: ReservedWords = {
  reading: 'whole',
  env: [
    ...reserve(ownType, 'LLAMA_ARG_SPEC_TYPE'),
    ...reserve(ownLayers, 'LLAMA_ARG_N_GPU_LAYERS_DRAFT'),
    ...reserve(ownLayers, 'LLAMA_ARG_SPEC_DRAFT_CPU_MOE', 'LLAMA_ARG_SPEC_DRAFT_N_CPU_MOE'),
    ...reserve('The drafter has the same `context` as the model.', 'LLAMA_ARG_CTX_SIZE_DRAFT'),
  ],
  args: [
    ...reserve(ownType, '--spec-type', '--spec-default'),
    ...reserve(ownLayers, '-ngld', '--gpu-layers-draft', '--n-gpu-layers-draft', '--spec-draft-ngl'),
    ...reserve(ownLayers, '-devd', '--device-draft', '--spec-draft-device', '-otd', '--override-tensor-draft'),
    ...reserve(ownLayers, '--spec-draft-override-tensor', '-cmoed', '--cpu-moe-draft', '--spec-draft-cpu-moe'),
    ...reserve(ownLayers, '-ncmoed', '--n-cpu-moe-draft', '--spec-draft-n-cpu-moe', '--spec-draft-ncmoe'),
    ...reserve('The drafter has the same `context` as the model.', '-cd', '--ctx-size-draft'),
  ],
};

const connection = /^Accepted client connection/;
const activated = /RDMA(?:\(Apple\/UC\))? activated: /;
const fallBack = /staying on TCP/;
const device = /: using device (RPC\d+)/;
/** A server logs this if it refuses its drafter, and then serves without it. @see common/speculative.cpp */
const otherVocabulary = /the target and draft vocabs are not compatible/;

/**
 * The transport of a worker's last connection; on the leader, the number of workers and the memory use of each device.
 * A worker with a connection and no line about RDMA uses TCP: llama.cpp falls back silently if no RDMA device has the
 * connection's address.
 */
export function observe(said: readonly string[]): LoggedMesh {
  const last = said.findLastIndex((line) => connection.test(line));
  const devices = new Set(said.flatMap((line) => device.exec(line)?.[1] ?? []));
  const after = said.slice(last + 1);
  const held = heldBytes(said);
  return {
    ...(devices.size === 0 ? {} : { size: devices.size + 1 }),
    ...transportOf(after, last >= 0),
    ...(said.some((line) => otherVocabulary.test(line)) ? { isWithoutDrafter: true } : {}),
    ...(held.length === 0 ? {} : { held }),
  };
}

function transportOf(lines: readonly string[], isWorker: boolean): Pick<LoggedMesh, 'transport'> {
  if (lines.some((line) => fallBack.test(line))) return { transport: 'tcp' };
  if (!isWorker) return {};
  return { transport: lines.some((line) => activated.test(line)) ? 'rdma' : 'tcp' };
}

/**
 * One buffer: `load_tensors: RPC0[10.77.0.2:50152] model buffer size =    36.27 MiB`. Buffers in mapped files have the
 * suffix `_Mapped`.
 *
 * @see `load_tensors`, `llama_kv_cache`, `llama_memory_recurrent` and `sched_reserve` of llama.cpp
 */
const buffer = /: +(\S+?)(?:_Mapped)? (model|KV|RS|compute) buffer size = +(\d{1,9}\.\d{2}) MiB$/;
const worker = /^RPC\d+\[(.+):\d+\]$/;

const kinds = { model: 'weights', KV: 'cache', RS: 'cache', compute: 'compute' } as const;
type Kind = keyof typeof kinds;
const isKind = (word: string): word is Kind => Object.hasOwn(kinds, word);

/** Memory use per worker, and the total of the leader's own devices, in log order. */
function heldBytes(said: readonly string[]): readonly HeldBytes[] {
  const held = new Map<string, { weights: number; cache: number; compute: number }>();
  for (const line of said) {
    const [, name = '', kind = '', megabytes = ''] = buffer.exec(line) ?? [];
    if (!isKind(kind)) continue;
    const address = worker.exec(name)?.[1] ?? '';
    const sum = held.get(address) ?? { weights: 0, cache: 0, compute: 0 };
    sum[kinds[kind]] += Math.round(Number(megabytes) * 2 ** 20);
    held.set(address, sum);
  }
  return [...held].map(([address, sum]) => ({ ...(address === '' ? {} : { address }), ...sum }));
}

/** llama.cpp over its RPC backend: llama-server on the leader, an RPC worker on every other node. */
export const llamacppRpc: RuntimeDriver<LlamaRuntime> = {
  id: 'llamacpp-rpc',
  keys,
  configure,
  memory,
  check,
  // A stable release such as v0.5.0 does not say which build it is.
  pairVersions: ({ version = '' }) => (version.startsWith('b') ? { 'llama.cpp': version } : {}),
  splitsLayers: true,
  judgeSplit: ({ sharding, size }) => ({
    problems: size > 1 && sharding === 'tensor' ? ['llama.cpp splits models only by whole layers.'] : [],
    doubts: [],
  }),
  splitAdvice: () => 'Use sharding: pipeline.',
  canUseTcp: true,
  programs: ({ server, worker: workerProgram }, users) => {
    const hasFollowers = users.some(({ nodes, fallback }) => Math.max(nodes.length, fallback?.nodes.length ?? 0) > 1);
    return [server, ...(hasFollowers ? [workerProgram] : [])];
  },
  binHas: (programs) => (isReleaseLayout(programs) ? 'llama-server' : undefined),
  programKey: ({ server }, program) => (program === server ? 'server' : 'worker'),
  // `usage` is `n_decoded`, which grows by one after each sampled token.
  // @see llama.cpp at 00efb3e, tools/server/server-task.cpp: to_json_oaicompat_chat
  tokenRequest: ({ model }) => countedChatRequest(model),
  // Workers start first, because a server exits if one of them is not listening. This is checked on the worker's own
  // node: a worker serves one connection at a time, so a check from outside would block the server.
  waves: () => followersFirst,
  // When the server loads a model, it sends the workers' weights over the cables.
  modelReaders: 'leader',
  // Measured: a mesh of two workers gives exactly the same bytes as a single process.
  goldenCheck: () => 'equal',
  // @see llama.cpp, common/arg.cpp: `Available devices:`, then one line per backend device; Metal's is MTL0.
  // A build with Metal logs ggml_metal even if macOS gives it no device.
  gpuQuestion: ({ server }, folder) => ({
    argv: [below(folder, server), '--list-devices'],
    shows: '^ *(MTL|Metal)[0-9]*:',
    builtFor: 'ggml_metal',
  }),
  // Without a projector for images, which the driver refuses, it never downloads an image.
  // @see llama.cpp at 00efb3e, tools/server/server.cpp (is_connection_closed) and server-common.cpp
  api: () => ({ endsStreams: true }),
  // A restarted worker cannot rejoin a running server.
  canRestartOne: () => false,
  stopOrder: 'leader-first',
  logPattern,
  signatures,
  observe,
};

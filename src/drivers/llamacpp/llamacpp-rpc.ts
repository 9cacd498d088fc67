import type { DesiredPlacement } from '../../model/desired.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { below } from '../../node/paths/node-paths.ts';
import { endTowards } from '../contract/addresses.ts';
import { countedChatRequest } from '../contract/chat-request.ts';
import { type ReservedWord, type ReservedWords, refused, reserve, reservedFindings } from '../contract/checks.ts';
import type {
  FailureSignature,
  HeldBytes,
  PlacementCheck,
  PlacementFinding,
  RuntimeDriver,
  RuntimeSight,
  StartPhase,
} from '../contract/driver.ts';
import { configure, modelFile } from './configure.ts';
import { memory } from './memory.ts';
import { isReleaseLayout, keys, type LlamaRuntime } from './runtime.ts';

type Check = PlacementCheck<LlamaRuntime>;

/** What speaks against a placement on llama.cpp before anything is started; its memory is judged elsewhere. */
const check = (one: Check): readonly PlacementFinding[] => [
  ...split(one),
  ...file(one),
  ...cabled(one),
  ...reservedFindings(one.placement, reserved),
];

function split({ placement }: Check): readonly PlacementFinding[] {
  if (placement.sharding !== 'tensor') return [];
  return [refused('llama/not-by-tensor', `${placement.name} says sharding: tensor.`)];
}

/** Nothing where the files are not known yet. */
function file({ model: { name, files } }: Check): readonly PlacementFinding[] {
  if (files.length === 0) return [];
  const found = modelFile(files);
  switch (found.kind) {
    case 'file':
      return [];
    case 'none':
      return [refused('llama/no-gguf', `Among the ${files.length} files of ${name} there is no .gguf.`)];
    case 'several':
      return [refused('llama/several-ggufs', `${name} has ${found.paths.slice(0, 4).join(', ')}.`)];
  }
}

/** The server talks to each worker over a cable of its own: nothing is passed on from Mac to Mac. */
function cabled({ placement, fleet: { thunderbolt } }: Check): readonly PlacementFinding[] {
  const [leader, ...followers] = placement.nodes;
  if (leader === undefined) return [];
  const without = followers.filter((node) => endTowards(thunderbolt, node, leader) === undefined);
  if (without.length === 0) return [];
  return [refused('llama/no-cable', `No link joins the leader ${leader} with ${without.join(' and ')}.`)];
}

const ownModel = 'The model is that of `model`, from the folder that apply brought.';
const ownPlace = 'The server listens on 127.0.0.1; `endpoint.port` is its port.';
const ownSplit = 'Use `shares`.';
const ownWorkers = 'The workers are the other `nodes`, each at its cable to the leader.';
const ownKey = 'The endpoint is guarded before the server; requests of apply carry no key.';
const ownLayers = 'Every layer is on the GPUs.';
const ownFit = 'Nothing is changed to make a model fit: use `shares` and `context`.';
const ownMemory = 'The memory of a placement is counted with it.';
const ownLog = 'Its log says what lies where, and no prompt.';
const ownLogFile = prose`Its log is where \`${aside(meshwright('logs'))}\` looks.`;

const ownFiles = 'What apply has not brought is neither checked nor counted.';

/** What the driver does not set, and cannot have. */
const refuse = (because: string, use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  reserve(use, ...words).map((one) => ({ ...one, because }));

const prompts = 'writes every prompt into a file';
const otherLog = 'gives the log another form than the one that is read here';
const otherCache = 'makes the cache lie otherwise than it was counted';
const secondModel = 'loads a second model beside that of `model`, which no plan has counted';

/** What the driver sets of llama.cpp by itself, in all the forms in which llama.cpp takes it. */
export const reserved: ReservedWords = {
  reading: 'whole',
  env: [
    ...reserve('Use `transport`.', 'GGML_RPC_NO_RDMA'),
    ...reserve('Use `cache` of the runtime.', 'LLAMA_CACHE'),
    ...reserve(ownWorkers, 'LLAMA_ARG_RPC'),
    ...reserve(ownModel, 'LLAMA_ARG_MODEL', 'LLAMA_ARG_MODEL_URL', 'LLAMA_ARG_HF_REPO', 'LLAMA_ARG_HF_FILE'),
    ...reserve(ownModel, 'LLAMA_ARG_DOCKER_REPO'),
    ...reserve('Its name is that of `model`.', 'LLAMA_ARG_ALIAS'),
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
    ...refuse(secondModel, ownFiles, 'LLAMA_ARG_SPEC_DRAFT_MODEL', 'LLAMA_ARG_SPEC_DRAFT_HF_REPO'),
    ...refuse(secondModel, ownFiles, 'LLAMA_ARG_MODEL_DRAFT', 'LLAMA_ARG_HFD_REPO'),
    ...reserve(ownKey, 'LLAMA_API_KEY', 'LLAMA_ARG_API_KEY_FILE'),
  ],
  args: [
    ...reserve(ownModel, '-m', '--model', '-mu', '--model-url', '-hf', '-hfr', '--hf-repo', '-hff', '--hf-file'),
    ...reserve(ownModel, '-dr', '--docker-repo'),
    ...reserve('Its name is that of `model`.', '-a', '--alias'),
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
    ...refuse(secondModel, ownFiles, '-md', '--model-draft', '--spec-draft-model'),
    ...refuse(secondModel, ownFiles, '-hfd', '-hfrd', '--hf-repo-draft', '--spec-draft-hf'),
    ...reserve(ownKey, '--api-key', '--api-key-file'),
  ],
};

/** What a server and its workers say when they lose each other. */
const ofTheMesh: readonly FailureSignature[] = [
  {
    id: 'worker-absent',
    pattern: /Failed to connect to \S+:\d+/,
    meaning: 'A worker did not listen when the server started, so the server ended.',
    action: 'read-other-ranks',
    cure: prose`Read the log of that worker (\`${aside(meshwright('logs'))}\`) and look at the cable to it, then restart the placement.`,
    isUnreached: true,
  },
  {
    id: 'worker-lost',
    pattern: /Remote RPC server crashed or returned malformed response/,
    meaning: 'A worker ended, or was started anew, while the server held a connection to it.',
    action: 'restart',
    cure: 'Restart the placement: a server never takes a worker back, so all of its ranks start together.',
  },
  {
    id: 'handshake',
    pattern: /RPC handshake failed for \S+/,
    meaning: 'What answers at the address of a worker is no worker of this version.',
    action: 'restart',
    cure: 'Restart the placement; if it comes back, look at who listens on that port.',
  },
  {
    id: 'version-mismatch',
    pattern: /RPC server version mismatch|client needs upgrade to protocol|Expected HELLO command, update client/,
    meaning: 'The server and a worker are of different builds of llama.cpp.',
    action: 'apply',
    cure: 'Let apply install the one archive of the file on every node; end what else listens on that port.',
  },
  {
    id: 'bind-failed',
    pattern: /Failed to create server socket|couldn't bind HTTP server socket|Invalid host address/,
    meaning: 'A rank could not listen: its address is not on this Mac, or the port is taken.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables; if it comes back, look at who listens on the port.',
  },
  {
    id: 'send-failed',
    pattern: /^(?:\S+ \S )?(?:send|recv) failed \(bytes_/,
    meaning: 'A connection between the server and a worker broke.',
    action: 'restart',
    cure: prose`Look at the cable (\`${aside(meshwright('cables'))}\`), then restart the placement.`,
  },
];

/** RDMA, as llama.cpp has it on Macs; every one of these leaves a mesh on TCP, or ends it. */
const ofRdma: readonly FailureSignature[] = [
  {
    id: 'rdma-queue-pair',
    pattern: /RDMA\(Apple\/UC\) (?:RTR|RTS) failed: /,
    meaning: 'A queue pair could not be connected: no IPv4 address on the cable, a bridge, or rests of a crash.',
    action: 'apply',
    cure: 'Let apply set the addresses of the cables again and start once more; if it comes back, restart the members.',
  },
  {
    id: 'rdma-receive',
    pattern: /RDMA\(Apple\/UC\) post_recv \d+\/\d+ failed/,
    meaning: 'The RDMA device takes no more receives.',
    action: 'reboot',
    cure: 'Stop what else uses RDMA on this Mac, else restart it.',
  },
  {
    id: 'rdma-broken',
    pattern: /RDMA\(Apple\/UC\) (?:poll_cq failed|(?:recv|send) wc error|bad frame magic|frame len \d+ exceeds)/,
    meaning: 'RDMA between the server and a worker broke while it carried data.',
    action: 'restart',
    cure: 'Restart the placement; if it comes back, look at the cable, then restart the members.',
  },
  {
    id: 'rdma-fall-back',
    pattern: /RDMA activate failed, staying on TCP/,
    meaning: 'RDMA was there and did not come up, so this mesh runs over TCP.',
    action: 'apply',
    cure: prose`Look at RDMA on both Macs (\`${aside(meshwright('doctor'))}\`), then restart the placement.`,
  },
];

/** The model, and what there is room for. */
const ofTheModel: readonly FailureSignature[] = [
  {
    id: 'no-room',
    pattern:
      /unable to allocate \S+ buffer|failed to allocate (?:\S+ )?buffer|failed to allocate compute |kIOGPUCommandBufferCallbackErrorOutOfMemory/,
    meaning: 'The weights, or the cache of the context, do not fit where the shares put them.',
    action: 'change-file',
    cure: prose`Give the placement less context, other shares, or more nodes (\`${aside(meshwright('fit'))}\`).`,
  },
  {
    id: 'unknown-architecture',
    pattern: /unknown model architecture: '/,
    meaning: 'This build of llama.cpp does not know this kind of model.',
    action: 'change-file',
    cure: 'Put a newer llama.cpp into the archive.',
  },
  {
    id: 'broken-model',
    pattern:
      /invalid magic characters|tensor '\S+' data is not within the file bounds|failed to read (?:magic|tensor info)/,
    meaning: 'The file of the model is no GGUF, or only a part of one.',
    action: 'change-file',
    cure: 'Fetch the model again; its sha256 in the lock is that of the broken file.',
  },
  {
    id: 'split-missing',
    pattern: /invalid split (?:file|count)|failed to load GGUF split|illegal split file/,
    meaning: 'A part of a model of several files is not beside the others.',
    action: 'change-file',
    cure: 'Let the model have all of its files `…-00001-of-0000N.gguf`.',
  },
  {
    id: 'model-not-loaded',
    pattern: /failed to load model|error loading model/,
    meaning: 'The server could not load the model; the lines before this one say why.',
    action: 'read-other-ranks',
    cure: prose`Read the lines before it, and the logs of the workers (\`${aside(meshwright('logs'))}\`).`,
  },
  {
    id: 'unknown-word',
    pattern: /^error: (?:invalid argument|unknown argument|while handling argument)/,
    meaning: 'This build of llama.cpp does not know a word of its command line.',
    action: 'change-file',
    cure: 'Correct `args` of the placement, or put a build of 2026 into the archive.',
  },
  {
    id: 'cached-tensor',
    pattern: /^meshwright: cached tensor [0-9a-f]{16} was not what its name says/,
    meaning: 'A tensor in the cache of a worker had changed on its disk; it was thrown away and came over the cable.',
    action: 'wait',
    cure: 'Wait; if it comes back, look at the disk of this Mac.',
  },
  {
    id: 'library-not-loaded',
    pattern: /^dyld\[\d+\]: Library not loaded: /,
    meaning: 'The program needs a library that is not on this Mac.',
    action: 'change-file',
    cure: 'Take the build of llama.cpp for macOS on Apple silicon, with all its libraries.',
  },
];

/**
 * What the logs of a server and of its workers tell of. Three failures have no line at all, and only a token shows
 * them: a worker that hangs or lost its cable (the server waits), a worker that died when it wrote to a server that
 * was killed, and a changed tensor in a cache that nobody verifies.
 *
 * @see ggml/src/ggml-rpc of llama.cpp for the words; those of the mesh and of the model were seen with build 0.7.0
 */
export const signatures: readonly FailureSignature[] = [...ofTheMesh, ...ofRdma, ...ofTheModel];

/**
 * The workers first, until each of them listens: a server that finds one of them absent ends at once. That a worker
 * listens is looked up on its own node, since it serves one connection at a time, and a silent one would keep the
 * server out.
 */
const phases = ({ nodes }: Pick<DesiredPlacement, 'nodes'>): readonly StartPhase[] =>
  nodes.length === 1
    ? [{ ranks: 'leader', until: 'joined' }]
    : [
        { ranks: 'followers', until: 'joined' },
        { ranks: 'leader', until: 'joined' },
      ];

/**
 * Lines that tell of the mesh, and of its failures (`signatures`), for awk. A worker says that it took a connection, and then that it carries RDMA, or
 * nothing. The server says which devices it uses, what each of them holds, and when it falls back although RDMA was to
 * be had.
 *
 * @see ggml/src/ggml-rpc/{ggml-rpc,transport,transport-apple}.cpp and `llama_prepare_model_devices` in src/llama.cpp
 */
export const logPattern =
  '^Accepted client connection|RDMA(\\(Apple/UC\\))? activated: |staying on TCP|: using device RPC[0-9]|(model|KV|RS|compute) buffer size = |Failed to (connect to|create server socket)|Remote RPC server crashed|RPC handshake failed|version mismatch|update client|upgrade to protocol|bind HTTP server socket|Invalid host address|(send|recv) failed [(]bytes_|RDMA[(]Apple/UC[)] (RT[RS] failed|post_recv|poll_cq|recv wc|send wc|bad frame|frame len)|nable to allocate |ailed to allocate |OutOfMemory|unknown model architecture|invalid magic characters|file bounds|failed to read (magic|tensor info)|split file|invalid split count|failed to load |error loading model|^error: (invalid argument|unknown argument|while handling)|Library not loaded';

const connection = /^Accepted client connection/;
const activated = /RDMA(?:\(Apple\/UC\))? activated: /;
const fallBack = /staying on TCP/;
const device = /: using device (RPC\d+)/;

/**
 * Over what the last connection of a worker goes, and on the leader with how many workers it began and what each device
 * holds. A worker that took a connection and says nothing of RDMA speaks TCP: llama.cpp falls back without a word where
 * no RDMA device has the address of the connection.
 */
export function observe(said: readonly string[]): RuntimeSight {
  const last = said.findLastIndex((line) => connection.test(line));
  const devices = new Set(said.flatMap((line) => device.exec(line)?.[1] ?? []));
  const after = said.slice(last + 1);
  const held = heldBytes(said);
  return {
    ...(devices.size === 0 ? {} : { size: devices.size + 1 }),
    ...transportOf(after, last >= 0),
    ...(held.length === 0 ? {} : { held }),
  };
}

function transportOf(lines: readonly string[], isWorker: boolean): Pick<RuntimeSight, 'transport'> {
  if (lines.some((line) => fallBack.test(line))) return { transport: 'tcp' };
  if (!isWorker) return {};
  return { transport: lines.some((line) => activated.test(line)) ? 'rdma' : 'tcp' };
}

/**
 * One buffer: `load_tensors: RPC0[10.77.0.2:50152] model buffer size =    36.27 MiB`. What lies in a mapped file is named
 * for that.
 *
 * @see `load_tensors`, `llama_kv_cache`, `llama_memory_recurrent` and `sched_reserve` of llama.cpp
 */
const buffer = /: +(\S+?)(?:_Mapped)? (model|KV|RS|compute) buffer size = +(\d{1,9}\.\d{2}) MiB$/;
const worker = /^RPC\d+\[(.+):\d+\]$/;

const kinds = { model: 'weights', KV: 'cache', RS: 'cache', compute: 'compute' } as const;
type Kind = keyof typeof kinds;
const isKind = (word: string): word is Kind => Object.hasOwn(kinds, word);

/** What the devices of each worker hold, and those of the leader together, in the order of the log. */
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
  splitsLayers: true,
  judgeSplit: ({ sharding, size }) => ({
    problems: size > 1 && sharding === 'tensor' ? ['llama.cpp gives every node whole layers.'] : [],
    doubts: [],
  }),
  splitAdvice: () => 'Use sharding: pipeline.',
  programs: ({ server, worker: workerProgram }, users) => {
    const hasFollowers = users.some(({ nodes, fallback }) => Math.max(nodes.length, fallback?.nodes.length ?? 0) > 1);
    return [server, ...(hasFollowers ? [workerProgram] : [])];
  },
  binHas: (programs) => (isReleaseLayout(programs) ? 'llama-server' : undefined),
  programKey: ({ server }, program) => (program === server ? 'server' : 'worker'),
  needs: () => [],
  // `usage` is `n_decoded`, which grows by one behind each sampled token.
  // @see llama.cpp at 00efb3e, tools/server/server-task.cpp: to_json_oaicompat_chat
  tokenRequest: ({ model }) => countedChatRequest(model),
  phases,
  // Weights travel over the cables when a server loads them.
  modelReaders: 'leader',
  // Measured: a mesh of two workers gives the very bytes of the single process.
  goldenCheck: () => 'equal',
  // @see llama.cpp, common/arg.cpp: `Available devices:`, then a line for each backend device; Metal's is MTL0
  // With Metal built in, its log names ggml_metal even where macOS gives it no device.
  gpuQuestion: ({ server }, folder) => ({
    argv: [below(folder, server), '--list-devices'],
    shows: '^ *(MTL|Metal)[0-9]*:',
    builtFor: 'ggml_metal',
  }),
  // A server never takes a worker back that was started anew.
  canRestartOne: () => false,
  stopOrder: 'leader-first',
  logPattern,
  signatures,
  observe,
};

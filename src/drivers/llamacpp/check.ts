import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { endTowards } from '../contract/addresses.ts';
import { type ReservedWord, type ReservedWords, refused, reserve, reservedFindings } from '../contract/checks.ts';
import type { PlacementCheck, PlacementFinding } from '../contract/driver.ts';
import { modelFile } from './configure.ts';
import type { LlamaRuntime } from './runtime.ts';

type Check = PlacementCheck<LlamaRuntime>;

/** What speaks against a placement on llama.cpp before anything is started; its memory is judged elsewhere. */
export const check = (one: Check): readonly PlacementFinding[] => [
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

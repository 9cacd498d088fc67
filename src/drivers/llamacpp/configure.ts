import { llamaPromptCacheMegabytes } from '../../desired/fit/fit-need.ts';
import type { LlamaRuntime } from '../../model/desired.ts';
import type { Text } from '../../model/step.ts';
import { below, tool } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankPlace } from '../contract/driver.ts';
import { cacheFolderName, cacheProgram, cacheProgramName } from './cache-program.ts';
import { modelFile } from './model-file.ts';

const loopback = '127.0.0.1';

/** More than any model has: llama.cpp leaves layers beyond this number on the CPU of the leader. */
const everyLayer = 9_999;

/** At this one, and not below, it logs what it puts where; prompts and answers are logged from 5 on. */
const verbosity = 4;

/** The leader runs the server, every other rank a worker; a worker listens on its cable to the leader alone. */
export const configure = (place: RankPlace<LlamaRuntime>): RankCommand =>
  place.rank === 0 ? serverCommand(place) : workerCommand(place);

function serverCommand(place: RankPlace<LlamaRuntime>): RankCommand {
  const { placement, runtime, endpointPort } = place;
  const words = [
    ['--alias', placement.model],
    ['--host', loopback],
    ['--port', String(endpointPort)],
    ...(placement.nodes.length === 1 ? [] : workerWords(place)),
    ['--n-gpu-layers', String(everyLayer)],
    ['--ctx-size', String(placement.contextTokens * placement.parallel)],
    ['--parallel', String(placement.parallel)],
    // What it would change to make things fit is what the file has said.
    ['--fit', 'off'],
    ['--cache-ram', String(llamaPromptCacheMegabytes)],
    ['--log-verbosity', String(verbosity)],
    ['--no-ui'],
    placement.args,
  ];
  return {
    argv: [[below(place.runtimeFolder, runtime.server)], ['--model'], modelWord(place), ...words.flat().map(word)],
    env: environment(place),
    files: [],
    joinedPort: endpointPort,
    meetPort: 0,
  };
}

/** The workers in rank order; each device's share stands where llama.cpp has the device: its own GPU comes last. */
function workerWords({ placement, between, port }: RankPlace<LlamaRuntime>): readonly (readonly string[])[] {
  const addresses = placement.nodes.flatMap((_, rank) =>
    rank === 0 ? [] : `${between[rank]?.[0] ?? loopback}:${port}`,
  );
  const shares = placement.shares ?? placement.nodes.map(() => 1);
  return [
    ['--rpc', addresses.join(',')],
    ['--split-mode', 'layer'],
    ['--tensor-split', [...shares.slice(1), ...shares.slice(0, 1)].join(',')],
  ];
}

function workerCommand(place: RankPlace<LlamaRuntime>): RankCommand {
  const { runtime, between, rank, port } = place;
  // Without a cable to the leader it is for nobody.
  const address = between[rank]?.[0] ?? loopback;
  const program: Text = [below(place.runtimeFolder, runtime.worker)];
  const command: RankCommand = {
    argv: [program, ...['--host', address, '--port', String(port)].map(word)],
    env: environment(place),
    files: [],
    joinedPort: port,
    meetPort: 0,
  };
  return runtime.cache === 'verified' ? withCache(command, place) : command;
}

/** The same worker with a cache, which is verified before it starts. */
function withCache(command: RankCommand, { model, filesFolder }: RankPlace<LlamaRuntime>): RankCommand {
  const folder = below(filesFolder, cacheFolderName);
  const verify: readonly Text[] = [
    [tool.perl],
    [below(filesFolder, cacheProgramName)],
    [folder],
    // One without a digest is configured for nobody.
    [model.digest ?? ''],
  ];
  return {
    ...command,
    argv: [...verify, ...command.argv, ['--cache']],
    env: { ...command.env, LLAMA_CACHE: folder },
    files: [
      { kind: 'file', name: cacheProgramName, content: [cacheProgram] },
      { kind: 'folder', name: cacheFolderName, keeps: true },
    ],
  };
}

const word = (text: string): Text => [text];

/** A model without one is refused before; its folder is no file of a model either. */
function modelWord({ model, modelFolder }: RankPlace<LlamaRuntime>): Text {
  const file = modelFile(model.files);
  return [file.kind === 'file' ? below(modelFolder, file.path) : modelFolder];
}

/** Where the file says TCP no RDMA is tried, so that what runs is what it says. */
const environment = ({ placement }: RankPlace<LlamaRuntime>): RankCommand['env'] => ({
  ...placement.env,
  ...(placement.transport === 'tcp' ? { GGML_RPC_NO_RDMA: '1' } : {}),
});

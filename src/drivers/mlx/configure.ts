import { gibibyte } from '../../model/text/units.ts';
import { below } from '../../node/paths/node-paths.ts';
import type { RankCommand, RankFile, RankPlace } from '../contract/driver.ts';
import type { DriverMemory } from '../contract/memory.ts';
import { backendOf, groupEnvironment, groupFiles } from '../contract/mlx-group.ts';
import type { MlxRuntime } from './runtime.ts';

/** Size limit for the cache of earlier prompts. It is passed to mlx, which has no limit in bytes by default. */
const promptCacheBytes = 2 * gibibyte;

type Place = RankPlace<MlxRuntime>;

/** Path of Python, relative to the runtime's folder. */
export const mlxPython = 'venv/bin/python';

/** One rank's command line, group files and complete environment: a stray variable could change the group. */
export function configure(place: Place): RankCommand {
  const { placement, rank, port, endpointPort, runtimeFolder, filesFolder } = place;
  const backend = backendOf(placement, place.between);
  const program: RankFile = { kind: 'file', name: rankProgramName, content: [rankProgram] };
  return {
    argv: [
      [below(runtimeFolder, mlxPython)],
      ['-u'],
      [below(filesFolder, rankProgramName)],
      [backendWords[backend]],
      [String(placement.nodes.length)],
      ...serverWords(place),
      ...placement.args.map((word) => [word]),
    ],
    env: { ...ownEnvironment, HF_HUB_CACHE: filesFolder, ...groupEnvironment(place, backend), ...placement.env },
    files: [program, ...groupFiles(place, backend)],
    // Its server listens only once the group is complete.
    joinedPort: rank === 0 ? endpointPort : 0,
    meetPort: rank === 0 && backendWords[backend] === 'jaccl' ? port : 0,
    // With two ranks, the previous and the next neighbor are the same Mac, so every cable has two connections.
    ...(backend === 'jaccl-ring' && placement.nodes.length === 2 ? { takesOfDevice: 2 } : {}),
  };
}

const backendWords = { jaccl: 'jaccl', 'jaccl-ring': 'jaccl', ring: 'ring', alone: 'alone' } as const;

/** Arguments of mlx_lm.server: the same on all ranks, although only rank 0 opens the port. */
function serverWords({ placement, model, modelFolder, endpointPort }: Place): RankCommand['argv'] {
  const { sharding, parallel, nodes } = placement;
  const words = [
    ['--model', modelFolder],
    ['--host', '127.0.0.1'],
    ['--port', String(endpointPort)],
    ['--decode-concurrency', String(parallel)],
    ['--prompt-concurrency', String(parallel)],
    ['--prompt-cache-bytes', String(promptCacheBytes)],
    sharding === 'pipeline' && nodes.length > 1 ? ['--pipeline'] : [],
    model.trustedCode === undefined ? [] : ['--trust-remote-code'],
  ];
  return words.flat().map((word) => [word]);
}

/**
 * No downloads of models, and no writes into the runtime's tree. For `/v1/models`, the server lists the models in
 * `HF_HUB_CACHE`. It needs a folder that exists, so it gets one without models: that of the rank's files.
 *
 * @see mlx_lm/server.py of mlx-lm 0.32.2: handle_models_request
 */
const ownEnvironment = {
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_OFFLINE: '1',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONNOUSERSITE: '1',
} as const;

export const rankProgramName = 'rank.py';

/**
 * The Python program of every rank. It joins the group, checks the number of ranks before any model is loaded, and
 * becomes `mlx_lm.server` with the remaining arguments. It configures nothing: its launchd job has all settings.
 *
 * `rank.py BACKEND SIZE ARGUMENT...`, with the backend `jaccl`, `ring` or `alone`. Without `strict`, a mistyped
 * variable would give every rank its own group, and each would load the whole model. The server later gets the same
 * group, because mlx keeps the first one.
 *
 * It prints Metal's recommended limit for wired memory, which no other tool on a Mac shows. If mlx has no such value,
 * the rank continues.
 *
 * @see mlx/distributed/distributed.cpp of mlx 0.32: init() registers the group as "any"
 */
export const rankProgram = `"""One rank of a mesh: joins its group, counts it, then serves. Written by meshwright."""

import faulthandler
import os
import sys


def refuse(text):
    print("meshwright: " + text, file=sys.stderr, flush=True)
    sys.exit(1)


def join(backend, size):
    import mlx.core as mx

    group = mx.distributed.init(strict=True, backend=backend)
    if group.size() != size:
        refuse("group of %d ranks over %s instead of %d" % (group.size(), backend, size))
    if group.rank() != int(os.environ["MLX_RANK"]):
        refuse("this is rank %d of the group instead of %s" % (group.rank(), os.environ["MLX_RANK"]))
    print("meshwright: group of %d ranks over %s" % (size, backend), flush=True)


def tell_memory():
    import mlx.core as mx

    try:
        size = mx.device_info()["max_recommended_working_set_size"]
    except Exception:
        return
    print("meshwright: the GPU may use %d bytes" % size, flush=True)


def main():
    faulthandler.enable()
    backend, size = sys.argv[1], int(sys.argv[2])
    if backend == "${backendWords.alone}":
        print("meshwright: group of 1 ranks over none", flush=True)
    else:
        join(backend, size)
    tell_memory()
    from mlx_lm import server

    sys.argv = ["mlx_lm.server"] + sys.argv[3:]
    server.main()


main()
`;

export const memory: DriverMemory = {
  promptCacheBytes: () => promptCacheBytes,
  // mlx-lm loads each tensor completely before it cuts out its part.
  loadingBytes: ({ sharding, shape }, ranks) => (sharding === 'tensor' && ranks > 1 ? 2 * shape.largestTensorBytes : 0),
};

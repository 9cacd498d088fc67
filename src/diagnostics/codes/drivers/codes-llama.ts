import type { CodeEntry } from '../../code-entry.ts';

/** Codes about placements on llama.cpp. */
export const llamaCodes = {
  'llama/not-by-tensor': {
    summary: 'llama.cpp does not split layers over several Macs.',
    cause: 'Its RPC workers each hold whole layers, one part of the model after the other.',
    hint: 'Write sharding: pipeline; or use mlx or exo for sharding: tensor.',
  },
  'llama/no-gguf': {
    summary: 'The model has no file that llama.cpp reads.',
    cause: 'llama.cpp loads GGUF files alone.',
    hint: 'Use a GGUF of the model, or a runtime that reads these files.',
  },
  'llama/several-ggufs': {
    summary: 'Nobody knows which of several files llama.cpp should load.',
    cause: 'A model is one GGUF, or one in parts named -00001-of-0000N.gguf and so on.',
    hint: 'Make a model of its own from each, with only its files.',
  },
  'llama/no-cable': {
    summary: 'The leader has no cable to one of its workers.',
    cause:
      'The server talks to every worker itself, over the cable between the two, and a worker listens nowhere else: its protocol has no password.',
    hint: 'Add the link, or put a node first in `nodes` that has a cable to all others.',
  },
} as const satisfies Record<string, CodeEntry>;

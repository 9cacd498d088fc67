import type { CodeEntry } from '../../code-entry.ts';

/** Codes about placements on llama.cpp. */
export const llamaCodes = {
  'llama/not-by-tensor': {
    summary: 'llama.cpp cannot split layers across several Macs.',
    cause: 'Each of its RPC workers holds whole layers: one contiguous part of the model.',
    hint: 'Use `sharding: pipeline`, or use mlx or exo for `sharding: tensor`.',
  },
  'llama/no-gguf': {
    summary: 'The model has no file that llama.cpp can read.',
    cause: 'llama.cpp loads only GGUF files.',
    hint: 'Use a GGUF version of the model, or a runtime that reads these files.',
  },
  'llama/several-ggufs': {
    summary: 'Cannot tell which of several files llama.cpp should load.',
    cause: 'A model must be one GGUF file, or one set of parts named `-00001-of-0000N.gguf` and so on.',
    hint: 'Declare a separate model for each GGUF, with only its own files.',
  },
  'llama/drafter-needs-one-node': {
    summary: 'A drafter works only on a single node.',
    cause: "llama.cpp's RPC workers crashed with a drafter (issue 23242), so the two are not started together.",
    hint: 'Remove `drafter`, or run the model on one node.',
  },
  'llama/drafter-is-model': {
    summary: 'The drafter is the model itself.',
    cause: 'A drafter saves time only if it is much smaller. The same model twice takes twice the memory.',
    hint: 'Name a smaller model with the same vocabulary as `drafter`, or remove the key.',
  },
  'llama/drafter-needs-newer-build': {
    summary: 'This build of llama.cpp is too old for a drafter.',
    cause:
      'In May 2026, llama.cpp changed how a server is started with a drafter. Builds before this change refuse the arguments that later builds need.',
    hint: 'Set a later `version` for the runtime, or remove `drafter`.',
  },
  'llama/drafter-not-used': {
    severity: 'warning',
    summary: 'A placement serves without its drafter.',
    cause:
      'A drafter needs the same vocabulary as the model. llama.cpp compares the two while it loads them. If they differ, it reports this only in its log, and serves without the drafter.',
    hint: 'Set `drafter` to a smaller model of the same family, or remove the key to free its memory.',
  },
  'llama/no-cable': {
    summary: 'The leader has no cable to one of its workers.',
    cause: 'The server connects to each worker over their cable, where alone it listens: it has no password.',
    hint: 'Add the link, or put a node that has a cable to every other node first in `nodes`.',
  },
} as const satisfies Record<string, CodeEntry>;

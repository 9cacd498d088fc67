import type { CodeEntry } from '../../code-entry.ts';

/** Codes about endpoints that clients of the office network reach, and the doorman before them. */
export const endpointCodes = {
  'placement/endpoint-not-published': {
    summary: 'This key is for endpoints that the office network reaches.',
    cause: 'A doorman reads it, and stands only before endpoints with `listen: lan`. Nothing is read and ignored.',
    hint: 'Add `listen: lan`, or remove the key.',
  },
  'placement/doorman-missing': {
    summary: 'A published endpoint needs a doorman.',
    cause:
      'Runtimes take any key and any name of a model; a wrong name makes mlx_lm.server unload on all ranks. So the office network reaches a doorman alone, a small program on Node.js.',
    hint: 'Add `doorman: { node: ./dist/node-v22.….tar.gz }`, the archive of Node.js for macOS on arm64 from nodejs.org.',
  },
  'placement/endpoint-unguarded': {
    summary: 'A published endpoint does not say who may come in.',
    cause: 'Whoever reaches the port of a published endpoint can use the model, unless they need a key.',
    hint: 'Add `apiKey: { env: NAME }`, or `access: anybody`, not both.',
  },
  'placement/key-twice': {
    summary: 'A list of keys names one source twice.',
    cause:
      'Each source of `apiKey` gives one key, and each key opens the door. Whoever takes one of two equal lines away would believe that its key opens nothing any more.',
    hint: 'Remove one of the two.',
  },
  'placement/endpoint-of-ranks': {
    summary: 'An endpoint has a port on which ranks meet.',
    cause:
      'Each start of a placement has one of 64 ports between 16384 and 32767 that follow from its name. An endpoint on one of them would keep a later start from happening, or be kept from it.',
    hint: 'Give it a port below 16384, such as 8080.',
  },
  'placement/inner-port': {
    summary: 'An endpoint has a port of the runtimes behind doormen.',
    cause:
      'The runtime of a published placement answers on 127.0.0.1 of its leader, at a port from 40000 to 40255 that follows from the name of the placement. An endpoint there would keep it from starting, or be kept from it.',
    hint: 'Give it a port below 40000, such as 8080, or above 40255.',
  },
  'placement/served-name-taken': {
    summary: 'Two placements behind one doorman have the same name.',
    cause: 'Clients tell them apart by the name of the model that they send, and by nothing else.',
    hint: 'Give one of them another `servedName`, or another port.',
  },
  'runtime/reserved-name': {
    summary: 'A runtime may not have this name.',
    cause: 'The versions of a runtime lie under its name on each node, and this name is taken.',
    hint: 'Give the runtime another name.',
  },
} as const satisfies Record<string, CodeEntry>;

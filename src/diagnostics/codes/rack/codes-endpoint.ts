import type { CodeEntry } from '../../code-entry.ts';

/** Codes about published endpoints and their API gateway (`gateway` in cluster.yaml). */
export const endpointCodes = {
  'placement/endpoint-not-published': {
    summary: 'This key is only for published endpoints.',
    cause:
      'This key applies only to the API gateway, and only endpoints with `listen: lan` have one. meshwright never ignores a key silently.',
    hint: 'Add `listen: lan`, or remove the key.',
  },
  'placement/endpoint-unguarded': {
    summary: 'A published endpoint does not say who may use it.',
    cause: 'Without an API key, anyone who reaches the port of a published endpoint can use the model.',
    hint: 'Set either `apiKey: { env: NAME }` or `access: anybody`, but not both.',
  },
  'placement/key-twice': {
    summary: 'A list of API keys names one source twice.',
    cause:
      'Each source under `apiKey` provides one key, and the gateway accepts every listed key. If you later removed one of the two lines to revoke the key, the gateway would still accept it.',
    hint: 'Remove one of the two lines.',
  },
  'placement/endpoint-of-ranks': {
    summary: 'An endpoint uses a port that is reserved for ranks.',
    cause:
      "Each start of a placement uses one of 64 ports between 16384 and 32767, determined by the placement's name. An endpoint on one of these ports could block a later start, or a later start could block the endpoint.",
    hint: 'Use a port below 16384, such as 8080.',
  },
  'placement/inner-port': {
    summary: 'An endpoint uses a port that is reserved for runtimes behind a gateway.',
    cause:
      "A published placement's runtime listens on its leader at 127.0.0.1, on a port from 40000 to 40255 determined by the placement's name. An endpoint on that port could block the runtime, or the runtime could block the endpoint.",
    hint: 'Use a port below 40000, such as 8080, or above 40255.',
  },
  'placement/served-name-taken': {
    summary: 'Two placements behind one gateway have the same model name.',
    cause: 'The gateway chooses the placement only by the model name in the request.',
    hint: 'Give one of them another `servedName` or another port.',
  },
  'runtime/reserved-name': {
    summary: 'A runtime may not have this name.',
    cause: 'Each node stores the versions of a runtime in a folder with its name, and this folder name is reserved.',
    hint: 'Give the runtime another name.',
  },
} as const satisfies Record<string, CodeEntry>;

import { type ListedVerb, ofNodes } from './verb.ts';

/** The commands under "Models", in help order. */
export const modelVerbs: readonly ListedVerb[] = [
  {
    name: 'models list',
    summary: 'show which models are on which nodes',
    ...ofNodes,
    words: '[model...]',
    more: `For each model in the file: source, version, size, and its state on each node. Then come models on nodes that the file does not declare. Changes nothing. The state comes from sizes, counts and times; no file is read.
Exit codes: 0 every node was reached, 4 some were, 1 none was.

Examples:
  meshwright models list
  meshwright models list kimi-k2 --json`,
    load: async () => (await import('./models/list.ts')).modelsList,
  },
  {
    name: 'models lock',
    summary: 'resolve models again and write the lock',
    words: '[model...]',
    uses: ['file', 'reach', 'json'],
    more: `Asks Hugging Face which commit the revision of each hf: source names now, lists that commit's files with their SHA-256, and hashes folders on this computer. Writes the result into the lock; no node is contacted. \`apply\` then installs the new files. Without names: every model whose list is in the lock.
A private or gated repository needs a token: \`secrets: { huggingface: { env: HF_TOKEN } }\` in the file.
Exit codes: 0 all models were read, 4 some were, 1 none was.

Examples:
  meshwright models lock
  meshwright models lock kimi-k2`,
    load: async () => (await import('./models/lock.ts')).modelsLock,
  },
];

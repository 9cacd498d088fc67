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
];

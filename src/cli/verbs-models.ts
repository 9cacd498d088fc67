import { changingNodes, type ListedVerb, leaseWait, ofNodes } from './verb.ts';

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
    options: [leaseWait],
    more: `Asks Hugging Face which commit the revision of each hf: source names now, lists that commit's files with their SHA-256, and hashes folders on this computer. A node:/ folder without \`files\` is hashed by every node that reads the model, and their lists must be equal; no other source contacts a node. Writes the result into the lock; \`apply\` then installs the new files. Without names: every model whose list is in the lock.
A private or gated repository needs a token: \`secrets: { huggingface: { env: HF_TOKEN } }\` in the file.
Exit codes: 0 all models were read, 4 some were, 1 none was, 75 a node is leased to another run.

Examples:
  meshwright models lock
  meshwright models lock kimi-k2`,
    load: async () => (await import('./models/lock.ts')).modelsLock,
  },
  {
    name: 'models pull',
    summary: 'bring models to nodes ahead of apply',
    ...changingNodes,
    words: '[model...]',
    options: [
      { flags: '--all', text: 'every model that a placement uses' },
      { flags: '--detach', text: 'end as soon as the nodes are downloading' },
      leaseWait,
    ],
    more: `Brings each model to the nodes whose placements read it: the nodes download, clone or receive its files as in an apply, compare their SHA-256, and publish the model. Nothing else is changed, and placements keep running. The file must declare the model and a placement that uses it. If the lock does not list the model's files, the command lists them at a terminal and in a rehearsal; otherwise, \`models lock\` has to. With --detach, the command ends as soon as the nodes are downloading; \`models list\` shows how far they are, and the next apply or models pull continues from there. No byte is downloaded twice.
Exit codes: 0 every node has the models, or with --detach is getting them, 3 manual steps are left, 4 some nodes have or get them, 1 none, 5 you did not agree, 75 a node is leased to another run.

Examples:
  meshwright models pull kimi-k2 --detach
  meshwright models pull --all --nodes studio-1`,
    load: async () => (await import('./models/pull.ts')).modelsPull,
  },
  {
    name: 'models verify',
    summary: 'check the models on nodes, with --full every byte',
    ...ofNodes,
    words: '[model...]',
    options: [{ flags: '--full', text: 'hash every file on the nodes' }, leaseWait],
    more: `Without --full, compares the number and the times of the files with their state when the model was published, in the time of an observation. With --full, every file of each complete copy is hashed on its node, by a job that continues if the connection breaks: the same command finds it again. A model with wrong files then counts as changed, and the next apply fetches those files again. Changes nothing else, and asks nothing.
Exit codes: 0 every copy is right, 4 on some nodes only, or some were not reached, 1 on none, 75 a node is leased to another run (--full).

Examples:
  meshwright models verify
  meshwright models verify kimi-k2 --full --nodes studio-1`,
    load: async () => (await import('./models/verify.ts')).modelsVerify,
  },
  {
    name: 'models prune',
    summary: 'delete models that the file does not declare',
    ...changingNodes,
    words: '[model...]',
    options: [
      { flags: '--all', text: 'every model that the file does not declare' },
      { flags: '--allow <effects>', text: 'delete' },
      leaseWait,
    ],
    more: `Deletes published versions of models that are no longer in the file, after a plan that lists each of them with its size. Never deletes a version in the file, a version that a running rank uses, or anything outside the folder of models. Deleting needs a yes at the prompt or --allow delete; without a terminal, it needs --yes as well. After an interruption, run the same command again to continue.
Exit codes: 0 nothing is left to delete, 4 on some nodes only, 1 on none, 5 nothing was deleted, 75 a node is leased to another run.

Examples:
  meshwright models prune old-model
  meshwright models prune --all --nodes studio-1
  meshwright models prune --all --yes --allow delete`,
    load: async () => (await import('./models/prune.ts')).modelsPrune,
  },
];

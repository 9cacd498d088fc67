import { atOnce, everyNode, type ListedVerb, leaseWait, overPlacements, withConsent } from './verb.ts';

/** Verbs that bring nodes to what the file wants, in the order of the help. */
export const changeVerbs: readonly ListedVerb[] = [
  {
    name: 'plan',
    summary: 'what apply would do, and what keeps it from more',
    words: '[node...]',
    uses: atOnce,
    options: [
      { flags: '--out <file>', text: 'save the plan, so that apply does exactly this' },
      { flags: '--scripts', text: 'show every script of root that apply would send, whole' },
      { flags: '--detailed-exitcode', text: '2 when changes are pending, 3 when only hands are missing' },
    ],
    more: `Changes nothing, here or on any node. What only hands at the rack can do comes
first, with numbers; what waits for them names these numbers.
Exit 0: every node was judged. 4: some were not. 1: none.

Examples:
  meshwright plan
  meshwright plan --out plan.json && meshwright apply plan.json
  meshwright plan --json | jq '.changes[]'
  meshwright plan --scripts | less`,
    load: async () => (await import('./plan/plan.ts')).plan,
  },
  {
    name: 'apply',
    summary: 'bring nodes to what the file wants',
    words: '[node...|planfile]',
    uses: withConsent,
    options: [
      { flags: '--allow <effects>', text: 'with commas: interrupt, rdma-start' },
      { flags: '--update-lock', text: 'write what was resolved into the lock, without a terminal too' },
      leaseWait,
      { flags: '--wait-for-hands', text: 'go on as soon as the work list is done' },
    ],
    more: `Shows the plan, asks once, runs exactly that, and looks again: the last look
decides. It never reboots, never updates macOS and never deletes a model; what
interrupts a placement needs a yes at the prompt or --allow interrupt. A spent
launch budget refuses a start over RDMA, except with --allow rdma-start.
Without a terminal it needs --yes or a saved plan.

Exit 0: every node was seen as the file says. 3: the work list is left. 4: some
nodes are not as the file says, or were not seen. 1: none is. 5: nothing was
changed. 75: another run holds a node.

Examples:
  meshwright apply
  meshwright apply --yes --nodes studio-1,studio-2
  meshwright plan --out plan.json && meshwright apply plan.json`,
    load: async () => (await import('./apply/apply.ts')).apply,
  },
  {
    name: 'rollback',
    summary: 'take a runtime back to the version before',
    words: '[runtime]',
    uses: overPlacements,
    options: [
      { flags: '--to <version>', text: 'the first digits of the version, where nodes have kept several' },
      { flags: '--undo', text: 'take the version of its archive again' },
      leaseWait,
    ],
    more: `Nodes keep one older version of each runtime, so nothing is copied. Placements
that use the runtime are stopped and started again. The lock keeps the runtime
at that version until its archive is another one, or until --undo: commit it.
Exit 0: seen as wanted. 1 or 4: not, or not everywhere. 5: nothing was changed.
75: another run holds a node.

Examples:
  meshwright rollback mlx
  meshwright rollback mlx --undo`,
    load: async () => (await import('./apply/rollback.ts')).rollback,
  },
  {
    name: 'uninstall',
    summary: 'take everything of meshwright off nodes again',
    words: '[node...]',
    uses: withConsent,
    options: [
      everyNode,
      { flags: '--restore', text: 'put values back as they were before the first change' },
      { flags: '--models', text: 'delete models too; else they stay as plain files' },
      leaseWait,
    ],
    more: `Stops what runs there, and takes away services, runtimes, addresses of links,
files, the line of sudoers and the key that enroll installed. Its plan says what
stays and what only hands can undo. Cut off, it goes on from where it was.

Exit 0: all of it is gone. 1 or 4: not, or not everywhere. 5: nothing was
changed. 75: another run holds a node.

Examples:
  meshwright uninstall studio-3
  meshwright uninstall --all --restore --models`,
    load: async () => (await import('./apply/uninstall.ts')).uninstall,
  },
  {
    name: 'forget',
    summary: 'take a dead node out of the lock; reaches no node',
    words: '[node...]',
    uses: ['file', 'reach', 'json', 'consent'],
    more: `For a Mac that left the cluster file and will not come back. What was put on
it stays on it.
Exit 0: forgotten. 5: the answer was no.

Examples:
  meshwright forget studio-3`,
    load: async () => (await import('./apply/forget.ts')).forget,
  },
];

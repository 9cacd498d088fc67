import type { GlobalUse, Verb } from './verb.ts';

const setUp = 'Set up:';
const look = 'Look:';
const act = 'Act:';
const own = 'Own:';

/** What a verb over nodes of the file uses. */
const overNodes: readonly GlobalUse[] = ['file', 'nodes', 'reach', 'json'];
const atOnce: readonly GlobalUse[] = [...overNodes, 'parallel'];

/** Every verb, in the order of `--help`. */
export const verbs: readonly Verb[] = [
  {
    name: 'enroll',
    group: setUp,
    summary: 'show and pin host keys, then check login and sudo',
    words: '[node...]',
    uses: [...overNodes, 'consent'],
    options: [
      { flags: '--all', text: 'every node of the file' },
      { flags: '--expect <fingerprint>', text: 'pin only this fingerprint (SHA256:...), without asking' },
      { flags: '--replace', text: 'allow another key in place of the pinned one' },
      { flags: '--user <name>', text: 'account at an address that is in no file' },
      { flags: '--port <number>', text: 'port of an address that is in no file' },
      { flags: '--identity <file>', text: 'private key for an address that is in no file' },
    ],
    more: `A node is named as in the file, or by its address. Before there is a file the
pin goes into cluster.lock in this folder, by address.
Compare the fingerprint on the Mac itself:
  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub

Exit 0: pinned, key accepted, sudo allowed. 3: a line is missing on the node;
it is shown. 5: not pinned. 1: no node answered. 4: some did.

Examples:
  meshwright enroll studio-1
  meshwright enroll --all
  meshwright enroll studio-5.lan --user mesh`,
    load: async () => (await import('./commands/enroll.ts')).enroll,
  },
  {
    name: 'validate',
    group: setUp,
    summary: 'judge the cluster file; sends nothing to any node',
    words: '[file]',
    uses: ['file', 'json'],
    options: [],
    more: `Every problem of the file comes back at once, each with its place, cause and
hint. Exit 0: valid (warnings may be shown). Exit 65: invalid.`,
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  {
    name: 'status',
    group: look,
    summary: 'the rack in one table, and what is wrong with it',
    words: '[node...]',
    uses: atOnce,
    options: [],
    more: `Exit 0: no error; there may be warnings. 3: what is left is work for hands at
the rack. 4: some nodes are wrong or were not observed. 1: all of them.`,
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'facts',
    group: look,
    summary: 'every fact of every node, known or unknown',
    words: '[node...]',
    uses: atOnce,
    options: [{ flags: '--fact <names>', text: 'only these facts, with commas' }],
    more: `One connection and one exec per node. A fact that is unknown says why; unknown
is never no.
Exit 0: every node was observed. 1: none. 4: some. 3: the others are locked at
FileVault.

Examples:
  meshwright facts studio-2
  meshwright facts --fact thunderbolt,rdma-ports
  meshwright facts --json | jq '.nodes[]."rdma-state"'`,
    load: async () => (await import('./commands/facts.ts')).facts,
  },
  {
    name: 'exec',
    group: act,
    summary: 'run one command on nodes, as the ssh user',
    words: '[node...]',
    tail: '-- COMMAND [word...]',
    uses: atOnce,
    options: [{ flags: '--all', text: 'every node of the file' }],
    more: `The words behind -- reach the node exactly as they are, as one command and its
arguments; no shell looks into them. For a pipe say: -- sh -c 'a | b'
Exit 0: it ended with 0 everywhere. 1: nowhere. 4: on some nodes.

Examples:
  meshwright exec --all -- sw_vers
  meshwright exec studio-1 studio-2 -- sysctl iogpu.wired_limit_mb`,
    load: async () => (await import('./commands/exec.ts')).exec,
  },
  {
    name: 'sim up',
    group: own,
    summary: 'start a simulated fleet made from the cluster file',
    words: '',
    uses: ['file', 'json'],
    options: [],
    more: `One simulated Mac per node, with real SSH on loopback, cabled as the file says.
Then add --sim to any verb: meshwright facts --sim`,
    load: async () => (await import('./commands/sim.ts')).simUp,
  },
  {
    name: 'sim down',
    group: own,
    summary: 'stop the simulated fleet; no process of it is left',
    words: '',
    uses: ['file', 'json'],
    options: [],
    load: async () => (await import('./commands/sim.ts')).simDown,
  },
  {
    name: 'sim status',
    group: own,
    summary: 'what is simulated, its ports and its faults',
    words: '',
    uses: ['file', 'json'],
    options: [],
    load: async () => (await import('./commands/sim.ts')).simStatus,
  },
  {
    name: 'sim fault',
    group: own,
    summary: 'break something by name, or mend it again',
    words: '[fault] [target...]',
    uses: ['file', 'json'],
    options: [
      { flags: '--list', text: 'every fault by name' },
      { flags: '--clear', text: 'mend the named fault, or all of them' },
    ],
    more: `Examples:
  meshwright sim fault --list
  meshwright sim fault rdma-disabled studio-3
  meshwright sim fault cable-swapped studio-4
  meshwright sim fault --clear`,
    load: async () => (await import('./commands/sim-fault.ts')).simFault,
  },
  {
    name: 'sim serve',
    group: own,
    summary: 'the simulator itself',
    words: '<folder>',
    uses: [],
    options: [],
    isHidden: true,
    load: async () => (await import('./commands/sim-serve.ts')).simServe,
  },
  {
    name: 'demo',
    group: own,
    summary: 'watch it all on simulated Macs; needs nothing',
    words: '',
    uses: [],
    options: [],
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    name: 'schema',
    group: own,
    summary: 'print a JSON schema, by default of the file',
    words: '[name]',
    uses: ['json'],
    options: [],
    more: 'Names: cluster, diagnostics, enroll, exec, facts, lock, sim, status',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
];

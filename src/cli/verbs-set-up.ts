import { everyNode, type ListedVerb, passwordOptions } from './verb.ts';

/** Verbs that prepare, in the order of the help. */
export const setUpVerbs: readonly ListedVerb[] = [
  {
    name: 'enroll',
    summary: 'pin host keys, install key and sudo rule where they are missing',
    words: '[node...]',
    uses: ['file', 'nodes', 'reach', 'json', 'consent'],
    options: [
      everyNode,
      { flags: '--expect <fingerprint>', text: 'pin only this fingerprint (SHA256:...), without asking' },
      { flags: '--replace', text: 'allow another key in place of the pinned one' },
      { flags: '--user <name>', text: 'account at an address that is in no file' },
      { flags: '--port <number>', text: 'port of an address that is in no file' },
      { flags: '--identity <file>', text: 'private key for an address that is in no file' },
      ...passwordOptions,
      { flags: '--card', text: 'print what to do at each Mac first; reaches none' },
    ],
    more: `A node is named as in the file, or by its address. Before there is a file the
pin goes into cluster.lock in this folder, by address.
Compare the fingerprint on the Mac itself:
  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub
Where your key is not accepted or sudo wants a password, both are put on the
Mac with the password of the account, which is asked for or comes from the
file (ssh.password) or an option, and is used once. What is there stays.

Exit 0: pinned, key accepted, sudo allowed. 3: something is missing on the
node; it is shown. 5: not pinned. 1: no node answered. 4: some did.

Examples:
  meshwright enroll studio-1
  meshwright enroll --card studio-1
  meshwright enroll --all
  meshwright enroll studio-5.lan --user mesh`,
    load: async () => (await import('./enroll/enroll.ts')).enroll,
  },
  {
    name: 'replace',
    summary: 'take a new Mac for a node in place of the old one',
    words: '<node>',
    uses: ['file', 'reach', 'consent', 'json'],
    options: [
      { flags: '--expect <fingerprint>', text: 'take only a Mac with this host key (SHA256:...)' },
      ...passwordOptions,
    ],
    more: `Shows what is pinned and known of the old Mac and what answers now, asks, puts
key and sudo rule on the new one as enroll does, and writes its host key and
which Mac it is into the lock. Refused when it is another node of the file, or
not the Mac that the file describes. Links keep their networks; apply then
sets the new Mac up. Nothing of the old one is changed.

Exit 0: taken. 3: taken, and sudo does not work there yet. 5: not taken,
nothing was written down. 1: it did not answer.

Example:
  meshwright replace studio-2`,
    load: async () => (await import('./enroll/enroll.ts')).replace,
  },
  {
    name: 'validate',
    summary: 'judge the cluster file; sends nothing to any node',
    words: '[file]',
    uses: ['file', 'json'],
    more: `Every problem of the file comes back at once, each with its place, cause and
hint. Exit 0: valid (warnings may be shown). Exit 65: invalid.`,
    load: async () => (await import('./look/validate.ts')).validate,
  },
  {
    name: 'fit',
    summary: 'whether a model fits on Macs, and how Macs can be cabled; needs no Mac',
    words: '[model]',
    uses: ['file', 'json'],
    options: [
      { flags: '--on <macs...>', text: 'nodes of the file, or Macs with their memory: 2xMac15,14:512GB' },
      { flags: '--context <tokens>', text: 'tokens of context, such as 128k (default: 8k)' },
      { flags: '--requests <count>', text: 'requests answered at once, `parallel` of a placement (default: 1)' },
      { flags: '--sharding <how>', text: 'tensor or pipeline (default: what the driver does best)' },
      { flags: '--runtime <driver>', text: 'mlx, exo, llamacpp-rpc, command, or a runtime of the file' },
      { flags: '--mlx-lm <version>', text: 'of mlx: which version splits the model (default: that of the runtime)' },
      { flags: '--mesh <macs...>', text: 'how many of which model, as hw.model prints it: 3xMac15,14' },
    ],
    more: `A model is one of the file, a folder, a .gguf file, or the base of its URLs;
only the headers of its files are read. Says what every Mac needs of its memory,
with the marks at 60 and 70 % of it and at 90 % of what its GPU may use, beside
what else is to serve on nodes of the file; and the nearest form that fits.
Exit 0: it fits. 1: it does not, or is tight. docs/fit.md says what is counted.

With --mesh: whether every two of these Macs can have a cable of their own, as
tensor sharding needs it, which of them can if not all, what a ring takes, and
the cables as cluster.yaml has them.
Exit 0: all of them can be fully meshed. 1: not all.

Examples:
  meshwright fit kimi --on studio-1,studio-2 --context 128k
  meshwright fit ./models/tiny --on 2xMac15,14:512GB
  meshwright fit https://models.lan/tiny.gguf --on Mac16,11:64GB
  meshwright fit --mesh 3xMac15,14 2xMac16,11`,
    load: async () => (await import('./fit/fit.ts')).fit,
  },
];

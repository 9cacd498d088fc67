import { passwordOptions } from './password-options.ts';
import type { Verb } from './verb.ts';
import { everyNode } from './verb-options.ts';
import { overNodes } from './verb-uses.ts';

const group = 'Set up:';

/** Verbs that prepare, in the order of the help. */
export const setUpVerbs: readonly Verb[] = [
  {
    name: 'enroll',
    group,
    summary: 'pin host keys, install key and sudo rule where they are missing',
    words: '[node...]',
    uses: [...overNodes, 'consent'],
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
    load: async () => (await import('./commands/enroll.ts')).enroll,
  },
  {
    name: 'replace',
    group,
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
    load: async () => (await import('./commands/replace.ts')).replace,
  },
  {
    name: 'validate',
    group,
    summary: 'judge the cluster file; sends nothing to any node',
    words: '[file]',
    uses: ['file', 'json'],
    options: [],
    more: `Every problem of the file comes back at once, each with its place, cause and
hint. Exit 0: valid (warnings may be shown). Exit 65: invalid.`,
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  {
    name: 'fit',
    group,
    summary: 'how Macs of some models can be cabled; needs no Mac',
    words: '',
    uses: ['json'],
    options: [{ flags: '--mesh <macs...>', text: 'how many of which model, as hw.model prints it: 3xMac15,14' }],
    more: `Says whether every two of these Macs can have a cable of their own, as tensor
sharding needs it, which of them can if not all, what a ring takes, and the
cables as cluster.yaml has them.
Exit 0: all of them can be fully meshed. 1: not all.

Examples:
  meshwright fit --mesh 5xMac15,14
  meshwright fit --mesh 3xMac15,14 2xMac16,11`,
    load: async () => (await import('./commands/fit.ts')).fit,
  },
];

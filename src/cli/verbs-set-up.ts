import { everyNode, type ListedVerb, passwordOptions } from './verb.ts';

/** The commands under "Set up", in help order. */
export const setUpVerbs: readonly ListedVerb[] = [
  {
    name: 'enroll',
    summary: 'pin host keys, install SSH keys and sudo rules',
    words: '[node...]',
    uses: ['file', 'nodes', 'reach', 'json', 'consent'],
    options: [
      everyNode,
      { flags: '--expect <fingerprint>', text: 'pin only this fingerprint (SHA256:...), without asking' },
      { flags: '--replace', text: 'accept a different host key and pin it' },
      { flags: '--user <name>', text: 'account, for an address that is not in the file' },
      { flags: '--port <number>', text: 'port, for an address that is not in the file' },
      { flags: '--identity <file>', text: 'private key, for an address that is not in the file' },
      ...passwordOptions,
      { flags: '--card', text: 'print what to do first at each Mac; contacts no Mac' },
    ],
    more: `Name a node by its name in the file or by its address. If there is no file yet, the host key is pinned in cluster.lock in this folder, by address.
Compare the fingerprint with the one on the Mac itself:
  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub
If the Mac rejects your key or sudo asks for a password, enroll installs the key and the sudo rule. It uses the account's password once, from an option, from the file (ssh.password) or from a prompt. Existing keys and rules remain unchanged.

Exit codes: 0 pinned, key accepted and sudo allowed, 3 something is missing on the node (listed), 4 some nodes were enrolled and others failed or were not pinned, 1 failed, 5 not pinned.

Examples:
  meshwright enroll studio-1
  meshwright enroll --card studio-1
  meshwright enroll --all
  meshwright enroll studio-5.lan --user mesh`,
    load: async () => (await import('./enroll/enroll.ts')).enroll,
  },
  {
    name: 'replace',
    summary: 'use a new Mac for a node instead of the old one',
    words: '<node>',
    uses: ['file', 'reach', 'consent', 'json'],
    options: [
      { flags: '--expect <fingerprint>', text: 'accept only a Mac with this host key (SHA256:...)' },
      ...passwordOptions,
    ],
    more: `Compares the old Mac in the lock with the Mac that answers now, and asks for confirmation. Then it installs the SSH key and the sudo rule on the new Mac, as enroll does, and records the new host key and the Mac's identity in the lock. It refuses a Mac that is a different node in the file, and a Mac that does not match the node's entry. Links keep their networks. The old Mac is not changed. Run apply afterwards to set up the new Mac.

Exit codes: 0 replaced, 3 replaced but sudo does not work yet, 5 not replaced and nothing recorded, 1 no answer.

Example:
  meshwright replace studio-2`,
    load: async () => (await import('./enroll/enroll.ts')).replace,
  },
  {
    name: 'validate',
    summary: 'check the cluster file without contacting nodes',
    words: '[file]',
    uses: ['file', 'json'],
    more: `Reports all problems in the file together, each with its position, its cause and a hint.
Exit codes: 0 valid (warnings are possible), 65 invalid.`,
    load: async () => (await import('./look/validate.ts')).validate,
  },
  {
    name: 'fit',
    summary: 'check whether a model fits, or how to cable Macs',
    words: '[model]',
    uses: ['file', 'json'],
    options: [
      { flags: '--on <macs...>', text: 'nodes in the file, or count, model and memory of Macs: 2xMac15,14:512GB' },
      { flags: '--context <tokens>', text: 'context length in tokens, such as 128k (default: 8k)' },
      { flags: '--requests <count>', text: "parallel requests, as in a placement's `parallel` (default: 1)" },
      { flags: '--sharding <how>', text: 'tensor or pipeline (default: the better one for the driver)' },
      { flags: '--runtime <driver>', text: 'mlx, exo, llamacpp-rpc, command, or a runtime in the file' },
      { flags: '--mlx-lm <version>', text: "version of mlx-lm that splits the model (default: the runtime's)" },
      { flags: '--mesh <macs...>', text: 'number and model or chip of the Macs: 3xMac15,14 or "3xM3 Ultra"' },
    ],
    more: `A model is the name of a model in the file, a folder, a .gguf file, the base URL of its files, or a known model (docs/known-models.md). fit reads only the file headers; for a known model it uses published sizes. For each Mac it shows the memory that the model needs, with marks at 60 and 70 % of the memory and at 90 % of the GPU limit. On nodes in the file, it adds the other placements that should serve there. If the model does not fit, fit shows the closest variant that fits. docs/fit.md explains the calculation.
Exit codes: 0 fits, 1 does not fit or is tight.

With --mesh: checks whether each pair of these Macs can have its own cable, as tensor sharding needs. If not, shows which Macs can, and what a ring needs. Prints the cables as links for cluster.yaml.
Exit codes: 0 all Macs can be fully meshed, 1 not all.

Examples:
  meshwright fit kimi --on studio-1,studio-2 --context 128k
  meshwright fit ./models/tiny --on 2xMac15,14:512GB
  meshwright fit https://models.lan/tiny.gguf --on Mac16,11:64GB
  meshwright fit Kimi-K2.6 --on "4xM3 Ultra:256GB" --runtime exo
  meshwright fit --mesh 3xMac15,14 2xMac16,11`,
    load: async () => (await import('./fit/fit.ts')).fit,
  },
];

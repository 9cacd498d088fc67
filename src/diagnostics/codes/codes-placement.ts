import { its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type CodeEntry, withExit } from '../code-entry.ts';

/** Codes about placements that do not fit. */
const misfitCodes = {
  'placement/does-not-fit': {
    traits: ['no-memory'],
    summary: 'A placement does not fit into the memory of its nodes.',
    cause:
      'Together, all placements on a node need more memory than its GPU may use. The runtime would start anyway, and then the Mac would swap or macOS would panic.',
    hint: prose`Use more nodes or a smaller context, or stop another placement: ${meshwright('fit')}`,
  },
  'placement/tight': {
    traits: ['no-memory'],
    summary: "A placement leaves less than 10 % of a node's GPU memory free.",
    cause: 'The memory requirement is an estimate. Above 90 %, one long request can crash the mesh.',
    hint: 'Use more nodes or a smaller context. To accept the risk, add `allow: [tight]` to the placement.',
  },
  'placement/degraded': {
    severity: 'warning',
    summary: "A placement uses more than 70 % of a node's memory.",
    cause: 'Meshes became slow when their models used more than 60 to 70 % of the memory.',
    hint: 'If the placement is too slow, use more nodes or a smaller context.',
  },
  'placement/near-degraded': {
    severity: 'notice',
    summary: "A placement uses more than 60 % of a node's memory.",
    cause: 'Meshes became slow when their models used more than 60 to 70 % of the memory.',
    hint: 'Nothing to do now. A longer context or a second placement would be too much.',
  },
  'placement/memory-unknown': {
    severity: 'notice',
    summary: "A placement's memory requirement is unknown.",
    cause: "It is computed from the headers of the model's files and the nodes' memory. One of these is unknown.",
    hint: 'Watch the memory at the first start. meshwright can read safetensors with `config.json`, and GGUF, from a local folder or a URL.',
  },
  'placement/mixed-macos': {
    traits: ['mixed-macos'],
    summary: "A placement's nodes have different macOS versions or builds.",
    cause:
      'Over RDMA, peers with different versions may not connect, and no handshake reports the difference. JACCL has used buffers above 4 KiB since macOS 26.3, and exo requires equal versions. Over TCP, a difference is only reported. Builds of one version are compared only between Macs of the same model, because some models have their own builds.',
    hint: 'Update all of the nodes to the same version and build, 26.3 or later.',
  },
  'placement/program-in-home': {
    severity: 'warning',
    summary: "A runtime's program is in another account's home folder, which ranks usually cannot enter.",
    cause: "macOS usually opens a home folder only to its owner and `staff`, without the ranks' account.",
    hint: 'Put the program in an archive (`archive`), or in a folder that every account can read, such as `/opt` or `/usr/local`.',
  },
  'placement/not-divisible': {
    summary: 'The model cannot be split evenly across this many nodes.',
    cause: 'With tensor sharding, every rank has the same number of heads and an equal share of every layer.',
    hint: 'Use a number of nodes that divides both evenly, such as 2, 4 or 8, or use `sharding: pipeline`.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about placements and models that do not fit the Macs' memory, macOS or number. */
export const fitCodes = {
  ...withExit(65, misfitCodes),
  'model/shape-unknown': {
    summary: 'The size and layers of this model cannot be read.',
    cause: 'meshwright reads safetensors with a `config.json`, or one GGUF model with all its parts.',
    hint: 'Name a model from the cluster file, its folder, a `.gguf` file, or its base URL.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about the runtimes, models, placements and endpoints of a well-formed cluster file. */
export const placementCodes = {
  'runtime/unknown-field': {
    summary: 'This text has a field that does not exist.',
    cause: 'Names in braces are replaced with values, and no value has this name. The list of fields is fixed.',
    hint: 'Use a field listed in docs/cluster-yaml.md, section runtimes.',
  },
  'runtime/field-without-value': {
    summary: 'A placement has no value for this field.',
    cause: 'They exist only between the ranks of a placement with `transport: rdma`, one for each pair of Macs.',
    hint: 'Use a runtime without this field for this placement, or change its nodes, roles or transport.',
  },
  'runtime/field-of-starts': {
    summary: '`prepare` cannot use this field.',
    cause: '`prepare` runs once for many starts, and the value of this field can change from start to start.',
    hint: 'Use the field in the command line of the ranks.',
  },
  'runtime/roles-conflict': {
    summary: 'The runtime has a command line for every rank and another one for a role.',
    cause: '`command` is the command line of every rank. `leader` and `follower` replace it if the ranks differ.',
    hint: 'Remove `command`, or remove `leader` and `follower`.',
  },
  'runtime/meeting-in-vain': {
    summary: 'This order of starts does not use `joined.meeting`.',
    cause: 'With `joined.meeting`, followers start as soon as the leader listens; other orders do not wait for it.',
    hint: 'Use `order: leader-first`, or remove `meeting`.',
  },
  'runtime/not-for-driver': {
    summary: "This runtime's driver does not use this key.",
    cause: 'Each driver has its own keys for runtimes and for placements. meshwright never ignores a key silently.',
    hint: 'Remove the key, or use another driver.',
  },
  'runtime/key-missing': {
    summary: "This runtime's driver requires another key.",
    cause: 'Without this key, the program cannot be installed on a node.',
    hint: 'Add the key. Section runtimes of docs/cluster-yaml.md describes it.',
  },
  'runtime/bad-version': {
    summary: "The version does not have the form of this program's versions.",
    cause: "A release's URL follows from its version: a number for exo (1.0.71), a tag for llama.cpp (b10950, v0.5.0).",
    hint: "Take the version from the program's release page.",
  },
  'runtime/not-a-commit': {
    summary: 'The source of a runtime is not a commit.',
    cause:
      'A branch or a tag can be moved to other code, and an abbreviated commit can become ambiguous. meshwright never follows one, so that every apply installs the same code.',
    hint: 'Write the whole commit, as `git rev-parse HEAD` prints it in a checkout of the repository.',
  },
  'runtime/archive-and-version': {
    summary: 'A program is named more than once.',
    cause: '`archive`, `version` and `source` each determine what is installed. No key is ever ignored silently.',
    hint: 'Keep one of these keys.',
  },
  'runtime/program-not-found': {
    summary: 'The command does not give the path of its program.',
    cause: 'The first word is the program, without a search by a shell: an absolute path or one in the archive.',
    hint: 'Begin the command with `{runtime}/`, such as `{runtime}/bin/rank`.',
  },
  'model/hub-page': {
    summary: 'The source is a web page of Hugging Face.',
    cause:
      'A node verifies every file from a server by its SHA-256. meshwright reads the list of a Hugging Face repository if the source begins with `hf:`, and `SHA256SUMS` on any other server.',
    hint: 'Write the repository as `hf:organization/name`.',
  },
  'model/key-not-used': {
    summary: "This key has no effect with the model's source.",
    cause: '`include` selects files of an hf: repository, listed in cluster.lock; `files` lists those of others.',
    hint: 'Remove the key.',
  },
  'model/plain-http': {
    summary: 'Files are downloaded over unencrypted HTTP.',
    cause: 'Anyone on the way can read and change the files. SHA-256 refuses a changed one only after the download.',
    hint: 'Use https:// here, or allow HTTP with `downloads: { plainHttp: allowed }`.',
  },
  'model/path-collision': {
    summary: 'Two file names of a model would be the same on a Mac.',
    cause: 'macOS does not distinguish upper and lower case in names, and a name is either a file or a folder.',
    hint: "Rename one of the two in the model's source.",
  },
  'placement/unknown-model': {
    summary: 'This model is not in the file.',
    cause: 'A placement names a model that is not under `models`.',
    hint: 'Correct the name, or add the model under `models`.',
  },
  'placement/unknown-runtime': {
    summary: 'This runtime is not in the file.',
    cause: 'A placement names a runtime that is not under `runtimes`.',
    hint: 'Correct the name, or add the runtime under `runtimes`.',
  },
  'placement/unknown-node': {
    summary: 'A placement names a node that is not in the file.',
    cause: 'One of its nodes is not under `nodes`.',
    hint: 'Correct the name, or add the node under `nodes`.',
  },
  'placement/fallback-same-nodes': {
    summary: 'A fallback uses all nodes of its placement.',
    cause:
      "A fallback is for when one of the placement's nodes is unreachable, on hold or broken. If the fallback itself needs all of those nodes, it cannot start then either.",
    hint: 'Leave at least one of those nodes out of the fallback, or use other nodes.',
  },
  'placement/node-twice': {
    summary: 'A placement lists a node twice.',
    cause: 'Every rank, and every replica, needs a separate node.',
    hint: 'Remove one of the two entries.',
  },
  'placement/role-unknown': {
    summary: 'A placement gives a role that its runtime does not know.',
    cause: 'The command line of a rank with a role is in `roles` of the runtime.',
    hint: 'Add the command line of this role to `roles` of the runtime, or remove the role from the placement.',
  },
  'placement/role-node': {
    summary: 'A placement gives a role to a node that cannot have it.',
    cause: 'A node with a role runs one of the ranks. The first node is the leader, which answers requests.',
    hint: 'Name one of the nodes of the placement, but not the first one.',
  },
  'placement/not-for-replicas': {
    summary: 'This key does not apply to replicas.',
    cause:
      'With `replicas: per-node`, every node runs the whole model by itself. Keys about ranks that share a model have no effect. meshwright never ignores a key silently.',
    hint: 'Remove the key, or remove `replicas` to split the model across the nodes.',
  },
  'placement/replicas-not-published': {
    summary: 'Replicas need a published endpoint.',
    cause: "The nodes' API gateways pass requests to each other's replicas. Only a `listen: lan` endpoint has one.",
    hint: 'Add `endpoint: { listen: lan, apiKey: { env: NAME } }`, or write one placement per node.',
  },
  'placement/bad-replica-name': {
    summary: 'A replica cannot be named after its placement and its node.',
    cause: 'A replica is called PLACEMENT-NODE, like no other placement, in at most 63 characters.',
    hint: 'Rename the placement.',
  },
  'placement/shares-differ': {
    summary: 'The number of shares differs from the number of nodes.',
    cause: 'Shares divide the layers among the nodes, in the order of `nodes`.',
    hint: 'Write one number per node, or remove `shares` to divide the layers equally.',
  },
  'placement/sharding-missing': {
    summary: 'A placement on several nodes does not set `sharding`.',
    cause:
      '`tensor` splits every layer across all nodes and needs a link between every pair of nodes; with mlx, a ring of links is enough, but slower. `pipeline` needs a ring of links.',
    hint: 'Add `sharding: tensor` or `sharding: pipeline`. To run the whole model on each of the nodes, add `replicas: per-node`.',
  },
  'placement/mesh-not-complete': {
    summary: 'Some pairs of these nodes have no link between them.',
    cause: 'With tensor sharding, every rank talks to every other rank over a direct cable.',
    hint: 'Add the missing links, use other nodes, or use `sharding: pipeline`, which needs only a ring.',
  },
  'placement/ring-not-complete': {
    summary: 'The links do not connect these nodes in a ring.',
    cause: 'Every rank needs a cable to the next, and the last to the first, in the order of `nodes`.',
    hint: 'Add the missing links, or order the nodes so that each has a link to the next.',
  },
  'placement/needs-addressing': {
    summary: 'The ranks have no addresses on their cables.',
    cause: "Two or more ranks connect over their links' addresses, and those come from an address pool.",
    hint: 'Add `addressing: { pool: 10.77.0.0/24 }` under `thunderbolt`. The network must be unused.',
  },
  'placement/no-rdma': {
    summary: 'A Mac in this placement does not support RDMA.',
    cause: 'RDMA over Thunderbolt needs Thunderbolt 5 (Apple TN3205). meshwright never falls back to TCP silently.',
    hint: 'Write `transport: tcp`, or use Macs with Thunderbolt 5.',
  },
  'placement/unequal-macs': {
    severity: 'notice',
    summary: 'The Macs in this placement differ, so the slowest usually sets the pace.',
    cause:
      'Memory bandwidth limits the generation speed. In a mesh, each token passes through every Mac, so all of them wait for the Mac with the slowest memory (docs/macs.md).',
    hint: 'If that is fast enough, there is nothing to do. Otherwise, use Macs of the same kind.',
  },
  'placement/endpoint-taken': {
    summary: 'Two placements on one node use the same port.',
    cause: "Every rank gets the endpoint's port, and only one program on a node can listen on a port.",
    hint: 'Give one of the two placements another `endpoint: { port }`.',
  },
  'placement/same-slot': {
    summary: 'Ranks of two placements on one node could use the same port.',
    cause: "A placement's name determines its 64 ports, and these two names result in the same ports.",
    hint: 'Rename one of the two placements.',
  },
  'placement/endpoint-not-published': {
    summary: 'This key is only for published endpoints.',
    cause: 'This key is for the gateway, which only `listen: lan` endpoints have. No key is ever ignored silently.',
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

/** Codes about links, archives, models and nodes that are resolved once and recorded in the lock. */
export const settleCodes = {
  'lock/node-left-file': {
    summary: 'A node that was set up is no longer in the file.',
    cause: 'It may still have services and addresses from meshwright, which nothing would maintain.',
    hint: prose`Add it to \`nodes\` again, or run: ${meshwright('forget', its.node)}`,
  },
  'lock/pool-full': {
    summary: 'The address pool has no network left for a link.',
    cause: 'Every link needs a /30 network. A removed link keeps its network until no node has an address in it.',
    hint: 'Make the pool larger without changing its first address, so that no link changes its network. Or apply once without the new link.',
  },
  'runtime/no-program': {
    summary: "A runtime's archive lacks a program that the file names.",
    cause: 'Every start would fail, after the running placement was stopped for it. `tar` listed the archive here.',
    hint: "List the archive (`tar -tf`) and correct the program's path, or use another archive.",
  },
  'runtime/archive-missing': {
    severity: 'warning',
    summary: "A runtime's archive was not found.",
    cause: 'The lock lacks its digest, so this computer needs the archive once. Placements that use it wait for it.',
    hint: 'Put the archive at the path in `archive`, or correct that path. It is relative to the cluster file.',
  },
  'runtime/archive-unreadable': {
    severity: 'warning',
    summary: "A runtime's archive cannot be read.",
    cause: 'This user may not read it, or it is not a regular file.',
    hint: 'Fix the problem named above, then run the command again.',
  },
  'runtime/no-release': {
    severity: 'warning',
    summary: "A runtime's release was not found.",
    cause:
      'The release page has no such version, or the release has no archive for macOS on Apple silicon. Placements that use it wait; everything else continues.',
    hint: "Compare the version with the program's release page. If the archive has a different name there, set `archive` to its URL.",
  },
  'runtime/release-unresolved': {
    severity: 'warning',
    summary: "The digest of a runtime's release is not known yet.",
    cause:
      'The lock does not have it, and the release page did not report it to this computer: no connection, an error, or too many requests. Placements that use it wait; everything else continues.',
    hint: 'Run the command again when this computer can reach the address, set `downloads.mirror`, or download the archive and set `archive` to its path.',
  },
  'runtime/packages-unlisted': {
    severity: 'warning',
    summary: "The list of a runtime's packages could not be made.",
    cause:
      'The file names only a version or a commit, so a node makes the complete list first. uv there printed no usable list: the version does not exist, the commit cannot be built, the node does not reach the package index, or the output was damaged. Placements that use the runtime wait; everything else continues.',
    hint: 'Correct `version` or `source`, or fix the problem named above and run apply again. For nodes without internet, make the list elsewhere and set `requirements`.',
  },
  'runtime/not-built': {
    severity: 'warning',
    summary: 'A commit could not be built.',
    cause:
      'The file names only a commit, so a node builds it first, with CMake and the command line tools of Apple. The node lacks these tools, the commit cannot be built, or what it builds cannot be used. Placements that use the runtime wait; everything else continues.',
    hint: 'Correct `source`, or fix the problem named above and run apply again. Or build it elsewhere, and set `archive`.',
  },
  'model/folder-missing': {
    severity: 'warning',
    summary: "A model's folder was not found.",
    cause: 'The lock lacks its files, so this computer needs the folder once. Placements that use it wait for it.',
    hint: 'Put the folder at the path in `source`, or correct that path. It is relative to the cluster file.',
  },
  'model/folder-unreadable': {
    severity: 'warning',
    summary: "The files in a model's folder could not be listed.",
    cause: 'This user may not read all of it, it has more than files and folders, or nodes have different files.',
    hint: 'Fix the problem named above, then run the command again.',
  },
  'model/unresolved': {
    severity: 'warning',
    summary: 'The files of a model are unknown.',
    cause:
      'The lock does not list them yet: Hugging Face or the server did not return them, or `models lock` has not listed the folder on the nodes. Placements that use the model wait; everything else continues.',
    hint: 'Fix the problem named above, then run the command again.',
  },
  'model/revision-moved': {
    severity: 'notice',
    summary: 'A revision names a newer commit than the lock.',
    cause: 'The branch moved after the lock was written. apply installs the commit in the lock.',
    hint: 'Lock the model again to use the new commit, or name a commit in `source` to end this notice.',
  },
  'model/revision-unknown': {
    severity: 'notice',
    summary: 'It is unknown whether a revision has moved.',
    cause: 'Hugging Face did not answer. The lock has the commit, so nothing else depends on the answer.',
    hint: 'Run the command again later, or name a commit in `source` to end this notice.',
  },
  'model/folder-empty': {
    summary: "A model's folder is empty.",
    cause: 'A model needs at least one file.',
    hint: 'Correct `source`, or put the files in the folder.',
  },
  'model/too-many-files': {
    summary: 'A model has more files than the lock can list.',
    cause: 'meshwright reads the whole lock before every run, so its size is limited.',
    hint: 'Set `source` to the folder of a single model.',
  },
  'model/bad-file-name': {
    summary: "One of a model's files has a name that cannot be used.",
    cause:
      'Names become part of URLs and of paths on the nodes. They may contain letters, digits, slashes and `. _ + @ = , -`, and have at most 512 characters, and 240 between slashes.',
    hint: 'Rename the file, or remove it from the folder.',
  },
} as const satisfies Record<string, CodeEntry>;

import { its, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about whether models fit into the memory of their nodes. */
export const fitCodes = {
  'placement/does-not-fit': {
    summary: 'A placement does not fit into the memory of its nodes.',
    cause:
      'All that is to serve on a node needs more than its GPU may use. The runtime would not refuse it: it swaps, or macOS panics.',
    hint: prose`Use more nodes, a smaller context, or stop another placement: ${meshwright('fit')}`,
  },
  'placement/tight': {
    summary: 'A placement leaves its nodes less than a tenth of the memory of their GPU.',
    cause: 'What is needed is an estimate; above nine tenths a long request can end the mesh.',
    hint: 'Use more nodes or a smaller context; or agree to it in the placement: allow: [tight]',
  },
  'placement/degraded': {
    severity: 'warning',
    summary: 'A placement takes more than 70 % of the memory of a node.',
    cause: 'Meshes were seen to become slow where models took more than 60 to 70 % of the memory.',
    hint: 'Use more nodes or a smaller context if it is slower than it should be.',
  },
  'placement/near-degraded': {
    severity: 'notice',
    summary: 'A placement takes more than 60 % of the memory of a node.',
    cause: 'Meshes were seen to become slow where models took more than 60 to 70 % of the memory.',
    hint: 'Nothing has to be done; a longer context or a second placement would be too much.',
  },
  'placement/memory-unknown': {
    severity: 'notice',
    summary: 'Nobody knows how much memory a placement needs.',
    cause:
      'It follows from the headers of the files of its model and from the memory of its nodes, and one of them is not known.',
    hint: 'Watch its memory at the first start. Known are safetensors with config.json, and GGUF, in a folder here or at a URL.',
  },
  'placement/mixed-macos': {
    summary: 'The nodes of a placement have different versions or builds of macOS.',
    cause:
      'Over RDMA peers may not see each other, and no handshake tells: JACCL uses buffers above 4 KiB from macOS 26.3 on, and exo asks for exactly equal versions. Over TCP it is only told. Builds of one version count between Macs of one model, since some models have builds of their own.',
    hint: 'Bring all of them to one version and build, 26.3 or later.',
  },
  'placement/program-in-home': {
    severity: 'warning',
    summary: 'The program of a runtime is in the home of another account, which that of ranks usually cannot enter.',
    cause:
      'macOS usually opens a home to its owner and the group staff, and the account of ranks is not in that group.',
    hint: 'Put the program in an archive (`archive`), or in a folder that every account can read, such as /opt or /usr/local.',
  },
  'placement/not-divisible': {
    summary: 'The model cannot be split over this number of nodes.',
    cause: 'With tensor sharding every rank has the same number of heads and the same part of every layer.',
    hint: 'Use a number of nodes that divides them, such as 2, 4 or 8; or sharding: pipeline.',
  },
  'model/shape-unknown': {
    summary: 'The bytes of this model cannot be read.',
    cause:
      'They stand in the headers of its files: safetensors beside a config.json, or one GGUF model with all its parts.',
    hint: 'Name a model of the file, its folder, a .gguf file, or the base of its URLs.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about the runtimes, models and placements of a cluster file whose form is right. */
export const placementCodes = {
  'runtime/unknown-field': {
    summary: 'A word has a field that does not exist.',
    cause: 'A word in braces is filled in, and there is nothing of this name to fill in. The list of fields is closed.',
    hint: 'Use a field of docs/cluster-yaml.md, section runtimes.',
  },
  'runtime/not-for-driver': {
    summary: 'The driver of this runtime does not read this key.',
    cause:
      'Each driver has keys of its own, for its runtimes and for the placements on them; nothing is read and ignored.',
    hint: 'Remove the key, or use another driver.',
  },
  'runtime/key-missing': {
    summary: 'The driver of this runtime needs one more key.',
    cause: 'What the driver starts cannot be brought to a node without it.',
    hint: 'Add it; docs/cluster-yaml.md, section runtimes, says what it is.',
  },
  'runtime/program-not-found': {
    summary: 'The command line does not say where its program lies.',
    cause:
      'The first word is what is started. No shell looks it up, so it is a path inside the archive or an absolute one.',
    hint: 'Begin it with {runtime}/, such as "{runtime}/bin/rank".',
  },
  'model/files-missing': {
    summary: 'The model has no list of files.',
    cause:
      'What a node takes from its own disk or from a server is compared with the sha256 of every file, so each must stand in the file. Only a folder of this machine can be listed by meshwright itself.',
    hint: 'Add `files`: for each path its sha256 and its size in bytes.',
  },
  'model/plain-http': {
    summary: 'A model comes by http.',
    cause:
      'Everyone on the way can read and change what comes by http. What was changed is refused for its sha256, but only after it has come whole.',
    hint: 'Begin the source with https://, or allow it: downloads: { plainHttp: allowed }.',
  },
  'model/path-collision': {
    summary: 'Two files of a model would be one on a Mac.',
    cause: 'macOS ignores upper and lower case in names, and a name is either a file or a folder.',
    hint: 'Rename one of the two where the model comes from.',
  },
  'placement/unknown-model': {
    summary: 'This model is not in the file.',
    cause: 'A placement names a model that stands nowhere under `models`.',
    hint: 'Correct the name, or add the model under `models`.',
  },
  'placement/unknown-runtime': {
    summary: 'This runtime is not in the file.',
    cause: 'A placement names a runtime that stands nowhere under `runtimes`.',
    hint: 'Correct the name, or add the runtime under `runtimes`.',
  },
  'placement/unknown-node': {
    summary: 'A placement names a node that is not in the file.',
    cause: 'One of its nodes stands nowhere under `nodes`.',
    hint: 'Correct the name, or add the node under `nodes`.',
  },
  'placement/fallback-same-nodes': {
    summary: 'A fallback needs all nodes of its placement.',
    cause:
      'A fallback is started when the nodes of the placement cannot carry it: one is away, held or broken. One that has all of them among its own could not be started then either.',
    hint: 'Leave at least one node out, or name others.',
  },
  'placement/node-twice': {
    summary: 'A node stands twice in a placement.',
    cause: 'Every rank runs on a node of its own.',
    hint: 'Remove one of the two.',
  },
  'placement/shares-differ': {
    summary: 'A placement does not have one share for each node.',
    cause: 'Shares say how the layers are divided, in the order of the nodes.',
    hint: 'Write as many numbers as there are nodes, or remove `shares`: then they are equal.',
  },
  'placement/sharding-missing': {
    summary: 'A placement on several nodes does not say how the model is split.',
    cause: 'tensor splits every layer over all nodes and needs a link between every pair; pipeline needs a ring.',
    hint: 'Add `sharding: tensor` or `sharding: pipeline`.',
  },
  'placement/mesh-not-complete': {
    summary: 'The links do not join every pair of these nodes.',
    cause: 'With tensor sharding every rank talks to every other one, over a cable of their own.',
    hint: 'Add the missing links, take other nodes, or split by pipeline, which needs a ring only.',
  },
  'placement/ring-not-complete': {
    summary: 'The links do not form a ring of these nodes.',
    cause:
      'Every rank needs a cable to the next one, and the last one to the first; the order of `nodes` is the order of ranks.',
    hint: 'Add the missing links, or put the nodes in an order in which each has a link to the next one.',
  },
  'placement/needs-addressing': {
    summary: 'The ranks have no addresses on their cables.',
    cause: 'Two or more ranks meet at the addresses of their links, and those come from a pool.',
    hint: 'Add `addressing: { pool: 10.77.0.0/24 }` under `thunderbolt`, a network that nobody else uses.',
  },
  'placement/no-rdma': {
    summary: 'A Mac of this placement can never do RDMA.',
    cause:
      'RDMA over Thunderbolt needs Thunderbolt 5 (Apple TN3205), and falling back to TCP silently would be a failure.',
    hint: 'Write `transport: tcp`, or take Macs with Thunderbolt 5.',
  },
  'placement/unequal-macs': {
    severity: 'notice',
    summary: 'The Macs of this placement are unequal: the slowest usually sets the pace.',
    cause:
      'Tokens are made at the speed of the memory. In a mesh each token passes through every Mac, so the others wait for the one with the slowest memory (docs/macs.md).',
    hint: 'Nothing to do if that is fast enough. Otherwise use equal Macs.',
  },
  'placement/endpoint-taken': {
    summary: 'Two placements on one node have the same port.',
    cause: 'Every rank is told the port of the endpoint, and only one program of a node can listen on it.',
    hint: 'Give one of the two another `endpoint: { port }`.',
  },
  'placement/same-slot': {
    summary: 'The ranks of two placements on one node could meet on the same port.',
    cause: 'Their 64 ports follow from the name of a placement, and these two names lead to the same ones.',
    hint: 'Rename one of the two.',
  },
} as const satisfies Record<string, CodeEntry>;

/** Codes about what is resolved once and stands in the lock: links, archives, models, nodes. */
export const settleCodes = {
  'lock/node-left-file': {
    summary: 'A node that was set up left the file.',
    cause: 'It may still have our services and addresses, and nobody would look after them any more.',
    hint: prose`Put it back under \`nodes\`, or run: ${meshwright('forget', its.node)}`,
  },
  'lock/pool-full': {
    summary: 'The pool has no network left for a link.',
    cause: 'Every link has a /30, and one that left the file keeps its own until no node has an address of it.',
    hint: 'Let the pool begin where it does and make it larger: nothing moves. Or apply once without the new link.',
  },
  'runtime/no-program': {
    summary: 'The archive of a runtime lacks a program that the file names.',
    cause:
      'Every start would fail, after whatever serves was stopped. The archive on this computer was listed with tar.',
    hint: 'See what is in the archive (tar -tf), and set the path of the program, or use another archive.',
  },
  'runtime/archive-missing': {
    severity: 'warning',
    summary: 'The archive of a runtime is not there.',
    cause:
      'The lock does not know its digest yet, so the archive is needed once on this computer. Placements that use it wait; everything else continues.',
    hint: 'Put the archive where `archive` says, or correct the path; it starts at the cluster file.',
  },
  'runtime/archive-unreadable': {
    severity: 'warning',
    summary: 'The archive of a runtime cannot be read.',
    cause: 'It is there, and this user may not read it, or it is no file.',
    hint: 'Correct what the detail says, then run the command again.',
  },
  'model/folder-missing': {
    severity: 'warning',
    summary: 'The folder of a model is not there.',
    cause:
      'The lock does not know its files yet, so the folder is needed once on this computer. Placements that use it wait; everything else continues.',
    hint: 'Put the folder where `source` says, or correct the path; it starts at the cluster file.',
  },
  'model/folder-unreadable': {
    severity: 'warning',
    summary: 'The folder of a model cannot be read.',
    cause: 'Something in it may not be read by this user, or is neither a file nor a folder.',
    hint: 'Correct what the detail says, then run the command again.',
  },
  'model/folder-empty': {
    summary: 'The folder of a model has no files.',
    cause: 'A model is a list of files, and this one would be none.',
    hint: 'Correct `source`, or put the files there.',
  },
  'model/too-many-files': {
    summary: 'A model has more files than a lock can list.',
    cause: 'The lock is read whole before anything is done, so it has a limit.',
    hint: 'Point `source` at the folder of one model only.',
  },
  'model/bad-file-name': {
    summary: 'A file of a model has a name that cannot be used.',
    cause:
      'Names end up on nodes and in URLs: letters, digits and . _ + @ = , - between slashes, at most 512 characters.',
    hint: 'Rename the file, or take it out of the folder.',
  },
} as const satisfies Record<string, CodeEntry>;

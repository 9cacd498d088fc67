import { aside, its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about runtimes and placements that use the mlx driver. */
export const mlxCodes = {
  'mlx/unlocked-requirement': {
    summary: 'A line in the requirements does not pin a package by version and hash.',
    cause:
      'Ranks exchange Python objects, so every node needs exactly the same packages, today and in a year. Only a version pinned by its hashes guarantees that.',
    hint: 'Compile the list again: `echo mlx-lm==VERSION | MACOSX_DEPLOYMENT_TARGET=26.0 uv pip compile --generate-hashes --python-platform aarch64-apple-darwin --python-version 3.12 -o requirements.lock -`',
  },
  'mlx/list-and-version': {
    summary: 'A runtime names its packages more than once.',
    cause: '`version`, `source` and `requirements` each determine the version of mlx-lm.',
    hint: 'Keep `requirements` to use your own list, or `version` or `source` to have the list made.',
  },
  'mlx/wheel-differs': {
    summary: 'The wheel that was built from a commit is not the one in the list of packages.',
    cause:
      'apply builds the wheel and makes its list together, and every node compares the wheel with the hash in the list. One of the two files was changed or replaced later.',
    hint: 'Restore both files from version control. If you cannot, delete both and run apply: it builds the wheel again.',
  },
  'mlx/package-missing': {
    summary: 'The requirements lack a package that every rank needs.',
    cause: 'Each rank runs `mlx_lm.server` with mlx, and meshwright installs only packages in the list.',
    hint: 'Add mlx-lm to the packages that the list is compiled from, and compile the list for macOS on Apple silicon.',
  },
  'mlx/too-old': {
    summary: 'This version of mlx-lm is too old.',
    cause:
      'meshwright limits the number of parallel requests and the size of the prompt cache. The server has had these options since mlx-lm 0.31.0; an older server exits with "unrecognized arguments".',
    hint: 'Require mlx-lm 0.31.0 or newer, and compile the list again.',
  },
  'mlx/cannot-load': {
    summary: 'This version of mlx-lm does not support this kind of model.',
    cause: 'mlx-lm has a class for each `model_type` in `config.json`. Without it, every rank exits with an error.',
    hint: 'Require a newer mlx-lm, or use another runtime. docs/known-models.md lists what each runtime supports.',
  },
  'mlx/cannot-split': {
    summary: 'This version of mlx-lm cannot split this kind of model in this way.',
    cause:
      'Each model class in mlx-lm supports tensor sharding, pipeline sharding, both or neither. With an unsupported kind, the ranks would exit immediately.',
    hint: 'Use the other kind of sharding, a newer mlx-lm in the requirements, or a single node.',
  },
  'mlx/not-known-to-split': {
    severity: 'warning',
    summary: 'It is unknown whether this version of mlx-lm can run this kind of model in this way.',
    cause:
      'meshwright does not know the `model_type` of the model, or this mlx-lm is newer than the versions that meshwright knows, and none of those could do it.',
    hint: 'Try it: a rank that cannot load or split the model exits immediately, and its log says so.',
  },
  'mlx/lost-layers': {
    summary: "A pipeline with this number of nodes would skip some of the model's layers.",
    cause:
      'Up to mlx-lm 0.31.3, a rank that has one layer more than the others gets its first layer wrong (mlx-lm issue 1688). The layers in between are not loaded on any rank, and no error is reported.',
    hint: 'Use a number of nodes that divides the number of layers, `sharding: tensor`, or a newer mlx-lm.',
  },
  'mlx/backend-needs-cables': {
    summary: 'The backend needs cables that are not declared.',
    cause: '`jaccl` needs a cable between every pair of ranks, `jaccl-ring` and `ring` between neighbors.',
    hint: 'Declare the cables under `thunderbolt.links`, or use another backend.',
  },
  'mlx/backend-against-transport': {
    summary: '`backend` and `transport` contradict each other.',
    cause: '`jaccl` and `jaccl-ring` use RDMA; `ring` uses TCP.',
    hint: 'Remove `backend`, or change `transport`.',
  },
  'mlx/too-many-ranks': {
    summary: 'JACCL does not support a full mesh of this many nodes.',
    cause: 'mlx 0.32 supports up to eight peers.',
    hint: 'Use `backend: jaccl-ring`, or fewer nodes.',
  },
  'mlx/cable-unused': {
    severity: 'notice',
    summary: 'Two nodes are connected by more cables than their ranks use.',
    cause:
      'JACCL uses several cables between neighbors only in a ring. It uses the same number on every hop: as many as the hop with the fewest cables has, up to four. A full mesh and a ring over TCP use one cable per pair.',
    hint: 'Use `backend: jaccl-ring` with the same number of cables on every hop, or ignore this: an unused cable does no harm.',
  },
  'mlx/cable-left-out': {
    severity: 'notice',
    summary: 'A start uses fewer cables per hop than declared.',
    cause:
      "A JACCL ring uses the same number of cables on every hop: as many as the hop with the fewest cables has. A cable counts only if the start observes its receptacles' RDMA devices. A cable that is left out stays out until the next start.",
    hint: prose`Check that receptacle on its node: ${meshwright('facts', its.node, '--fact', 'thunderbolt')}. Once the device appears, the next start uses the cable: ${meshwright('restart', its.placement)}.`,
  },
  'mlx/firewall-blocks': {
    summary: "A node's firewall prevents the ranks from connecting.",
    cause: 'Ranks first connect over TCP, even for RDMA, which a firewall that blocks everything stops.',
    hint: 'Set `system.firewall: disabled`, or turn off "Block all incoming connections": System Settings > Network > Firewall > Options.',
  },
  'mlx/wheels-unreadable': {
    summary: 'The folder of wheels cannot be read, and the lock does not list it.',
    cause: "meshwright sends its contents to the nodes and includes them in the runtime's version.",
    hint: 'Correct `wheels`, or restore the folder.',
  },
  'mlx/wheel-missing': {
    summary: 'The folder of wheels lacks a package in the requirements.',
    cause: 'With `wheels`, nodes download nothing: the folder needs every package, with one of its hashes.',
    hint: 'Download it on a computer with internet access: `pip download --no-deps --require-hashes --only-binary :all: --platform macosx_26_0_arm64 --python-version 3.12 -r requirements.lock -d wheels`',
  },
  'mlx/python-missing': {
    summary: 'The folder of wheels has no Python archive.',
    cause: 'With `wheels`, uv also takes Python from that folder.',
    hint: 'Get the URL from the same version of uv: `uv python list 3.12 --all-platforms --all-arches --only-downloads --show-urls`. Put the file in the folder without renaming it. meshwright cannot check whether its version and build date are the ones that uv wants.',
  },
  'mlx/libraries-differ': {
    summary: 'The nodes of a placement installed different libraries from the same list.',
    cause:
      'Each node installs the packages itself. If the list has the hashes of several wheels for one version, the macOS version decides which one is installed. For example, mlx-metal has separate wheels for macOS 14, 15 and 26. Ranks do not compare libraries when they connect.',
    hint: prose`Update all nodes to one macOS version. Or name that package's wheel by URL in the requirements. This creates a new runtime version on every node. With \`wheels\`, keep only one wheel of that package in the folder, and only its hash in the list. To reinstall on one node, delete this version's folder below \`/opt/meshwright/runtimes\` there (\`sudo rm -r FOLDER\`), then run \`${aside(meshwright('apply'))}\`.`,
  },
  'mlx/libraries-unknown': {
    summary: 'The libraries that a node installed for a runtime are unknown.',
    cause: 'The node installed this before meshwright recorded libraries. Unknown ones do not count as equal.',
    hint: prose`To reinstall it on the node, delete this version's folder below \`/opt/meshwright/runtimes\` there (\`sudo rm -r FOLDER\`), then run \`${aside(meshwright('apply'))}\`.`,
  },
  'mlx/own-code': {
    severity: 'warning',
    summary: 'The model includes Python code, which will not run.',
    cause: "mlx-lm runs such code, usually a tokenizer's, only if allowed, under the ranks' account on every node.",
    hint: 'Read the files. If the model does not work without them, list each with its SHA-256 under `models.<name>.trustRemoteCode`.',
  },
  'mlx/other-code': {
    summary: "The model's code does not match the approved digests.",
    cause: '`trustRemoteCode` must list each `.py` file with its SHA-256; one is missing, new or different.',
    hint: 'Read the files again, then copy the digests shown here into the cluster file.',
  },
  'mlx/context-too-long': {
    severity: 'warning',
    summary: 'The context is longer than the model supports.',
    cause: 'mlx-lm accepts any length, but answers get worse beyond the length that the model was trained for.',
    hint: 'Lower `context`, or use a model with a longer context.',
  },
  'mlx/fast-synch': {
    severity: 'warning',
    summary: 'MLX_METAL_FAST_SYNCH makes a mesh faster, but can hang the GPU.',
    cause:
      'An owner of two M3 Ultra measured 21 µs with it and 275 µs without it for a sum of 8 KB over all ranks, and 33.5 to 36 tokens per second instead of 20.3. But the mlx documentation says that it may deadlock (mlx issue 3142).',
    hint: 'If the placement hangs, remove it from `env`. Before that, compare both with `bench`.',
  },
} as const satisfies Record<string, CodeEntry>;

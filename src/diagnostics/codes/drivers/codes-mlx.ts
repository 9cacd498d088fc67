import { aside, its, meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about runtimes and placements of the driver mlx. */
export const mlxCodes = {
  'mlx/unlocked-requirement': {
    summary: 'A line of the requirements does not pin a package with its hash.',
    cause:
      'Ranks send each other Python objects, so every node has to have the very same packages, today and in a year. Only a version with its hashes says which those are.',
    hint: 'Make the list anew: uv pip compile --generate-hashes --python-platform aarch64-apple-darwin -o requirements.lock',
  },
  'mlx/package-missing': {
    summary: 'The requirements lack a package that every rank needs.',
    cause: 'A rank runs mlx_lm.server over mlx; nothing is installed that does not stand in the list.',
    hint: 'Put mlx-lm into what the list is compiled from, for macOS on Apple silicon.',
  },
  'mlx/too-old': {
    summary: 'This version of mlx-lm cannot be started.',
    cause:
      'meshwright bounds how many requests are answered at once and how much is kept of earlier prompts. The server of mlx-lm has the options for this from 0.31.0 on; an older one ends with "unrecognized arguments".',
    hint: 'Put mlx-lm 0.31.0 or a newer one into the requirements, and compile the list again.',
  },
  'mlx/cannot-split': {
    summary: 'This version of mlx-lm cannot split this kind of model so.',
    cause: 'A class of mlx-lm splits by its tensors, into a pipeline, by both or not at all; ranks would end at once.',
    hint: 'Use the other kind of sharding, a newer mlx-lm in the requirements, or one node.',
  },
  'mlx/not-known-to-split': {
    severity: 'warning',
    summary: 'Whether this version of mlx-lm can split this kind of model is not known.',
    cause: 'It is newer than the versions that were read, and none of those could.',
    hint: 'Try it: a rank that cannot ends at once, and says so in its log.',
  },
  'mlx/lost-layers': {
    summary: 'A pipeline of this many nodes would leave layers of the model out.',
    cause:
      'Up to mlx-lm 0.32.0 a rank with one layer more counts its beginning wrongly (issue 1688 of mlx-lm): the layers between are loaded nowhere, without an error.',
    hint: 'Use as many nodes as divide the number of layers, sharding: tensor, or a newer mlx-lm.',
  },
  'mlx/backend-needs-cables': {
    summary: 'The backend needs cables that are not declared.',
    cause: 'jaccl talks between every pair of ranks over a cable of their own; jaccl-ring and ring between neighbours.',
    hint: 'Declare the cables under `thunderbolt.links`, or use another backend.',
  },
  'mlx/backend-against-transport': {
    summary: 'Backend and transport contradict each other.',
    cause: 'jaccl and jaccl-ring talk over RDMA, ring over TCP.',
    hint: 'Leave `backend` out, or change `transport`.',
  },
  'mlx/too-many-ranks': {
    summary: 'JACCL has no full mesh of this many nodes.',
    cause: 'mlx 0.32 takes up to eight peers.',
    hint: 'Use backend: jaccl-ring, or fewer nodes.',
  },
  'mlx/cable-unused': {
    severity: 'notice',
    summary: 'Two nodes are joined by more cables than their ranks use.',
    cause:
      'JACCL takes several cables to one neighbour in a ring alone, and as many on every hop as on the poorest one, up to four. A full mesh and a ring over sockets use one of each pair.',
    hint: 'Use backend: jaccl-ring with as many cables on every hop, or leave it: the cable only does nothing.',
  },
  'mlx/cable-left-out': {
    severity: 'notice',
    summary: 'A start uses fewer cables of each hop than are declared.',
    cause:
      'A ring of JACCL takes as many cables on every hop as the poorest one has, by the RDMA devices of their receptacles as the start sees them. One that nobody saw leaves its cable out until the next start.',
    hint: prose`See what its node shows of that receptacle: ${meshwright('facts', its.node, '--fact', 'thunderbolt')}. Once the device is there, the next start takes the cable: ${meshwright('restart', its.placement)}.`,
  },
  'mlx/firewall-blocks': {
    summary: 'The firewall of a node keeps the ranks from meeting.',
    cause: 'Ranks meet by TCP before they talk over RDMA, and a firewall that blocks everything lets no program in.',
    hint: 'Write system.firewall: disabled, or end "Block all incoming connections": System Settings > Network > Firewall > Options.',
  },
  'mlx/wheels-unreadable': {
    summary: 'The folder of wheels cannot be read, and the lock does not have it.',
    cause: 'What lies in it is sent to the nodes and counts to the version of the runtime.',
    hint: 'Correct `wheels`, or bring the folder back.',
  },
  'mlx/wheel-missing': {
    summary: 'The folder of wheels lacks a package that the requirements name.',
    cause:
      'With `wheels` the nodes take nothing from the network, so every package has to lie there with one of its hashes.',
    hint: 'Fetch it where there is internet: pip download --no-deps --require-hashes --only-binary :all: --platform macosx_26_0_arm64 --python-version 3.12 -r requirements.lock -d wheels',
  },
  'mlx/python-missing': {
    summary: 'The folder of wheels has no archive of Python.',
    cause: 'With `wheels` uv takes Python from that folder as well.',
    hint: 'Ask the same uv for its address, and put the file there under its own name: uv python list 3.12 --all-platforms --only-downloads --show-urls. Whether its version and its day are those that uv wants cannot be checked here.',
  },
  'mlx/libraries-differ': {
    summary: 'The nodes of a placement have installed different libraries from one list.',
    cause:
      'Each node installs the packages by itself. Where the list has hashes of several wheels of one version, macOS decides which one comes: mlx-metal has one for macOS 14, 15 and 26 each. Ranks compare nothing when they meet.',
    hint: prose`Bring all nodes to one macOS, or name the wheel at its URL in the requirements, which makes a new version of the runtime on every node; with \`wheels\`, keep only one wheel of that package in the folder and its one hash in the list. To have one node install it anew: sudo rm -r the folder of this version below /opt/meshwright/runtimes there, then ${aside(meshwright('apply'))}.`,
  },
  'mlx/libraries-unknown': {
    summary: 'What a node has installed for a runtime is not known.',
    cause: 'Its version was published before meshwright wrote that down. Unknown is not equal.',
    hint: prose`Have it installed anew: sudo rm -r the folder of this version below /opt/meshwright/runtimes there, then ${aside(meshwright('apply'))}.`,
  },
  'mlx/own-code': {
    severity: 'warning',
    summary: 'The model brings Python code of its own, which is not run.',
    cause:
      'mlx-lm runs such code, most often that of a tokenizer, only when it is told to; it would run as the user of the ranks on every node.',
    hint: 'Read the files; if the model does not work without them, name each with its sha256 under `models.<name>.trustRemoteCode`.',
  },
  'mlx/other-code': {
    summary: 'The code of the model is not the code that somebody has agreed to.',
    cause:
      '`trustRemoteCode` names every .py file of the model with its sha256, and one is missing, added or different.',
    hint: 'Read the files again, and write down their digests as they are shown here.',
  },
  'mlx/context-too-long': {
    severity: 'warning',
    summary: 'The context is longer than the model was trained for.',
    cause: 'mlx-lm refuses no prompt for its length, and behind that length answers become worse.',
    hint: 'Lower `context`, or take a model for longer ones.',
  },
  'mlx/fast-synch': {
    severity: 'warning',
    summary: 'MLX_METAL_FAST_SYNCH can hang the GPU.',
    cause: 'It is faster, and the documentation of mlx says that it may deadlock (issue 3142 of mlx).',
    hint: 'Remove it from `env` if the placement hangs.',
  },
} as const satisfies Record<string, CodeEntry>;

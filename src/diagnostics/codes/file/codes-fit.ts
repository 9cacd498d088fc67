import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about whether models fit into the memory of their nodes. */
export const fitCodes = {
  'placement/does-not-fit': {
    severity: 'error',
    summary: 'A placement does not fit into the memory of its nodes.',
    cause:
      'All that is to serve on a node needs more than its GPU may use. The runtime would not refuse it: it swaps, or macOS panics.',
    hint: prose`Use more nodes, a smaller context, or stop another placement: ${meshwright('fit')}`,
  },
  'placement/tight': {
    severity: 'error',
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
    severity: 'error',
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
    severity: 'error',
    summary: 'The model cannot be split over this number of nodes.',
    cause: 'With tensor sharding every rank has the same number of heads and the same part of every layer.',
    hint: 'Use a number of nodes that divides them, such as 2, 4 or 8; or sharding: pipeline.',
  },
  'model/shape-unknown': {
    severity: 'error',
    summary: 'The bytes of this model cannot be read.',
    cause:
      'They stand in the headers of its files: safetensors beside a config.json, or one GGUF model with all its parts.',
    hint: 'Name a model of the file, its folder, a .gguf file, or the base of its URLs.',
  },
} as const satisfies Record<string, CodeEntry>;

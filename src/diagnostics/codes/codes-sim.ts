import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about the simulated fleet. */
export const simCodes = {
  'sim/not-running': {
    summary: 'The simulated fleet is not running.',
    cause: '`--sim` was given, but no simulator runs for this cluster file.',
    hint: prose`Start it: ${meshwright('sim up')}`,
  },
  'sim/unknown-model': {
    summary: 'This Mac model cannot be simulated.',
    cause: "The simulator's own table of receptacles and interfaces does not have this model.",
    hint: 'Use a model from the table, such as `Mac15,14`.',
  },
  'sim/unusable-link': {
    summary: 'A declared cable cannot be connected to the simulated Macs.',
    cause: 'A link names a node or a receptacle that does not exist, or a receptacle that already has a cable.',
    hint: prose`Correct the link; \`${aside(meshwright('validate'))}\` shows its line.`,
  },
  'sim/pool-too-small': {
    summary: 'The address pool is too small for the simulated cables.',
    cause: 'Each link needs a /30 network from `thunderbolt.addressing.pool`, which has fewer networks than links.',
    hint: 'Use a larger pool. A /24 has room for 64 links.',
  },
  'sim/unknown-node': {
    summary: 'The simulated fleet has no node with this name.',
    cause: 'It was created from a cluster file without this node.',
    hint: prose`List the simulated nodes: ${meshwright('sim status')}`,
  },
  'sim/unknown-fault': {
    exit: 64,
    summary: 'There is no fault with this name.',
    cause: 'Only the listed faults can be simulated.',
    hint: prose`List all faults: ${meshwright('sim fault', '--list')}`,
  },
  'sim/bad-fault-target': {
    exit: 64,
    summary: 'The fault cannot be applied to this target.',
    cause: 'The target has the wrong form for this fault, is not in the simulated rack, or would not change.',
    hint: prose`See the target form of each fault: ${meshwright('sim fault', '--list')}`,
  },
  'sim/impossible-act': {
    summary: 'The simulated remote hands cannot do this.',
    cause: 'A receptacle holds one plug. Nothing can be unplugged from an empty receptacle or plugged into a full one.',
    hint: prose`See which cable is in which receptacle: ${meshwright('status', '--sim')}`,
  },
  'sim/run-folder': {
    summary: 'The folder of a simulated fleet cannot be used.',
    cause: 'Its files cannot be read or written, or its name has a colon or line break, which `PATH` cannot contain.',
    hint: 'Choose another folder with a plain name, on a disk with free space.',
  },
  'sim/missing-programs': {
    summary: 'This computer lacks programs that simulated Macs need.',
    cause: "A simulated Mac uses this computer's base tools, and lacks those that are missing here.",
    hint: 'Install the missing programs. On Debian and Ubuntu: `apt-get install perl curl procps`',
  },
  'sim/start-failed': {
    summary: 'The simulated fleet did not start.',
    cause: 'The simulator exited or missed the deadline: often it cannot read the cluster file or open its ports.',
    hint: "Read `supervisor.log` in the simulated fleet's folder.",
  },
  'sim/no-answer': {
    summary: 'The simulated fleet did not answer.',
    cause: 'The control socket was disconnected, or the answer did not come before the deadline.',
    hint: prose`Stop it and start it again: ${meshwright('sim down')}, then ${aside(meshwright('sim up'))}`,
  },
  'sim/other-file': {
    summary: 'The simulated fleet was created from an earlier version of this file.',
    cause: 'A node was added or renamed after `sim up`.',
    hint: prose`Start it again: ${aside(meshwright('sim down'))} && ${aside(meshwright('sim up'))}`,
  },
} as const satisfies Record<string, CodeEntry>;

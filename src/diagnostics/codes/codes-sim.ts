import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { CodeEntry } from '../code-entry.ts';

/** Codes about the simulated fleet. */
export const simCodes = {
  'sim/not-running': {
    summary: 'The simulated fleet is not running.',
    cause: '`--sim` was given, and no simulator answers for this cluster file.',
    hint: prose`Start it: ${meshwright('sim up')}`,
  },
  'sim/unknown-model': {
    summary: 'This model of Mac cannot be simulated.',
    cause:
      'The simulator has its own table of models, with the receptacles and interfaces of each; this one is not in it.',
    hint: 'Rehearse with a model of the table, such as Mac15,14.',
  },
  'sim/unusable-link': {
    summary: 'A declared cable cannot be plugged into the simulated Macs.',
    cause: 'A link names a node or a receptacle that does not exist, or a receptacle that already carries a cable.',
    hint: prose`Correct the link; \`${aside(meshwright('validate'))}\` shows its line.`,
  },
  'sim/pool-too-small': {
    summary: 'The address pool is too small for the simulated cables.',
    cause: 'Every link takes a /30 of `thunderbolt.addressing.pool`, and there are more links than /30 networks.',
    hint: 'Give a larger pool; a /24 has room for 64 links.',
  },
  'sim/unknown-node': {
    summary: 'The simulated fleet has no node of this name.',
    cause: 'The name is not in the file that the simulated fleet was made from.',
    hint: prose`See its nodes: ${meshwright('sim status')}`,
  },
  'sim/unknown-fault': {
    summary: 'There is no fault of this name.',
    cause: 'Faults have fixed names.',
    hint: prose`See all of them: ${meshwright('sim fault', '--list')}`,
  },
  'sim/bad-fault-target': {
    summary: 'The fault cannot be applied there.',
    cause: 'The target is not of the form that this fault takes, names nothing of the rack, or nothing would change.',
    hint: prose`The form that each fault takes: ${meshwright('sim fault', '--list')}`,
  },
  'sim/impossible-act': {
    summary: 'The simulated hands cannot do this.',
    cause: 'A receptacle holds one plug: nothing comes out of an empty one, and nothing goes into one that is taken.',
    hint: prose`See what is plugged in where: ${meshwright('status', '--sim')}`,
  },
  'sim/run-folder': {
    summary: 'The folder of a simulated fleet cannot be used.',
    cause:
      'The name of the folder has a colon or a line break, which PATH cannot hold, or its files cannot be read or written.',
    hint: 'Choose another folder for the simulated fleet, with a plain name and with room on its disk.',
  },
  'sim/missing-programs': {
    summary: 'This computer lacks programs that simulated Macs are made of.',
    cause:
      'The base tools of a simulated Mac are those of this computer behind a gate; a tool that is missing answers nothing.',
    hint: 'Install them. On Debian and Ubuntu: apt-get install perl curl procps',
  },
  'sim/no-namespaces': {
    summary: 'This computer cannot run simulated Macs in namespaces.',
    cause:
      'Real networks, processes and users of their own need Linux, root, and the programs that make namespaces, together with an sshd and a sudo.',
    hint: 'Use the portable host, or run it as root on Linux: apt-get install iproute2 openssh-server sudo util-linux',
  },
  'sim/start-failed': {
    summary: 'The simulated fleet did not start.',
    cause: 'Its process ended or said nothing before the deadline: it could not read the file, or not open its ports.',
    hint: 'Read supervisor.log in the folder of the simulated fleet.',
  },
  'sim/no-answer': {
    summary: 'The simulated fleet did not answer.',
    cause: 'The control socket broke off, or its answer took longer than its deadline.',
    hint: prose`Stop it and start it again: ${meshwright('sim down')}, then ${aside(meshwright('sim up'))}`,
  },
  'sim/other-file': {
    summary: 'The simulated fleet was made from an earlier state of this file.',
    cause: 'A node was added or renamed after `sim up`.',
    hint: prose`Start it again: ${aside(meshwright('sim down'))} && ${aside(meshwright('sim up'))}`,
  },
} as const satisfies Record<string, CodeEntry>;

import type { CodeEntry } from './code-entry.ts';

/** Codes about the simulated fleet. */
export const simCodes = {
  'sim/not-running': {
    severity: 'error',
    summary: 'The simulated fleet is not running.',
    cause: '`--sim` was given, and no simulator answers for this cluster file.',
    hint: 'Start it: meshwright sim up',
  },
  'sim/unknown-model': {
    severity: 'error',
    summary: 'This model of Mac cannot be simulated.',
    cause:
      'The simulator has its own table of models, with the receptacles and interfaces of each; this one is not in it.',
    hint: 'Rehearse with a model of the table, such as Mac15,14.',
  },
  'sim/unusable-link': {
    severity: 'error',
    summary: 'A declared cable cannot be plugged into the simulated Macs.',
    cause: 'A link names a node or a receptacle that does not exist, or a receptacle that already carries a cable.',
    hint: 'Correct the link; `meshwright validate` shows its line.',
  },
  'sim/pool-too-small': {
    severity: 'error',
    summary: 'The address pool is too small for the simulated cables.',
    cause: 'Every link takes a /30 of `thunderbolt.addressing.pool`, and there are more links than /30 networks.',
    hint: 'Give a larger pool; a /24 has room for 64 links.',
  },
  'sim/unknown-fault': {
    severity: 'error',
    summary: 'There is no fault of this name.',
    cause: 'Faults have fixed names.',
    hint: 'See all of them: meshwright sim fault --list',
  },
  'sim/bad-fault-target': {
    severity: 'error',
    summary: 'The fault cannot be applied there.',
    cause: 'The target is not of the form that this fault takes, names nothing of the rack, or nothing would change.',
    hint: 'The form that each fault takes: meshwright sim fault --list',
  },
} as const satisfies Record<string, CodeEntry>;

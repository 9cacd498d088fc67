import type { CommandRuntime } from '../../model/desired.ts';
import type { RuntimeDriver } from '../contract/driver.ts';
import { check } from './check.ts';
import { signatures } from './classify.ts';
import { configure, programOutside } from './configure.ts';
import { phases } from './phases.ts';
import { tokenRequest } from './token-request.ts';

/** Any program that the file gives the command line of: one process per node. */
export const command: RuntimeDriver<CommandRuntime> = {
  id: 'command',
  keys: { needs: ['command'], takes: ['order', 'restart', 'joined', 'token'], ofPlacements: [] },
  check,
  configure,
  programOutside,
  needs: () => [],
  tokenRequest,
  phases: (_placement, runtime) => phases(runtime),
  goldenCheck: ({ token }) => (token.golden === 'equal' ? 'equal' : 'none'),
  canRestartOne: ({ restart }) => restart === 'node',
  stopOrder: 'leader-first',
  // What a program prints that nobody knows says nothing to anybody but its user.
  logPattern: '',
  signatures,
  observe: () => ({}),
};

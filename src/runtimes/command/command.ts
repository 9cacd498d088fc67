import type { RuntimeDriver } from '../driver.ts';
import { configure } from './configure.ts';
import { tokenRequest } from './token-request.ts';

/** Any program that the file gives the command line of: one process per node. */
export const command: RuntimeDriver = {
  id: 'command',
  configure,
  tokenRequest,
  startOrder: ({ order }) => order,
  canRestartOne: ({ restart }) => restart === 'node',
};

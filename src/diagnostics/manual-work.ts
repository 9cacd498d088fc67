import type { Diagnostic } from './diagnostic.ts';

/**
 * Whether this is work for the hands at the rack or at a console (cables, the RDMA switch, a FileVault password), which no
 * program can do. It makes up the work list, and exit code 3 when nothing else is wrong.
 */
export const isHandsWork = ({ hands }: Pick<Diagnostic, 'hands'>): boolean => hands === true;

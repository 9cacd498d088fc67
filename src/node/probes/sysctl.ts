import { tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/**
 * One `sysctl` call for all values. An unknown name does not affect the others: the tool reports the name on stderr,
 * prints the other values and exits with 1.
 */
export const sysctl = probe(
  'sysctl',
  [
    tool.sysctl,
    'hw.model',
    'hw.memsize',
    'machdep.cpu.brand_string',
    'iogpu.wired_limit_mb',
    'vm.swapusage',
    'kern.boottime',
    'kern.bootsessionuuid',
  ],
  5_000,
  8_192,
);

import { tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/**
 * One `sysctl` call for all values. A name that this macOS does not know affects only itself: the tool reports it on
 * stderr, prints the others and exits with 1.
 */
export const sysctl = probe(
  'sysctl',
  [
    tool.sysctl,
    'hw.model',
    'hw.memsize',
    'machdep.cpu.brand_string',
    'iogpu.wired_limit_mb',
    'kern.boottime',
    'kern.bootsessionuuid',
  ],
  5_000,
  8_192,
);

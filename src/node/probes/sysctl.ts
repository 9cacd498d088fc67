import { tool } from '../paths/node-paths.ts';
import { probe } from './probe.ts';

/**
 * One `sysctl` for all its values. A name that this macOS does not know costs only itself: the tool names it on
 * stderr, prints the others and ends with 1.
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

import type { Probe, Word } from '../../model/probe.ts';
import { tool } from '../paths/node-paths.ts';

export const probe = (name: string, ask: readonly Word[], deadlineMs: number, maxBytes: number): Probe => ({
  name,
  ask,
  deadlineMs,
  maxBytes,
});

/** Creates a probe whose output grows with the node's records. Removes the script's indentation to save space. */
export const recordProbe = (name: string, script: string, deadlineMs: number): Probe =>
  probe(name, [tool.sh, '-c', script.replaceAll(/\n +/g, '\n')], deadlineMs, 262_144);

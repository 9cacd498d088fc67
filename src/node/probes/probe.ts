import type { Probe, Word } from '../../model/probe.ts';
import { tool } from '../paths/node-paths.ts';

/** A probe of one command line, with its bounds: see {@link Probe}. */
export const probe = (name: string, ask: readonly Word[], deadlineMs: number, maxBytes: number): Probe => ({
  name,
  ask,
  deadlineMs,
  maxBytes,
});

/** A probe of a script whose answer grows with what is kept on the node. Indentation is not sent: the room is scarce. */
export const recordProbe = (name: string, script: string, deadlineMs: number): Probe =>
  probe(name, [tool.sh, '-c', script.replaceAll(/\n +/g, '\n')], deadlineMs, 262_144);

import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { Prose } from '../../model/text/prose.ts';
import type { LogLevel } from '../files/event-lines.ts';

/** What may stand on every command line. */
export interface GlobalOptions {
  /** `-f`: the cluster file. */
  readonly file?: string;
  /** `--nodes a,b`. */
  readonly nodes?: readonly string[];
  /** `-l key=value`, all of which must hold. */
  readonly label?: readonly string[];
  readonly json?: boolean;
  readonly sim?: boolean;
  readonly yes?: boolean;
  /** How many nodes at once. */
  readonly parallel: number;
  /** `--deadline`, in milliseconds, for the whole run on one node. */
  readonly deadline: number;
  /** False with `--no-color`. */
  readonly color: boolean;
  readonly verbose?: boolean;
  /** `--record`: file to which every command that is sent to a node is appended. */
  readonly record?: string;
  /** `--log`: file to which the log of this verb is appended, and `--log-level`, the least level that it has. */
  readonly log?: string;
  readonly logLevel?: LogLevel;
}

/** A problem with the command line itself: the run ends with 64 and nothing was done. */
export function usageError(detail: Prose, hint: Prose): FleetError {
  return new FleetError([diagnose('cli/usage', { detail, hint })]);
}

import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/fleet-error.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';

/** Sends a signal to a process, as `process.kill` does. */
export type SendSignal = (pid: number, signal: 'SIGKILL') => void;

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

const sendSignal: SendSignal = (pid, signal) => {
  process.kill(pid, signal);
};

/**
 * Ends the process of a simulated fleet by force; one that is gone already is fine.
 *
 * @throws FleetError `sim/no-answer` when the process belongs to another user
 */
export function endProcess(pid: number, send: SendSignal = sendSignal): void {
  try {
    send(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return;
    if (codeOf(error) !== 'EPERM') throw error;
    const detail = `Process ${pid} runs it for another user and cannot be ended from here.`;
    const hint = prose`Let the user who started it stop it: ${meshwright('sim down')}`;
    throw new FleetError([diagnose('sim/no-answer', { detail, hint })]);
  }
}

import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { baseTools, hostTool, linkedTools } from './base-tools/all-base-tools.ts';

/** Every program of this machine that a simulated Mac may call, by name, sorted. */
function requiredNames(): readonly string[] {
  const wrapped = baseTools.map(({ host, path }) => host ?? path.slice(path.lastIndexOf('/') + 1));
  const names = [...wrapped, ...linkedTools.map(({ name }) => name)];
  return [...new Set(names.filter((name) => name !== 'none'))].sort();
}

/**
 * Ends well only where every program is there that simulated Macs are made of.
 *
 * @param find gives the path of a program, or undefined
 * @throws FleetError `sim/missing-programs`, with their names
 */
export function requirePrograms(find: (name: string) => string | undefined = hostTool): void {
  const missing = requiredNames().filter((name) => find(name) === undefined);
  if (missing.length === 0) return;
  throw new FleetError([diagnose('sim/missing-programs', { detail: `Not found: ${missing.join(', ')}.` })]);
}

import { macBehind, type SimulatedFleet } from '../model/fleet.ts';
import { tools } from './registry.ts';
import type { WriteCall, WriteResult } from './tool.ts';

/** One write, whole: on which node, by which tool (`/usr/bin/pmset`), with which words. */
export interface Write extends WriteCall {
  readonly node: string;
  readonly tool: string;
}

/** What a write led to, with everything said. `isKnown` is false when the tool only printed its usage. */
export interface Written extends Required<Omit<WriteResult, 'power'>>, Pick<WriteResult, 'power'> {
  readonly isKnown: boolean;
}

/**
 * What this write does to the fleet, and what the tool prints. Pure: the same fleet and write give the same result.
 * A command line that the tool does not know changes nothing and gets its usage.
 */
export function applyWrite(fleet: SimulatedFleet, { node, tool: path, ...call }: Write): Written {
  const mac = macBehind(fleet, node);
  const tool = tools.find((one) => one.path === path);
  const result = mac === undefined ? undefined : tool?.writes?.write({ fleet, mac }, call);
  if (result !== undefined) return { stdout: '', stderr: '', exitCode: 0, ...result, isKnown: true };
  return { fleet, stdout: '', stderr: tool?.usage.text ?? '', exitCode: tool?.usage.exitCode ?? 127, isKnown: false };
}

import type { CommandRuntime } from '../../model/desired.ts';
import type { PlacementCheck, PlacementFinding } from '../contract/placement-check.ts';
import { programOutside } from './configure.ts';

/** The account whose home a path lies in, by the name of the folder; undefined outside of /Users. */
const ownerOf = (path: string): string | undefined => /^\/Users\/(?!Shared\/)([^/]+)\//.exec(path)?.[1];

/**
 * A program in the home of another account than that of the ranks.
 *
 * @see docs/unverified.md: the mode of a home, and who may enter it
 */
export function check({ placement, runtime, fleet }: PlacementCheck<CommandRuntime>): readonly PlacementFinding[] {
  const { ranks } = fleet.system.accounts;
  const path = programOutside(runtime)?.path;
  const owner = path === undefined ? undefined : ownerOf(path);
  if (ranks === undefined || owner === undefined || owner === ranks) return [];
  const detail = `The ranks of ${placement.name} run as ${ranks}, and ${path} is in the home of ${owner}.`;
  return [{ code: 'placement/program-in-home', severity: 'warning', detail }];
}

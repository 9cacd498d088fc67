import { didYouMean } from '../desired/did-you-mean.ts';
import type { DesiredFleet, DesiredGateway, DesiredRuntime } from '../model/desired.ts';
import { isReleaseLayout, llamaFolder } from './llamacpp/runtime.ts';
import { driverOf } from './registry.ts';

/**
 * Suggests a path for a program that is missing from an archive: the same name in a different folder, otherwise a
 * similar path. Undefined if the program exists, or will exist: see {@link isReleaseLayout}.
 */
export function nearestProgram(
  program: string,
  programs: readonly string[],
  members: readonly string[],
): { readonly path?: string } | undefined {
  if (members.includes(program)) return undefined;
  const name = program.slice(program.lastIndexOf('/') + 1);
  const named = members.filter((path) => path === name || path.endsWith(`/${name}`));
  const folders = members.flatMap((path) => /^([^/]+)\/llama-server$/.exec(path)?.[1] ?? []);
  const [folder, ...others] = folders;
  const hasBin = members.some((path) => path.startsWith(`${llamaFolder}/`));
  const isRelease = isReleaseLayout(programs) && !hasBin && others.length === 0;
  if (isRelease && folder !== undefined && members.includes(`${folder}/${name}`)) return undefined;
  const path = named.toSorted((a, b) => a.length - b.length)[0] ?? didYouMean(program, members);
  return path === undefined ? {} : { path };
}

/**
 * Archive paths of the programs that a start runs. If one of them is missing, the runtime is not published. Empty for
 * mlx, whose tree is built on the node, and for a command outside its archive.
 */
export function programsOf(
  runtime: DesiredRuntime | DesiredGateway,
  { placements }: Pick<DesiredFleet, 'placements'>,
): readonly string[] {
  if (!('driver' in runtime)) return [runtime.program];
  const users = placements.filter((one) => one.runtime === runtime.name);
  return driverOf(runtime).programs?.(runtime, users) ?? [];
}

import type { DesiredDoorman, DesiredFleet, DesiredRuntime } from '../model/desired.ts';

/** The folder in which llama.cpp is looked for unless the file says where it is. */
export const llamaFolder = 'bin';

/** Whether llama.cpp may be in the one folder that its own releases have, whatever that is called. */
export const isReleaseLayout = (programs: readonly string[]): boolean =>
  programs[0] === `${llamaFolder}/llama-server` && programs.every((path) => path.startsWith(`${llamaFolder}/`));

/**
 * The programs that a start calls by their paths in the archive: without any of them nothing of the runtime may be put in
 * use. Empty for mlx, whose tree is built on the node, and for a command that is not in its archive.
 */
export function programsOf(
  runtime: DesiredRuntime | DesiredDoorman,
  { placements }: Pick<DesiredFleet, 'placements'>,
): readonly string[] {
  if (!('driver' in runtime)) return [runtime.program];
  switch (runtime.driver) {
    case 'command': {
      const path = /^\{runtime\}\/([^{}]+)$/.exec(runtime.command[0] ?? '')?.[1];
      return path === undefined ? [] : [path];
    }
    case 'llamacpp-rpc': {
      const users = placements.filter((one) => one.runtime === runtime.name);
      const hasFollowers = users.some(({ nodes, fallback }) => Math.max(nodes.length, fallback?.nodes.length ?? 0) > 1);
      return [runtime.server, ...(hasFollowers ? [runtime.worker] : [])];
    }
    case 'mlx':
      return [];
    case 'exo':
      return [runtime.program];
  }
}

import type { Mesh } from './judge-mesh.ts';

/** How a placement is, in words: `serving`, `hung: no token: timed out`, `partial: rank 1 on studio-2 exited (1)`. */
export function meshWords({ state, evidence }: Mesh): string {
  switch (state) {
    case 'serving':
      return 'serving';
    case 'absent':
      return 'never started';
    case 'stopped':
      return `stopped: ${evidence}`;
    case 'ready':
      return `ready: ${evidence}`;
    case 'silent':
      return `hung: ${evidence}`;
    case 'changed':
      return `running, not as the file says: ${evidence}`;
    case 'dead':
    case 'partial':
    case 'unknown':
      return `${state}: ${evidence}`;
  }
}

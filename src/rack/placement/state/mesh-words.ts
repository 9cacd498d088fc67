import type { Mesh } from './judge-mesh.ts';

/** How a placement is, in words: `serving`, `no rank runs`, `hung: no token: timed out`. */
export function meshWords({ state, evidence, proof }: Mesh): string {
  switch (state) {
    case 'serving':
      return proof === undefined ? 'serving' : `serving, ${evidence}`;
    case 'absent':
      return 'never started';
    case 'stopped':
    case 'ready':
      return evidence;
    case 'silent':
      return `hung: ${evidence}`;
    case 'changed':
      return `running with old settings: ${evidence}`;
    case 'dead':
    case 'partial':
    case 'unknown':
      return `${state}: ${evidence}`;
  }
}

import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import type { GoldenSpeed } from '../../node/endpoint/judge-golden.ts';
import type { StepOf } from './context.ts';
import type { Slowness } from './slowness.ts';

type Prove = StepOf<'prove'>;

/** What becomes of a start with this speed. */
export type SpeedVerdict =
  | { readonly kind: 'enough' }
  | ({ readonly kind: 'too-slow' } & Slowness)
  /** Much less than an earlier start gave: worth another look, since a Mac may have been busy for a moment. */
  | ({ readonly kind: 'much-slower' } & Slowness)
  /** A full sentence why nobody knows whether it is what the file expects. */
  | { readonly kind: 'unknown'; readonly detail: string };

/**
 * The part of its earlier speed below which a mesh is another one than it was. RDMA falling back to TCP costs a factor of
 * ten and more; a longer prompt in its cache, a warm Mac, or other work beside it costs a part.
 */
const muchSlower = 1 / 5;

/** Judges a speed by what the file expects; where it expects nothing, by what an earlier start gave. */
export function judgeSpeed({ node, act }: Prove, speed: GoldenSpeed): SpeedVerdict {
  const { placement, tokensPerSecond: wanted, keptPerSecond: kept } = act;
  if (wanted !== undefined) return judgeWanted(`${placement} on ${node}`, { placement, wanted }, speed);
  // Short answers vary by more than meshes do.
  if (kept === undefined || speed.kind !== 'measured' || !speed.isSteady) return { kind: 'enough' };
  if (speed.perSecond >= kept * muchSlower) return { kind: 'enough' };
  return {
    kind: 'much-slower',
    measured: `${placement} gives ${speed.perSecond} tokens in a second, and gave ${kept} after an earlier start: same file, same macOS.`,
    hint: prose`Mend what is named, then start it anew: ${meshwright('restart', placement)}. If it is to be as slow as that from now on, say so in the file: expect.tokensPerSecond.`,
  };
}

/** Whether so many tokens in the whole time of an answer show that a mesh is not much slower than it was. */
export const isAsFast = ({ act: { keptPerSecond: kept } }: Prove, tokens: number, wholeMs: number): boolean =>
  kept !== undefined && (tokens / Math.max(1, wholeMs)) * 1_000 >= kept * muchSlower;

function judgeWanted(
  who: string,
  { placement, wanted }: { readonly placement: string; readonly wanted: number },
  speed: GoldenSpeed,
): SpeedVerdict {
  const soNobody = `so nobody knows whether it gives ${wanted} in a second.`;
  switch (speed.kind) {
    case 'unknown':
      return { kind: 'unknown', detail: `${who} ${whyUnknown[speed.why]}, ${soNobody}` };
    case 'at-least':
      return speed.perSecond >= wanted
        ? { kind: 'enough' }
        : {
            kind: 'unknown',
            detail: `${who} took no longer for the whole answer than for one token, which says no more than that it gives ${speed.perSecond} tokens in a second, ${soNobody}`,
          };
    case 'measured': {
      const measured = `${placement} gives ${speed.perSecond} tokens in a second, and the file expects ${wanted}.`;
      return speed.perSecond < wanted ? { kind: 'too-slow', measured } : { kind: 'enough' };
    }
  }
}

const whyUnknown = {
  'not-counted': 'does not say how many tokens it gave',
  'one-token': 'gave one token, which says nothing of how fast others follow',
} as const;

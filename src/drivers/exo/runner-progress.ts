import type { ExoInstance, RunnerState } from './answers.ts';

/** How far the runners of an instance have come; the slowest one counts. */
export type Progress =
  | { readonly kind: 'connecting'; readonly text: string }
  | { readonly kind: 'loading'; readonly text: string }
  | { readonly kind: 'warming'; readonly text: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Judges the runners that an instance names, and no others: those of instances of old stay in the state (issue 1732).
 * One that is not there yet, or was ended to be made again, counts as connecting.
 */
export function progressOf(instance: ExoInstance, runners: Readonly<Record<string, RunnerState>>): Progress {
  const states = Object.values(instance.runnerByNode).map(
    (id): RunnerState => (Object.hasOwn(runners, id) ? runners[id] : undefined) ?? { kind: 'connecting' },
  );
  for (const state of states) if (state.kind === 'failed') return { kind: 'failed', message: state.message };
  const early = states.filter(({ kind }) => kind === 'connecting' || kind === 'ended');
  const text = (count: number, words: string): string => `${count} of ${states.length} runners ${words}`;
  if (early.length > 0) return { kind: 'connecting', text: text(states.length - early.length, 'are connected') };
  const loading = states.flatMap((state) => (state.kind === 'loading' ? [state] : []));
  if (loading.length > 0) {
    const layers = loading.map((state) => `${state.layers} of ${state.of}`).join(', ');
    return { kind: 'loading', text: `layers loaded: ${layers}` };
  }
  const warming = states.filter(({ kind }) => kind === 'warming');
  if (warming.length > 0) return { kind: 'warming', text: text(states.length - warming.length, 'are warm') };
  return { kind: 'ready' };
}

import type { StepRunner } from './context.ts';

/** What only a person can do is not done by a run; the work list of the plan says what it is. */
export const runHands: StepRunner<'hands'> = () => Promise.resolve({ outcome: 'blocked', diagnostics: [] });

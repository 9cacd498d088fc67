import { durationText } from '../../model/text/units.ts';

/** The time that a wait has taken, and its whole deadline. */
export interface WaitTime {
  readonly spentMs: number;
  readonly limitMs: number;
}

const timeText = ({ spentMs, limitMs }: WaitTime): string =>
  `${durationText(spentMs)} of at most ${durationText(limitMs)}`;

/** `loading: 3 of 5 ranks, 40 s of at most 12 min`. */
export const loadingText = (ranks: { readonly joined: number; readonly all: number }, time: WaitTime): string =>
  `loading: ${ranks.joined} of ${ranks.all} ranks, ${timeText(time)}`;

/** `waiting for the first token, 40 s of at most 12 min`, with the last answer if there was one. */
export const firstTokenText = (time: WaitTime, answer?: string): string =>
  `waiting for the first token, ${timeText(time)}${answer === undefined ? '' : `: ${answer}`}`;

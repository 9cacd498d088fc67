import { isFull } from './is-full.ts';

/** How many cases a property is tried with: all of them where enumerations run whole, otherwise a quarter. */
export const runs = (whole: number): number => (isFull ? whole : Math.ceil(whole / 4));

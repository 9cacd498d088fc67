import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Examination } from './examination.ts';

/**
 * One kind of trouble. It judges only what is known: an unknown fact makes it silent, never right and never wrong.
 * The order in which it finds things has no meaning.
 */
export type Rule = (examination: Examination) => readonly Diagnostic[];

import { codes as general } from '../diagnostics/diagnose.ts';
import { definedCodes } from './diagnose/rules.ts';

/** Every code: the general ones, and those of rules. */
export const codes = { ...definedCodes, ...general };

/** Any of them. */
export type DiagnosticCode = keyof typeof codes;

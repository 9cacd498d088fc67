import { codes as general } from '../diagnostics/codes.ts';
import { updates } from '../rack/settings/updates.ts';

/** Every code: the general ones, and those of subjects that define their own. */
export const codes = { ...general, ...updates.codes };

/** Any of them. */
export type DiagnosticCode = keyof typeof codes;

import { codes as general } from '../diagnostics/codes.ts';
import { remoteLogin } from '../rack/access/remote-login-rule.ts';
import { updates } from '../rack/settings/updates.ts';

/** Every code: the general ones, and those of subjects that define their own. */
export const codes = { ...general, ...updates.codes, ...remoteLogin.codes };

/** Any of them. */
export type DiagnosticCode = keyof typeof codes;

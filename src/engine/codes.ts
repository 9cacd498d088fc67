import type { Code } from '../diagnostics/code-entry.ts';
import { codes as general } from '../diagnostics/diagnose.ts';
import type { RuleCode } from '../rack/define-rule.ts';
import { backgroundServices } from '../rack/settings/background-services.ts';
import { settings } from '../rack/settings/settings.ts';

type WithCodes = Extract<(typeof settings)[number], { readonly codes: unknown }>;

type SettingCodes = { readonly [S in WithCodes as keyof S['codes']]: RuleCode & Code };

const settingCodes: SettingCodes = Object.assign({}, ...settings.flatMap((one) => ('codes' in one ? [one.codes] : [])));

/** Every code: the general ones, and those of subjects that define their own. */
export const codes = { ...general, ...backgroundServices.codes, ...settingCodes };

/** Any of them. */
export type DiagnosticCode = keyof typeof codes;

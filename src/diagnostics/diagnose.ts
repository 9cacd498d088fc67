import { given } from '../model/given.ts';
import type { Prose } from '../model/text/prose.ts';
import { type Code, defineCodes } from './code-entry.ts';
import { applyCodes } from './codes/codes-apply.ts';
import { cliCodes } from './codes/codes-cli.ts';
import { fileCodes } from './codes/codes-file.ts';
import { fitCodes } from './codes/codes-placement.ts';
import { simCodes } from './codes/codes-sim.ts';
import { accessCodes, sshCodes } from './codes/codes-ssh.ts';
import { exoCodes } from './codes/drivers/codes-exo.ts';
import { llamaCodes } from './codes/drivers/codes-llama.ts';
import { mlxCodes } from './codes/drivers/codes-mlx.ts';
import { factCodes } from './codes/rack/codes-fact.ts';
import { meshCodes } from './codes/rack/codes-mesh.ts';
import { planCodes } from './codes/rack/codes-plan.ts';
import { proofCodes } from './codes/rack/codes-proof.ts';
import { type Diagnostic, FleetError } from './diagnostic.ts';

/** The fields that a caller adds; severity and hint default to those of the code. */
export type DiagnosticFields = { readonly detail: Prose } & Partial<
  Pick<Diagnostic, 'severity' | 'hint' | 'where' | 'label' | 'subject' | 'handsAt' | 'command' | 'related'>
>;

/** Builds a diagnostic from a code, so that its summary and default hint are defined only once. */
export function diagnose(code: GeneralCode | Code, fields: DiagnosticFields): Diagnostic {
  const entry: Code = typeof code === 'string' ? codes[code] : code;
  const { severity, exit, traits, summary, hint } = entry;
  return { code: entry.code, severity, ...given({ exit, traits }), summary, hint, related: [], ...fields };
}

export const failure = (
  code: GeneralCode | Code,
  fields: DiagnosticFields,
  options?: ConstructorParameters<typeof FleetError>[1],
): FleetError => new FleetError([diagnose(code, fields)], options);

/** All codes except those of resource rules. Codes are never reused; each is documented and triggered by a test. */
export const codes = defineCodes({
  ...fileCodes,
  ...sshCodes,
  ...accessCodes,
  ...factCodes,
  ...applyCodes,
  ...fitCodes,
  ...llamaCodes,
  ...meshCodes,
  ...mlxCodes,
  ...proofCodes,
  ...exoCodes,
  ...planCodes,
  ...cliCodes,
  ...simCodes,
});

export type GeneralCode = keyof typeof codes;

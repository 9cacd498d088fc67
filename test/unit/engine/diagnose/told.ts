import type { Diagnostic } from '../../../../src/diagnostics/diagnostic.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { subjectText } from '../../../../src/model/subject.ts';
import { desiredFleet, observedFleet, type RackChanges } from '../../../rack/rack.ts';
import { type AsText, diagnosticsAsText } from '../../as-text.ts';
import { say } from '../../one-page.ts';

/** The findings about the usual rack with these changes. */
export function findingsOf(changes: RackChanges, desired: Partial<DesiredFleet> = {}): readonly AsText<Diagnostic>[] {
  const findings = diagnosticsAsText(diagnoseFleet(desiredFleet(desired), observedFleet(changes)));
  for (const { severity, code, subject, detail, hint } of findings) {
    say(`${severity} ${code} | ${subjectText(subject)} | ${detail} | ${hint}`);
  }
  return findings;
}

/** The findings in short form: `severity code subject`. Their sentences are on the golden page of the test file. */
export const told = (changes: RackChanges, desired: Partial<DesiredFleet> = {}): readonly string[] =>
  findingsOf(changes, desired).map((one) => `${one.severity} ${one.code} ${subjectText(one.subject)}`);

/** The hints of the findings with one code. */
export const hintsOf = (code: string, changes: RackChanges, desired: Partial<DesiredFleet> = {}): readonly string[] =>
  findingsOf(changes, desired).flatMap((one) => (one.code === code ? [one.hint] : []));

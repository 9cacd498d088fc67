import type { Severity } from '../../diagnostics/code-entry.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { nodeSubject, subjectNodes, subjectText } from '../../model/subject.ts';
import { mapWords } from '../../model/text/prose.ts';
import { examine } from '../../rack/examination.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { rules } from './rules.ts';

const severities: readonly Severity[] = ['error', 'warning', 'notice'];

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Findings in the order of the nodes (a link counts for its first node), then by severity, code and subject. */
function sortFindings(findings: readonly Diagnostic[], order: readonly string[]): readonly Diagnostic[] {
  const placeOf = ({ subject }: Diagnostic): number => {
    const places = subjectNodes(subject).map((name) => order.indexOf(name));
    return Math.min(...places.filter((place) => place >= 0), order.length);
  };
  return findings.toSorted(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      compareText(a.code, b.code) ||
      compareText(subjectText(a.subject), subjectText(b.subject)),
  );
}

/** A failure without a subject is about the node that it was filed under. */
function failuresOf(observation: FleetObservation): readonly Diagnostic[] {
  return Object.entries(observation.failures).flatMap(([name, failures]) =>
    failures.map((one) => ({ ...one, subject: one.subject ?? nodeSubject(name) })),
  );
}

/**
 * What rules tell is one line; a name that a node made up must not add another. A hint may have several, commands to
 * copy among them: rules escape whatever a node named before it goes into one.
 */
const escapeLinesOf = (text: string): string => text.split('\n').map(escapeText).join('\n');

const escapeFinding = (one: Diagnostic): Diagnostic => ({
  ...one,
  detail: mapWords(one.detail, escapeText),
  hint: mapWords(one.hint, escapeLinesOf),
});

/**
 * Everything that is known to be wrong with the fleet, each with its one cause and one thing to do, and the reasons
 * why nodes could not be observed. Facts that are unknown are listed once per node and never judged.
 */
export function diagnoseFleet(desired: DesiredFleet, observation: FleetObservation): readonly Diagnostic[] {
  const examination = examine(desired, observation);
  const found = rules.flatMap((rule) => rule(examination)).map(escapeFinding);
  const order = desired.nodes.map((node) => node.name);
  return sortFindings([...failuresOf(observation), ...found], order);
}

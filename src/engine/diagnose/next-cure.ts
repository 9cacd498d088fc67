import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { NodeName } from '../../model/node.ts';
import { isPlacement, placementSubject, subjectNames, subjectNodes } from '../../model/subject.ts';
import { commandKey } from '../../model/text/command.ts';
import { commandsIn } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import type { Trouble } from './troubles.ts';

/** The cures of `recover`, smallest first. */
export const rungs = ['wait', 'continue', 'network', 'measure', 'start', 'restart', 'reboot'] as const;

export type Rung = (typeof rungs)[number];

/** One cure, with the finding that asks for it. */
export interface Cure {
  readonly rung: Rung;
  /** The placements to start or restart, or the Macs of the other rungs. */
  readonly names: readonly string[];
  readonly finding: Diagnostic;
}

/** What can be done now for the placements that do not serve. */
export type NextCure =
  | { readonly kind: 'serving' }
  | { readonly kind: 'cure'; readonly cure: Cure }
  /** No command helps: the findings name the person's task, or say what is unknown. */
  | { readonly kind: 'person'; readonly findings: readonly Diagnostic[] };

/** What `doctor` sees. */
export interface SeenTroubles {
  /** In repair order. */
  readonly troubles: readonly Trouble[];
  readonly placements: readonly PlacementSurvey[];
  readonly observation: FleetObservation;
}

/** True if it returned a token, whatever else differs from the file. */
const answers = ({ state }: PlacementSurvey): boolean => state === 'serving' || state === 'changed';

/** The placements among these that should serve, but do not. */
export const silentPlacements = (
  { placements }: Pick<SeenTroubles, 'placements'>,
  names: readonly string[],
): readonly PlacementSurvey[] =>
  placements.filter((one) => names.includes(one.name) && one.wanted === 'serving' && !answers(one));

/**
 * The smallest cure that `doctor` names for these placements and that was not tried yet. `doctor` leaves out what a fact
 * excludes: a start on leaked memory, or a restart after a start that failed in this boot session.
 */
export function nextCure(seen: SeenTroubles, names: readonly string[], tried: readonly Cure[] = []): NextCure {
  const silent = silentPlacements(seen, names);
  if (silent.length === 0) return { kind: 'serving' };
  const members = [...new Set(silent.flatMap(({ nodes }) => nodes))];
  const about = seen.troubles.filter((one) => concerns(one, silent));
  const lost = members.flatMap((node) => seen.observation.failures[node] ?? []);
  // While a Mac is away, its part of every state is unknown, so nothing is started or restarted.
  const suspended = silent.filter((one) => one.suspended !== undefined).map(({ name }) => name);
  const cures = lost.length > 0 ? waitsFor(lost) : about.flatMap((one) => curesIn(one, { members, suspended }));
  const cure = cures.find((one) => !tried.some((before) => isSame(before, one)));
  if (cure !== undefined) return { kind: 'cure', cure };
  const found = about.filter(({ stage }) => stage !== 'reported').map(({ finding }) => finding);
  return { kind: 'person', findings: found.length > 0 ? found : silent.map(unexplained) };
}

const unexplained = ({ name, state, evidence }: PlacementSurvey): Diagnostic =>
  diagnose('recover/no-cure', { subject: placementSubject(name), detail: `It is ${state}: ${escapeText(evidence)}` });

const isSame = (one: Cure, other: Cure): boolean =>
  one.rung === other.rung && one.names.join(' ') === other.names.join(' ');

/** Macs that may come back by themselves, as after a kernel panic; none if one of these waits for a person. */
function waitsFor(lost: readonly Diagnostic[]): readonly Cure[] {
  const [finding] = lost;
  if (finding === undefined || !lost.every((one) => hasTrait(one, 'passing'))) return [];
  return [{ rung: 'wait', names: [...new Set(lost.flatMap(({ subject }) => subjectNodes(subject)))], finding }];
}

/** True if the problem is one of these placements, blocks one, or is on its Macs. */
const concerns = ({ finding, hanging, restarts = [] }: Trouble, silent: readonly PlacementSurvey[]): boolean =>
  silent.some(
    ({ name, nodes }) =>
      isPlacement(finding.subject, name) ||
      hanging.includes(`placement ${name}`) ||
      restarts.includes(name) ||
      (finding.severity === 'error' && subjectNodes(finding.subject).some((node) => nodes.some((own) => own === node))),
  );

/** The commands of a finding that `recover` may run, in its order. */
function curesIn(
  { finding, refused = [] }: Trouble,
  { members, suspended }: { readonly members: readonly NodeName[]; readonly suspended: readonly string[] },
): readonly Cure[] {
  const vain = refused.map(commandKey);
  const resumed = suspended.filter((name) => isPlacement(finding.subject, name));
  const first: readonly Cure[] = resumed.length > 0 ? [{ rung: 'continue', names: resumed, finding }] : [];
  const others = commandsIn(finding.hint, subjectNames(finding.subject))
    .filter((one) => !vain.includes(commandKey(one)))
    .flatMap(({ verb, words }): readonly Cure[] => {
      const names = words.filter((word) => typeof word === 'string').filter((word) => !word.startsWith('-'));
      if (verb === 'start' || verb === 'restart' || verb === 'reboot') return [{ rung: verb, names, finding }];
      if (verb === 'cables') return [{ rung: 'measure', names: members, finding }];
      if (verb !== 'apply') return [];
      // Nothing newer in the file is applied: what lacks a start is only started.
      const { subject } = finding;
      return [
        subject?.kind === 'placement'
          ? { rung: 'start', names: [subject.name], finding }
          : { rung: 'network', names: members, finding },
      ];
    });
  return [...first, ...others];
}

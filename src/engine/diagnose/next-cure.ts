import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import type { NodeName } from '../../model/node.ts';
import { isPlacement, placementSubject, subjectNames, subjectNodes } from '../../model/subject.ts';
import { aside, commandKey, meshwright } from '../../model/text/command.ts';
import { commandsIn, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { ClientCounts, PlacementSurvey } from '../../rack/placement/check/placement-survey.ts';
import { longestQuietMs } from '../../rack/placement/mesh/read-mesh.ts';
import type { ChangedPlacement } from '../../rack/placement/state/recorded-settings.ts';
import type { Trouble } from './troubles.ts';

/** The cures of `recover`, smallest first. */
export const rungs = [
  'wait',
  'continue',
  'gateway',
  'instance',
  'network',
  'measure',
  'start',
  'stop',
  'restart',
  'reboot',
  'power-cycle',
] as const;

export type Rung = (typeof rungs)[number];

/** One cure, with the finding that asks for it. */
export interface Cure {
  readonly rung: Rung;
  /** Placements; for a network, a reboot, a measurement and a Mac to wait for, Macs. */
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
  readonly clients: readonly ClientCounts[];
  /** What differs between the file and the last starts. */
  readonly changed: readonly ChangedPlacement[];
  /** Placements whose cables were all measured as good since their Macs booted; undefined if none can be measured. */
  readonly cabled: readonly string[] | undefined;
  readonly observation: FleetObservation;
  /** The Macs whose power may be cut: those with an outlet in the file. */
  readonly outlets: readonly string[];
}

/** True if it returned a token, whatever else differs from the file. */
const answers = ({ state, silent }: PlacementSurvey): boolean =>
  state === 'serving' || (state === 'changed' && silent !== true);

/** The placements among these that should serve, but do not. */
export const silentPlacements = (
  { placements }: Pick<SeenTroubles, 'placements'>,
  names: readonly string[],
): readonly PlacementSurvey[] =>
  placements.filter((one) => names.includes(one.name) && one.wanted === 'serving' && !answers(one));

/** The problems of gateways that keep clients out although their placement serves. */
const closedGateways = ({ troubles }: SeenTroubles, names: readonly string[]): readonly Diagnostic[] =>
  troubles
    .map(({ finding }) => finding)
    .filter((one) => hasTrait(one, 'closed-gateway') && names.some((name) => isPlacement(one.subject, name)));

/**
 * The smallest cure that `doctor` names for these placements and that was not tried yet. `doctor` leaves out what a fact
 * excludes: a start on leaked memory, or a restart after a start that failed in this boot session.
 */
export function nextCure(seen: SeenTroubles, names: readonly string[], tried: readonly Cure[] = []): NextCure {
  const silent = silentPlacements(seen, names);
  const closed = closedGateways(seen, names);
  if (silent.length + closed.length === 0) return { kind: 'serving' };
  const about = seen.troubles.filter((one) => concerns(one, silent));
  const unknown = seen.changed.filter(({ isKnown }) => !isKnown);
  const newer = unknown.filter(({ name }) => silent.some((one) => one.name === name));
  const isNewer = (one: Cure): boolean => unknown.some(({ name }) => startsOf(one, seen).includes(name));
  const cures = [
    ...closed.map(openingCure),
    ...curesFor(seen, silent, { about, tried }).filter((one) => !isNewer(one)),
  ];
  const isNew = (one: Cure): boolean => !tried.some((before) => isSame(before, one));
  const late = curesAfterHands(seen, silent, { about, tried }).filter((one) => one.rung === 'measure' || isNew(one));
  const cure = cures.find(isNew) ?? late.find((one) => !isNewer(one));
  if (cure !== undefined) return { kind: 'cure', cure };
  const found = about.filter(({ stage }) => stage !== 'reported').map(({ finding }) => finding);
  const reasons = found.length > 0 ? found : silent.map(unexplained);
  return { kind: 'person', findings: [...closed, ...newer.map(newerFinding), ...reasons] };
}

/**
 * A person may have replaced a cable since every cure failed, which only a measurement shows. After each start, the
 * cables are measured once. Then a Mac whose cables are all dead is restarted; if all are good, one more start is tried.
 */
function curesAfterHands(
  seen: SeenTroubles,
  silent: readonly PlacementSurvey[],
  { about, tried }: { readonly about: readonly Trouble[]; readonly tried: readonly Cure[] },
): readonly Cure[] {
  const stopped = silent.filter(({ state, nodes }) => state === 'stopped' && nodes.length > 1);
  const isPulled = about.some(({ stage, finding }) => stage === 'cables' && finding.severity === 'error');
  if (seen.cabled === undefined || silent.length > stopped.length || isPulled) return [];
  const startedAt = tried.findLastIndex(({ rung }) => rung === 'restart' || rung === 'start' || rung === 'reboot');
  const isMeasured = tried.some(({ rung }, at) => rung === 'measure' && at > startedAt);
  return stopped.flatMap((one): readonly Cure[] => {
    const finding = about.find((own) => concerns(own, [one]) && hasTrait(own.finding, 'suspects-cable'))?.finding;
    if (finding === undefined) return [];
    if (!isMeasured) return [{ rung: 'measure', names: one.nodes, finding }];
    const dead = seen.troubles.filter(({ stage }) => stage === 'cables').flatMap((own) => deadMac(own.finding, one));
    if (dead.length > 0) return dead;
    return seen.cabled?.includes(one.name) ? [{ rung: 'start', names: [one.name], finding }] : [];
  });
}

/** The restart of a Mac at the end of several cables that carry nothing. */
const deadMac = (finding: Diagnostic, { nodes }: PlacementSurvey): readonly Cure[] =>
  commandsIn(finding.hint, subjectNames(finding.subject)).flatMap(({ verb, words }): readonly Cure[] => {
    const names = nodes.filter((node) => words.includes(node));
    return verb === 'reboot' && words.length === 1 && names.length === 1 ? [{ rung: 'reboot', names, finding }] : [];
  });

/** The placements that a cure starts: with a reboot, also others on these Macs. */
function startsOf({ rung, names }: Cure, { placements }: SeenTroubles): readonly string[] {
  if (rung === 'instance' || rung === 'start' || rung === 'restart') return names;
  if (rung !== 'reboot') return [];
  return placements.filter(({ nodes }) => nodes.some((node) => names.includes(node))).map(({ name }) => name);
}

const newerFinding = ({ name, words }: ChangedPlacement): Diagnostic =>
  diagnose('recover/settings-changed', {
    subject: placementSubject(name),
    detail: `Its last start had other settings than the file, which are only partly known: ${escapeText(words)}.`,
    hint: prose`To start it with the file's settings: ${meshwright('apply')}. To bring it back as it was, restore the older settings in the file, then: ${aside(meshwright('recover', name))}`,
  });

const openingCure = (finding: Diagnostic): Cure => ({
  ...{ rung: 'gateway', finding },
  names: finding.subject?.kind === 'placement' ? [finding.subject.name] : [],
});

function curesFor(
  seen: SeenTroubles,
  silent: readonly PlacementSurvey[],
  { about, tried }: { readonly about: readonly Trouble[]; readonly tried: readonly Cure[] },
): readonly Cure[] {
  const lost = silent.flatMap(({ nodes }) => nodes).flatMap((node) => seen.observation.failures[node] ?? []);
  // While a Mac is away, its part of every state is unknown, so nothing is started or restarted.
  if (lost.length > 0) return [...waitsFor(lost), ...powerCycles(waitsFor(lost), seen, tried)];
  const waits = silent
    .filter((one) => mayBeBusy(one, seen))
    .map((one): Cure => ({ rung: 'wait', names: [one.name], finding: findingOf(one, about) }))
    .filter((one) => !tried.some((before) => isSame(before, one)));
  if (waits.length > 0) return waits;
  // Unknown is never no: what could not be read on a Mac that answers is looked at by a person.
  const known = silent.filter(({ state }) => state !== 'unknown');
  const members = [...new Set(known.flatMap(({ nodes }) => nodes))];
  const suspended = known.filter((one) => one.suspended !== undefined).map(({ name }) => name);
  const dropped = known.filter(({ instance }) => instance === 'missing').map(({ name }) => name);
  const own = about.filter((one) => concerns(one, known));
  return [
    ...own.flatMap((one) => curesIn(one, { members, suspended, dropped })),
    ...own.flatMap((one) => stopsFor(one, known)),
  ].filter((one) => !disturbsUnknown(one, seen));
}

/** True if a cure acts on a whole Mac with a rank of a placement whose state is unknown although its Macs answer. */
const disturbsUnknown = (
  { rung, names }: Cure,
  { placements, observation: { failures } }: Pick<SeenTroubles, 'placements' | 'observation'>,
): boolean =>
  (rung === 'network' || rung === 'measure' || rung === 'reboot') &&
  placements.some(
    ({ state, nodes }) =>
      state === 'unknown' &&
      nodes.every((node) => (failures[node] ?? []).length === 0) &&
      nodes.some((node) => names.some((name) => name === node)),
  );

/** True if clients of a placement may still get their answers: a long prompt looks like a hang. */
export function mayBeBusy(
  { name, suspended, state, unasked }: PlacementSurvey,
  { clients }: Pick<SeenTroubles, 'clients'>,
): boolean {
  const status = clients.find(({ placement }) => placement === name)?.status;
  if (status?.kind !== 'known' || suspended !== undefined || (state !== 'hung' && unasked !== true)) return false;
  const { running, waiting, quietMs = 0 } = status.value;
  return running + waiting > 0 && quietMs < longestQuietMs;
}

const findingOf = (survey: PlacementSurvey, about: readonly Trouble[]): Diagnostic =>
  about.find(({ finding }) => isPlacement(finding.subject, survey.name))?.finding ?? unexplained(survey);

/**
 * Placements to stop before a person touches a cable: both ranks of a cable that is pulled while they use it crash.
 * @see mlx issue 4192
 */
const stopsFor = ({ finding, stage, restarts = [] }: Trouble, silent: readonly PlacementSurvey[]): readonly Cure[] =>
  stage !== 'cables'
    ? []
    : restarts
        .filter((name) => silent.some((one) => one.name === name))
        .map((name): Cure => ({ rung: 'stop', names: [name], finding }));

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

/** Cuts the power of Macs that did not come back; once, because after a failure the outlets may be wrong. */
function powerCycles(waits: readonly Cure[], { outlets }: SeenTroubles, tried: readonly Cure[]): readonly Cure[] {
  if (tried.some(({ rung }) => rung === 'power-cycle')) return [];
  return waits.flatMap((one): readonly Cure[] => {
    const names = one.names.filter((name) => outlets.includes(name));
    return names.length === 0 ? [] : [{ ...one, rung: 'power-cycle', names }];
  });
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
  {
    members,
    suspended,
    dropped,
  }: {
    readonly members: readonly NodeName[];
    readonly suspended: readonly string[];
    /** Placements that only lack their instance. */
    readonly dropped: readonly string[];
  },
): readonly Cure[] {
  const vain = refused.map(commandKey);
  const resumed = suspended.filter((name) => isPlacement(finding.subject, name));
  const created = dropped.filter((name) => isPlacement(finding.subject, name));
  const first: readonly Cure[] = [
    ...(resumed.length > 0 ? [{ rung: 'continue', names: resumed, finding } as const] : []),
    ...(created.length > 0 ? [{ rung: 'instance', names: created, finding } as const] : []),
  ];
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

import { incidentFolder, readIncidents } from '../../apply/journal/incidents.ts';
import { type Journal, newRunId, openJournal } from '../../apply/journal/journal.ts';
import { thisController } from '../../apply/lease/controller.ts';
import type { Performed } from '../../apply/playbook-report.ts';
import { joinedObservation } from '../../apply/reach/observe.ts';
import { everyNode } from '../../desired/layouts.ts';
import { placementsFor } from '../../desired/replicas.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import { type Cure, type NextCure, nextCure, silentPlacements } from '../../engine/diagnose/next-cure.ts';
import { nodesWithOutlet } from '../../engine/diagnose/outlet-check.ts';
import { type Incident, recoveriesIn } from '../../engine/diagnose/past-cures.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { RecoverDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { fitLines } from '../../report/page.ts';
import { cureText, type DoneCure, doneText, questionText, servingText, wrongLines } from '../../report/recover-text.ts';
import { placementsNamed } from '../cluster/targets.ts';
import { type ExitCode, exitCode } from '../exit-codes.ts';
import { journalsOf } from '../files/places.ts';
import { saveEvidence } from '../look/save-evidence.ts';
import { checkFleet, doctorParts } from '../look/status.ts';
import { allowedEffects } from '../plan/consent.ts';
import { askYes } from '../terminal/ask.ts';
import { diagnosticsJson, pageFor, paragraphText, withLine } from '../terminal/console.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { type Measured, membersOf, runCure } from './run-cure.ts';

/** `recover [name...]`: one cure after another, smallest first, until each placement returns a token. */
export const recover: VerbBody = async (run) => {
  const mayReboot = allowedEffects(run, ['reboot']).length > 0 || run.options.yes !== true;
  const first = await measure(run);
  const names = namesOf(run, first);
  const begun: Climb = { seen: first, next: nextCure(first, names), done: [], problems: [] };
  if (begun.next.kind === 'serving') return ended(run, names, begun, exitCode.done, servingText(names));
  const incidents = readIncidents(journalsOf(run, first.desired.name));
  showWrong(run, names, begun, incidents);
  if (begun.next.kind === 'person') return ended(run, names, begun, exitCode.handsNeeded);
  const { cure } = begun.next;
  if (run.own['check'] === true) return ended(run, names, begun, exitCode.changesPending, `Next: ${cureText(cure)}.`);
  const question = questionText(cure, { ...first, members: membersOf(first, names), incidents });
  // Room for the answer on the last line.
  if (!(await askYes(run, fitLines(question, pageFor(run.console).columns - ' [y/N] y'.length).join('\n'))))
    return ended(run, names, begun, exitCode.nothingChanged, 'Nothing was changed.');
  const startedAtMs = performance.now();
  const climbed = await booked(run, first.desired, (journal) => climb(run, names, begun, { mayReboot, journal }));
  const { next } = climbed;
  if (next.kind === 'serving')
    return ended(run, names, climbed, exitCode.done, servingText(names, performance.now() - startedAtMs));
  if (climbed.isHeld) return ended(run, names, climbed, exitCode.leaseHeld);
  showWrong(run, names, climbed, []);
  const again = prose`Then: ${meshwright('recover', ...run.words)}`;
  if (next.kind === 'person') return ended(run, names, climbed, exitCode.handsNeeded, again);
  if (run.signal.aborted) return ended(run, names, climbed, exitCode.failed);
  const more = prose`Next: ${cureText(next.cure)}. To allow it: ${meshwright('recover', ...run.words, '--yes', '--allow', 'reboot')}`;
  return ended(run, names, climbed, exitCode.handsNeeded, more);
};

/**
 * Brings back placements as a task of a playbook, which has asked already. One that was never started is left alone.
 * @returns the placements that still do not serve, and why
 */
export async function recoverPlacements(run: Run, wanted: readonly string[], mayReboot: boolean): Promise<Performed> {
  const first = await measure(run);
  const names = wanted.filter((name) =>
    first.placements.some((one) => one.name === name && one.state !== 'not-placed'),
  );
  const begun: Climb = { seen: first, next: nextCure(first, names), done: [], problems: [] };
  if (begun.next.kind === 'cure') showWrong(run, names, begun, readIncidents(journalsOf(run, first.desired.name)));
  const { seen, next, problems } =
    begun.next.kind === 'cure'
      ? await booked(run, first.desired, (journal) => climb(run, names, begun, { mayReboot, journal }))
      : begun;
  const failed = next.kind === 'serving' ? [] : silentPlacements(seen, names).map(({ name }) => name);
  const isByHand = next.kind === 'person' ? true : undefined;
  return {
    failed,
    diagnostics: next.kind === 'serving' ? [] : [...problems, ...findingsOf(next)],
    ...given({ isByHand }),
  };
}

/** What was measured last, what follows from it, and the cures so far. */
interface Climb {
  readonly seen: Measured;
  readonly next: NextCure;
  readonly done: readonly DoneCure[];
  /** Why cures failed. */
  readonly problems: readonly Diagnostic[];
  /** True if another run holds the Macs: it may be curing them, so this one goes no further. */
  readonly isHeld?: true;
  readonly incident?: string;
}

/**
 * One observation of the whole rack, with a token from each placement: the same as that of `doctor`.
 * @param known such an observation, if there is one
 */
async function measure(run: Run, known?: FleetObservation): Promise<Measured> {
  const { nodes: _nodes, label: _label, ...options } = run.options;
  const checked = await checkFleet({ ...run, words: [], options }, { isAsStarted: true, ...given({ seen: known }) });
  const { desired, locked, observation, placements, clients, changed, cabled } = checked;
  const { shown, document } = doctorParts(checked);
  const outlets = nodesWithOutlet(desired).map(({ name }) => name);
  const { troubles } = shown;
  const measured = { desired, started: locked, observation, placements, clients, changed, cabled, outlets };
  return { ...measured, troubles, document, atMs: performance.now() };
}

/**
 * The placements that should serve and once did: with these names or with a rank on these nodes; without names, all.
 * @throws FleetError `cli/usage` if there is none, `select/unknown-placement`
 */
function namesOf({ words }: Run, { desired: fleet, placements }: Measured): readonly string[] {
  const named = words.flatMap((word) => {
    const onNode = fleet.placements.filter((one) => everyNode(one).some((node) => node === word));
    const found = placementsFor(word, fleet);
    if (found.length > 0) return found;
    return onNode.length > 0 ? onNode : placementsNamed({ fleet }, word);
  });
  const chosen = words.length === 0 ? fleet.placements : named;
  const wanted = [...new Set(chosen.filter(({ state }) => state === 'serving').map(({ name }) => name))];
  const names = wanted.filter((name) => !placements.some((one) => one.name === name && one.state === 'not-placed'));
  if (names.length > 0) return names;
  const [first] = wanted;
  throw first === undefined
    ? usageError(
        'The file sets no such placement to serving, so there is nothing to recover.',
        prose`See: ${meshwright('status')}`,
      )
    : usageError(
        `${first} was never started, so there is nothing to bring back.`,
        prose`To start it: ${meshwright('apply')}`,
      );
}

/**
 * Runs the cures of an incident with its own journal.
 * @throws FleetError `journal/cannot-write` before anything is changed
 */
async function booked(run: Run, { name }: DesiredFleet, body: (journal: Journal) => Promise<Climb>): Promise<Climb> {
  const id = run.log?.nextRunId() ?? newRunId(new Date());
  const journal = openJournal(incidentFolder(journalsOf(run, name)), id, run.secrets);
  try {
    journal.write({ phase: 'run', cluster: name, verb: 'recover', controller: (await thisController()).name });
    const climbed = await body(journal);
    const isServing = climbed.next.kind === 'serving';
    journal.write({ phase: 'end', isInterrupted: run.signal.aborted, isServing });
    return { ...climbed, incident: id };
  } finally {
    journal.close();
  }
}

/** Runs one cure after another. After each one, a new measurement decides. */
async function climb(
  run: Run,
  names: readonly string[],
  begun: Climb,
  { mayReboot, journal }: { readonly mayReboot: boolean; readonly journal: Journal },
): Promise<Climb> {
  let now = begun;
  let isSaved = false;
  while (now.next.kind === 'cure' && !run.signal.aborted) {
    const { cure } = now.next;
    if ((cure.rung === 'reboot' || cure.rung === 'power-cycle') && !mayReboot) return now;
    const silent = silentPlacements(now.seen, names).map(({ name }) => name);
    // A stop or a reboot destroys it.
    if (!isSaved && cure.rung !== 'wait' && cure.rung !== 'gateway') {
      const placements = silentPlacements(now.seen, names);
      await saveEvidence(run, { ...now.seen, id: journal.runId, placements });
      isSaved = true;
      const saved = prose`Saved the evidence. To pack it: ${meshwright('bundle', journal.runId)}`;
      if (!run.options.json) run.console.out(paragraphText(run.console, saved));
    }
    journal.write({ phase: 'cure', rung: cure.rung, names: cure.names, placements: silent, code: cure.finding.code });
    const startedAtMs = performance.now();
    let last = undefined as Measured | undefined;
    const measureAgain = async (): Promise<Measured> => {
      last = await measure(run);
      return last;
    };
    const { exit, problems, hasChanged, observation } = await withLine(
      run.console,
      (seconds) => (isShownItself(run, cure) ? undefined : `${cureText(cure)}: ${seconds} s`),
      () => runCure(run, cure, { seen: now.seen, names, measure: measureAgain }),
    );
    const done = { cure, hasChanged, isDone: exit === exitCode.done, ms: performance.now() - startedAtMs };
    journal.write({ phase: 'cured', isDone: done.isDone, hasChanged, ms: done.ms });
    if (exit === exitCode.leaseHeld) return { ...now, problems, isHeld: true };
    if (!run.options.json) run.console.out(paragraphText(run.console, doneText(now.done.length + 1, done)));
    // A wait has just measured, and a final check has just observed.
    const seen = last ?? (await measure(run, finalObservation(now.seen, names, observation)));
    now = {
      seen,
      next: nextCure(seen, names, [...now.done.map((one) => one.cure), cure]),
      done: [...now.done, done],
      problems: [...now.problems, ...problems],
    };
  }
  return now;
}

/** The last observation with that of a final check, if it covers all Macs of these placements and is new. */
function finalObservation(
  { desired, observation: before }: Measured,
  names: readonly string[],
  now: FleetObservation | undefined,
): FleetObservation | undefined {
  if (now === undefined || now === before) return undefined;
  const members = desired.placements.filter(({ name }) => names.includes(name)).flatMap(everyNode);
  return members.every((node) => Object.hasOwn(now.nodes, node)) ? joinedObservation(before, now) : undefined;
}

/** These cures show what they wait for; with `--json`, none does. */
const isShownItself = ({ options }: Run, { rung }: Cure): boolean =>
  options.json === true || rung === 'wait' || rung === 'measure' || rung === 'power-cycle';

function showWrong(
  { console, options }: Run,
  names: readonly string[],
  { seen, next }: Climb,
  incidents: readonly Incident[],
): void {
  if (options.json) return;
  const past = names.flatMap((name) => recoveriesIn(incidents, name, Date.now()) ?? []);
  const silent = silentPlacements(seen, names);
  const isSilent = (name: string): boolean => silent.some((one) => one.name === name);
  const clients = seen.clients.filter(({ placement }) => isSilent(placement));
  const changed = seen.changed.filter(({ name }) => isSilent(name));
  const lines = wrongLines({ silent, clients, changed, past, next }, pageFor(console));
  console.out(`${lines.join('\n')}\n`);
}

function findingsOf(next: NextCure): readonly Diagnostic[] {
  if (next.kind === 'cure') return [next.cure.finding];
  return next.kind === 'person' ? next.findings : [];
}

function ended(
  run: Run,
  names: readonly string[],
  { seen, next, done, problems, incident }: Climb,
  exit: ExitCode,
  text: Prose = '',
) {
  const document: RecoverDocument = {
    ...documentHead(run.console, { cluster: seen.desired.name }),
    ...given({ incident }),
    placements: Object.fromEntries(
      seen.placements.filter(({ name }) => names.includes(name)).map(({ name, state }) => [name, { state }]),
    ),
    cures: done.map(({ cure: { rung, names: of, finding }, isDone, ms }) => ({
      rung,
      names: of,
      code: finding.code,
      done: isDone,
      milliseconds: Math.round(ms),
    })),
    ...(next.kind === 'cure' ? { next: { rung: next.cure.rung, names: next.cure.names } } : {}),
    measured: seen.document,
    diagnostics: diagnosticsJson(run.console, [...problems, ...findingsOf(next)]),
  };
  return {
    exit: exitOfSignal(run.signal) ?? exit,
    document,
    // They ask for work that a later cure has made needless.
    problems: next.kind === 'serving' ? [] : problems,
    text: text === '' ? '' : paragraphText(run.console, text),
  };
}

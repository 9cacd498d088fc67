import { isDone } from '../../apply/execute.ts';
import { type PlaybookReport, stepsOf } from '../../apply/playbook-report.ts';
import { suggesterAmong } from '../../desired/did-you-mean.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredModel } from '../../model/desired.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { modelSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { usedModels } from '../../rack/artifacts/models/model-resource.ts';
import { actOn, type CommandSpec } from '../apply/act-on.ts';
import { reaching } from '../apply/final-check.ts';
import { type OpenedCluster, openCluster, refuseAny, targetedNodes } from '../cluster/open-cluster.ts';
import { lockedFleet, settleFromLock } from '../cluster/settle-cluster.ts';
import { wantsAll } from '../cluster/targets.ts';
import { createConsent } from '../plan/consent.ts';
import { withSimulatedServers } from '../sources/simulated-web.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { isListable, lockModels } from './lock.ts';

export const modelsPull: VerbBody = async (run) => {
  const first = openCluster(run);
  const isLocked = await lockMissing(run, first, wantedModels(run, ...(await readersOf(run, first))));
  const opened = isLocked ? openCluster(run) : first;
  const isDetached = run.own['detach'] === true;
  const [fleet, readers] = await readersOf(run, opened);
  const models = wantedModels(run, fleet, readers);
  const names = models.map(({ name }) => name);
  refuseAny(models.flatMap((one) => notReady(one, isDetached)));
  const targets = readers.filter((one) => one.models.some((name) => names.includes(name))).map(({ node }) => node);
  const { check, ...common } = reaching({ kind: 'pull', names, isDetached }, { desired: fleet, targets });
  const command: CommandSpec = {
    verb: 'models pull',
    ...common,
    consent: createConsent(run, {}),
    // After --detach, nothing is complete yet.
    ...(isDetached
      ? { ending: ({ report }) => ({ closing: detachedLines(names, report) }) }
      : { check, ending: () => ({ checked: 'the models are complete' }) }),
  };
  return actOn(run, command, settleFromLock(run, opened));
};

/** A targeted node with the models that its placements read. */
interface Reader {
  readonly node: NodeName;
  readonly models: readonly string[];
}

async function readersOf(run: Run, opened: OpenedCluster): Promise<readonly [DesiredFleet, readonly Reader[]]> {
  const locked = lockedFleet(run, opened);
  const fleet = { ...locked, models: await withSimulatedServers(run, opened.path, locked.models) };
  const readers = targetedNodes(run, fleet, []).map((desired) => ({
    node: desired.name,
    models: usedModels(fleet, { desired }).map(({ name }) => name),
  }));
  return [fleet, readers];
}

/**
 * Lists the files of models that the lock does not have yet, where a person sees them, and in a rehearsal. Only `models
 * lock` has nodes list their folders.
 * @returns true if the lock was written
 */
async function lockMissing(run: Run, opened: OpenedCluster, models: readonly DesiredModel[]): Promise<boolean> {
  const isSeen = run.options.sim === true || (run.console.canAsk && !run.options.json);
  const missing = models.filter(({ digest }) => digest === undefined).map(({ name }) => name);
  const unlocked = opened.fleet.models.filter(
    (one) => missing.includes(one.name) && one.source.kind !== 'node' && isListable(one),
  );
  if (!isSeen || unlocked.length === 0) return false;
  const { additions, diagnostics, isWritten, shown } = await lockModels(run, opened, unlocked);
  refuseAny(diagnostics);
  if (!run.options.json) run.console.out(`${[`New in ${shown}:`, ...additions].join('\n  ')}\n\n`);
  return isWritten;
}

/** What comes next after `--detach`. */
function detachedLines(names: readonly string[], { works }: PlaybookReport): readonly Prose[] {
  if (stepsOf({ works }).some((one) => one.step.act.kind === 'job' && isDone(one))) {
    return [
      prose`The nodes continue without this computer. To follow them: ${meshwright('models list', ...names)}`,
      prose`The next apply publishes the models. To publish them without it: ${meshwright('models pull', ...names)}`,
    ];
  }
  const isComplete = works.every(
    ({ plan, failed }) => failed.length === 0 && plan?.steps.length === 0 && plan.waiting.length === 0,
  );
  return isComplete ? [prose`The nodes already have the models.`] : [];
}

/**
 * The named models; with `--all`, those that are read by a targeted node.
 * @throws FleetError `cli/usage`
 */
function wantedModels(run: Run, { models }: DesiredFleet, readers: readonly Reader[]): readonly DesiredModel[] {
  const readable = readers.flatMap((one) => one.models);
  const isAll = wantsAll(run, 'Model');
  const { words } = run;
  const names = models.map(({ name }) => name);
  if (words.length === 0 && !isAll) {
    throw usageError('No model was specified.', `Name models, or add --all. Models in the file: ${listText(names)}.`);
  }
  const strange = words.find((word) => !names.includes(word));
  if (strange !== undefined) {
    const near = suggesterAmong(names)(strange);
    throw usageError(
      `There is no model \`${strange}\` in the file.`,
      near === undefined ? `Models in the file: ${listText(names)}.` : `Did you mean \`${near}\`?`,
    );
  }
  const unread = isAll ? [] : words.filter((word) => !readable.includes(word));
  if (unread.length > 0 || readable.length === 0) {
    throw usageError(
      `No placement on these nodes reads ${unread.length === 0 ? 'a model' : listText(unread)}.`,
      'Add a placement with the model to the file first; with `state: stopped`, apply does not start it.',
    );
  }
  return models.filter(({ name }) => (isAll ? readable : words).includes(name));
}

/** Why a model cannot be brought: its list of files is not in the lock, or only this computer can send it. */
function notReady({ name, digest, source }: DesiredModel, isDetached: boolean): readonly Diagnostic[] {
  if (isDetached && source.kind === 'controller') {
    throw usageError(
      `This computer sends ${name}, so it cannot disconnect.`,
      'Leave out --detach, or name only models that the nodes download or have in a folder.',
    );
  }
  if (digest !== undefined) return [];
  const unlocked = diagnose('model/unresolved', {
    subject: modelSubject(name),
    detail: `The lock does not list the files of ${name}.`,
    hint: prose`To list them: ${meshwright('models lock', name)}`,
  });
  return [{ ...unlocked, severity: 'error' }];
}

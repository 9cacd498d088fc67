import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ForeseenBatch } from '../../apply/playbook-report.ts';
import { didYouMean } from '../../desired/did-you-mean.ts';
import { selectNodes } from '../../desired/select.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { needsTargets, nodesOfPlays } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import { isOwnPlaybook, ownPlaybooks } from '../../engine/playbooks/own-playbooks.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type OpenedCluster, openCluster, refuseErrors, refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { namedNodes } from '../cluster/targets.ts';
import { needTrust, noticeRequests } from '../cluster/trust.ts';
import { exitCode } from '../exit-codes.ts';
import { readFile, readIfThere, shownPath } from '../files/read-file.ts';
import { allowedEffects, createConsent } from '../plan/consent.ts';
import { pageFor, paragraphText, showDiagnostics } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { actOn, isShipped, playbookFolder } from './act-on.ts';
import { performer } from './perform-task.ts';
import { batchesJson, effectsOf, hasActs, hasUnchecked, previewText, unseenIn, untouchedLines } from './preview.ts';
import type { RunOutcome } from './run-outcome.ts';

export const runFile: VerbBody = async (run) => {
  const [file, ...words] = run.words;
  if (file === undefined)
    throw usageError('No playbook was specified.', prose`Name its file: ${meshwright('run', 'playbook.yaml')}`);
  const opened = openCluster(run);
  const named: Run = { ...run, words };
  const { playbook, shown } = openPlaybook(named, file, opened.fleet);
  const cluster = await settleFor(run, playbook, opened);
  const { fleet } = cluster;
  const scope = { desired: fleet, targets: targetsOf(named, playbook, fleet) };
  const judged = nodesOfPlays(playbook.plays, scope);
  const allowable = ['interrupt', 'reboot', 'locked-reboot', 'shutdown', 'rdma-start'] as const;
  const consent = createConsent(run, { allowable });
  const allowed = allowedEffects(run, allowable);
  const mayReboot = allowed.includes('reboot');
  const isCheck = run.own['check'] === true;
  const context = { desired: fleet, mayReboot };
  let batches: readonly ForeseenBatch[] = [];
  const foresee = async (all: readonly ForeseenBatch[]): Promise<boolean> => {
    batches = all;
    if (!run.options.json)
      run.console.out(`${previewText(playbook, batches, { ...context, page: pageFor(run.console) })}\n`);
    return !isCheck && (!hasActs(batches) || (await consent.giveAll(effectsOf(batches), `Run ${shown}?`)));
  };
  // The file is read again, because its labels may change while a long playbook runs.
  const labelledNow = (labels: readonly string[]) =>
    selectNodes(openCluster(run).fleet, { names: [], labels }).nodes.map(({ name }) => name);
  const notices = playbook.plays.flatMap(({ tasks, rescue = [] }) =>
    [...tasks, ...rescue].flatMap((task) => (task.kind === 'notify' ? [task.command] : [])),
  );
  if (!isCheck && run.options.sim !== true) await needTrust(run, noticeRequests(notices, shown));
  const perform = performer(run, { folder: dirname(opened.path), allowed });
  const ahead = { foresee, checksBaked: true, labelledNow, perform } as const;
  const check = () => ({ targets: judged });
  const ending = ({ report }: RunOutcome) => ({ closing: untouchedLines(batches, report, fleet) });
  const ended = await actOn(run, { verb: 'run', playbook, file: shown, scope, consent, ahead, check, ending }, cluster);
  const document = { ...ended.document, ...given({ batches: batchesJson(batches, context) }) };
  if (!isCheck || ended.outcome.report.isInterrupted) return { ...ended, document };
  const isUnseen = unseenIn(batches).length > 0;
  const exit = isUnseen ? exitCode.partial : hasActs(batches) ? exitCode.changesPending : exitCode.done;
  const again = meshwright('run', file, ...words, ...(run.own['all'] === true ? ['--all'] : []));
  const unchecked = hasUnchecked(playbook) ? ' No window or blocker was evaluated, and no notice was sent.' : '';
  const text = paragraphText(run.console, prose`Checked only: nothing was changed.${unchecked} To run it: ${again}`);
  return { ...ended, exit, document: { ...document, exit, exits: [exit] }, text };
};

/** Tasks that compare nodes with the whole file need a complete lock. All other tasks act on applied placements. */
async function settleFor(run: Run, { plays }: Playbook, opened: OpenedCluster): Promise<SettledCluster> {
  const tasks = plays.flatMap((play) => play.tasks);
  const isWhole = tasks.some(
    (task) => task.kind === 'converge' || task.kind === 'verify' || (task.kind === 'upgrade' && task.what !== 'macos'),
  );
  if (!isWhole) return settleFromLock(run, opened);
  const cluster = await settleCluster(run, opened);
  refuseUnresolved(run, cluster);
  return cluster;
}

/** @throws FleetError `cli/cannot-read`, or all errors in the file with their positions */
function openPlaybook(
  run: Run,
  file: string,
  fleet: DesiredFleet,
): { readonly playbook: Playbook; readonly shown: string } {
  const isOwn = isOwnPlaybook(file);
  const path = isOwn ? fileURLToPath(new URL(`${file}.yaml`, playbookFolder)) : resolve(run.folder, file);
  const shown = isOwn ? file : shownPath(run.folder, path);
  if (!isOwn && /^[a-z-]+$/.test(file) && readIfThere(path, shown) === undefined) {
    const near = didYouMean(file, ownPlaybooks);
    const guess = near === undefined ? '' : prose`Did you mean \`${near}\`? `;
    const verb = isShipped(file) ? prose`${file} is a command: ${meshwright(file)}. ` : guess;
    throw usageError(
      `There is no file ${file} here.`,
      prose`${verb}Name a playbook by its file name, such as ./own.yaml, or use one of these: ${listText(ownPlaybooks)}.`,
    );
  }
  const read = readFile(path, shown);
  if (!isOwn) refuseOpenToOthers(run, shown, read);
  const { bytes, text } = read;
  const origin = { file: shown, name: basename(shown), fleet };
  const first = loadPlaybook(bytes, origin);
  refuseErrors(first.diagnostics, { [shown]: text });
  const isTargeted = first.playbook !== undefined && needsTargets(first.playbook.plays);
  const targets = isTargeted ? namedNodes(run, fleet).map(({ name }) => name) : [];
  const { playbook, diagnostics } = isTargeted ? loadPlaybook(bytes, { ...origin, targets }) : first;
  refuseErrors(diagnostics, { [shown]: text });
  if (playbook === undefined) throw new Error('a playbook without errors was read');
  if (!run.options.json && !hasErrors(diagnostics)) showDiagnostics(run.console, diagnostics, { [shown]: text });
  return { playbook, shown };
}

/** The nodes named on the command line; a playbook with `nodes: targets` requires at least one. */
function targetsOf(run: Run, playbook: Playbook, fleet: DesiredFleet): readonly NodeName[] {
  const isNamed = run.words.length > 0 || run.own['all'] === true;
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (needsTargets(playbook.plays)) return namedNodes(run, fleet).map(({ name }) => name);
  if (isNamed || isNarrowed) {
    throw usageError('This playbook names its own nodes.', 'Leave out the nodes, or write `nodes: targets` in it.');
  }
  return [];
}

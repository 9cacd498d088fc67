import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ForeseenBatch } from '../../apply/playbook-report.ts';
import { didYouMean } from '../../desired/did-you-mean.ts';
import { everyNode } from '../../desired/layouts.ts';
import { selectNodes } from '../../desired/select.ts';
import { archiveCode } from '../../desired/settle/settle-runtime.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError, hasErrors } from '../../diagnostics/diagnostic.ts';
import { needsTargets, nodesOfPlays } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import { isOwnPlaybook, ownPlaybooks } from '../../engine/playbooks/own-playbooks.ts';
import type { Playbook, Task } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { listText } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import { runtimeSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { withMadeRuntimes } from '../../rack/artifacts/runtimes/list-packages.ts';
import { type OpenedCluster, openCluster, refuseErrors, refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { refuseUnresolved, settleCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { namedNodes } from '../cluster/targets.ts';
import { needTrust, noticeRequests } from '../cluster/trust.ts';
import { exitCode } from '../exit-codes.ts';
import { readFile, readIfThere, shownPath } from '../files/read-file.ts';
import { allowedEffects, type Consent, createConsent } from '../plan/consent.ts';
import { pageFor, paragraphText, showDiagnostics } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { actOn, isShipped, playbookFolder } from './act-on.ts';
import { performer } from './perform-task.ts';
import { batchesJson, effectsOf, hasActs, hasUnchecked, previewText, unseenIn, untouchedLines } from './preview.ts';
import type { RunOutcome } from './run-outcome.ts';
import { settleWish } from './upgrade-runtime.ts';

export const runFile: VerbBody = async (run) => {
  const [file, ...words] = run.words;
  if (file === undefined)
    throw usageError('No playbook was specified.', prose`Name its file: ${meshwright('run', 'playbook.yaml')}`);
  const opened = openCluster(run);
  const named: Run = { ...run, words };
  const { playbook, shown } = openPlaybook(named, file, opened.fleet);
  const allowable = ['interrupt', 'reboot', 'locked-reboot', 'shutdown', 'rdma-start'] as const;
  const consent = createConsent(run, { allowable });
  const isCheck = run.own['check'] === true;
  const tasks = playbook.plays.flatMap((play) => [...play.tasks, ...(play.rescue ?? [])]);
  const notices = tasks.flatMap((task) => (task.kind === 'notify' ? [task.command] : []));
  if (!isCheck && run.options.sim !== true) await needTrust(run, noticeRequests(notices, shown));
  const targets = targetsOf(named, playbook, opened.fleet);
  const judged = nodesOfPlays(playbook.plays, { desired: opened.fleet, targets });
  const cluster = await settleFor(run, playbook, { opened, tasks, judged, consent });
  const { fleet, additions, lockPlace } = cluster;
  const lines = additions.length === 0 ? '' : `New in ${lockPlace.shown}: ${additions.join('; ')}.`;
  const added = lines && `${paragraphText(run.console, lines)}\n`;
  const lockText = (): string | undefined => readIfThere(lockPlace.path, lockPlace.shown)?.text;
  const before = lockText();
  const scope = { desired: fleet, targets };
  const allowed = allowedEffects(run, allowable);
  const context = { desired: fleet, mayReboot: allowed.includes('reboot') };
  let batches: readonly ForeseenBatch[] = [];
  const foresee = async (all: readonly ForeseenBatch[]): Promise<boolean> => {
    batches = all;
    const text = previewText(playbook, batches, { ...context, page: pageFor(run.console) });
    if (!run.options.json) run.console.out(`${text}\n${added}`);
    return (
      !isCheck &&
      !run.signal.aborted &&
      (!hasActs(batches, { withRescues: true }) || (await consent.giveAll(effectsOf(batches), `Run ${shown}?`)))
    );
  };
  // The file is read again, because its labels may change while a long playbook runs.
  const labelledNow = (labels: readonly string[]) =>
    selectNodes(openCluster(run).fleet, { names: [], labels }).nodes.map(({ name }) => name);
  const perform = performer(run, { folder: dirname(opened.path), allowed, agreed: () => effectsOf(batches) });
  const ahead = { foresee, checksBaked: true, labelledNow, perform } as const;
  const check = () => ({ targets: judged });
  const ending = ({ report }: RunOutcome) => ({
    closing: untouchedLines(batches, report, fleet),
    lock: { written: lockText() !== before, additions },
  });
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

interface SettleOptions {
  readonly opened: OpenedCluster;
  /** The tasks of all plays, with their rescues. */
  readonly tasks: readonly Task[];
  /** The nodes of all plays. */
  readonly judged: readonly NodeName[];
  readonly consent: Consent;
}

/**
 * Tasks that compare nodes with the whole file need a complete lock. All other tasks act on applied placements, and
 * upgrades on the versions in the file of their runtimes. Their missing lists of packages are made first; with
 * `--check`, such a version has a made-up digest.
 * @throws FleetError for a version that cannot be had
 */
async function settleFor(run: Run, { plays }: Playbook, { opened, tasks, judged, consent }: SettleOptions) {
  const isWhole = plays.some((play) => play.tasks.some(({ kind }) => kind === 'converge' || kind === 'verify'));
  let cluster = isWhole ? await settleCluster(run, opened) : settleFromLock(run, opened);
  if (isWhole) refuseUnresolved(run, cluster);
  const ours = cluster.fleet.placements.filter((one) => everyNode(one).some((node) => judged.includes(node)));
  const applied = ours.map(({ runtime }) => runtime);
  const wanted = tasks.flatMap((task) => (isWhole || task.kind !== 'upgrade' ? [] : [task.what]));
  const names = wanted.flatMap((what) => (what === 'runtimes' ? applied : what === 'macos' ? [] : [what.runtime]));
  const additions: string[] = [];
  if (names.length === 0) return { ...cluster, additions };
  for (const name of new Set(names)) {
    if (run.signal.aborted) break;
    cluster = await settleWish({ ...run, words: [name] }, cluster, { ways: openTargets(run, opened), consent });
    additions.push(...cluster.additions);
  }
  const fleet = run.own['check'] === true ? withMadeRuntimes(cluster.fleet) : cluster.fleet;
  const lost = fleet.runtimes.find(({ digest }) => digest === undefined);
  if (lost?.unread === undefined || run.signal.aborted) return { ...cluster, fleet, additions };
  const { kind, ...why } = lost.unread;
  const found = diagnose(archiveCode(kind), { severity: 'error', subject: runtimeSubject(lost.name), ...why });
  throw new FleetError([{ ...found, exit: exitCode.nothingChanged }]);
}

/** @throws FleetError `cli/cannot-read`, or all errors in the file with their positions */
function openPlaybook(run: Run, file: string, fleet: DesiredFleet) {
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

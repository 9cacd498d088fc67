import { basename, resolve } from 'node:path';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { needsTargets, type PlayScope, playNodes } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type OpenedCluster, openCluster, refuseErrors, refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { namedNodes } from '../cluster/targets.ts';
import { openWays } from '../cluster/ways.ts';
import { readFile, readIfThere, shownPath } from '../files/read-file.ts';
import { showDiagnostics } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { type Action, actOn, isShipped } from './act-on.ts';

const allowable = ['interrupt', 'reboot', 'shutdown', 'rdma-start'] as const;

/** `run FILE [NODE…|--all]`: runs a playbook of one's own. */
export const runFile: VerbBody = async (run) => {
  const [file, ...words] = run.words;
  if (file === undefined)
    throw usageError('No playbook is named.', prose`Name its file: ${meshwright('run', 'playbook.yaml')}`);
  const opened = openCluster(run);
  const { playbook, shown } = openPlaybook(run, file, opened.fleet);
  const cluster = await settleFor(run, playbook, opened);
  const { fleet } = cluster;
  const scope = { desired: fleet, targets: targetsOf({ ...run, words }, playbook, fleet) };
  const ways = openWays(run, cluster.opened);
  const judged = judgedNodes(playbook, scope);
  const action: Action = { verb: 'run', playbook, file: shown, scope, named: [], allowable, judged };
  return actOn(run, action, { cluster, ways });
};

/** What brings nodes to the file needs the whole of it, and a lock that has it all; the rest acts on what was applied. */
async function settleFor(run: Run, { plays }: Playbook, opened: OpenedCluster): Promise<SettledCluster> {
  const tasks = plays.flatMap((play) => play.tasks);
  if (!tasks.some(({ kind }) => kind === 'converge' || kind === 'verify')) return settleFromLock(run, opened);
  const cluster = await settleCluster(run, opened);
  refuseUnresolved(run, cluster);
  return cluster;
}

/** @throws FleetError `cli/cannot-read`, or every mistake of the file with its place */
function openPlaybook(
  run: Run,
  file: string,
  fleet: DesiredFleet,
): { readonly playbook: Playbook; readonly shown: string } {
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  if (/^[a-z]+$/.test(file) && readIfThere(path, shown) === undefined) {
    const verb = isShipped(file) ? prose`${file} is a verb: ${meshwright(file)}. ` : '';
    throw usageError(
      `There is no file ${file} here.`,
      prose`${verb}A playbook is named by its file, such as ./own.yaml.`,
    );
  }
  const read = readFile(path, shown);
  refuseOpenToOthers(run, shown, read);
  const { bytes, text } = read;
  const { playbook, diagnostics } = loadPlaybook(bytes, { file: shown, name: basename(shown), fleet });
  refuseErrors(diagnostics, { [shown]: text });
  if (playbook === undefined) throw new Error('a playbook without errors was read');
  if (!run.options.json && !hasErrors(diagnostics)) showDiagnostics(run.console, diagnostics, { [shown]: text });
  return { playbook, shown };
}

/** The nodes that the command line names; a playbook that asks for them must be given some. */
function targetsOf(run: Run, playbook: Playbook, fleet: DesiredFleet): readonly NodeName[] {
  const isNamed = run.words.length > 0 || run.own['all'] === true;
  const isNarrowed = run.options.nodes !== undefined || run.options.label !== undefined;
  if (needsTargets(playbook.plays)) return namedNodes(run, fleet).map(({ name }) => name);
  if (isNamed || isNarrowed) {
    throw usageError('This playbook names its nodes itself.', 'Leave the nodes out, or write `nodes: targets` in it.');
  }
  return [];
}

function judgedNodes({ plays }: Playbook, scope: PlayScope): readonly NodeName[] {
  const meant = new Set(plays.flatMap((play) => playNodes(play, scope)));
  return scope.desired.nodes.map(({ name }) => name).filter((name) => meant.has(name));
}

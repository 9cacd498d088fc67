import { basename, resolve } from 'node:path';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { needsTargets, nodesOfPlays } from '../../engine/playbooks/expand.ts';
import { loadPlaybook } from '../../engine/playbooks/load.ts';
import type { Playbook } from '../../engine/playbooks/playbook.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type OpenedCluster, openCluster, refuseErrors, refuseOpenToOthers } from '../cluster/open-cluster.ts';
import { refuseUnresolved, type SettledCluster, settleCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { namedNodes } from '../cluster/targets.ts';
import { readFile, readIfThere, shownPath } from '../files/read-file.ts';
import { createConsent } from '../plan/consent.ts';
import { showDiagnostics } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { actOn, isShipped } from './act-on.ts';

export const runFile: VerbBody = async (run) => {
  const [file, ...words] = run.words;
  if (file === undefined)
    throw usageError('No playbook was specified.', prose`Name its file: ${meshwright('run', 'playbook.yaml')}`);
  const opened = openCluster(run);
  const { playbook, shown } = openPlaybook(run, file, opened.fleet);
  const cluster = await settleFor(run, playbook, opened);
  const { fleet } = cluster;
  const scope = { desired: fleet, targets: targetsOf({ ...run, words }, playbook, fleet) };
  const judged = nodesOfPlays(playbook.plays, scope);
  const consent = createConsent(run, { allowable: ['interrupt', 'reboot', 'locked-reboot', 'shutdown', 'rdma-start'] });
  return actOn(
    run,
    { verb: 'run', playbook, file: shown, scope, consent, check: () => ({ targets: judged }) },
    cluster,
  );
};

/** Tasks that compare nodes with the whole file need a complete lock. All other tasks act on applied placements. */
async function settleFor(run: Run, { plays }: Playbook, opened: OpenedCluster): Promise<SettledCluster> {
  const tasks = plays.flatMap((play) => play.tasks);
  if (!tasks.some(({ kind }) => kind === 'converge' || kind === 'verify')) return settleFromLock(run, opened);
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
  const path = resolve(run.folder, file);
  const shown = shownPath(run.folder, path);
  if (/^[a-z]+$/.test(file) && readIfThere(path, shown) === undefined) {
    const verb = isShipped(file) ? prose`${file} is a command: ${meshwright(file)}. ` : '';
    throw usageError(
      `There is no file ${file} here.`,
      prose`${verb}Name a playbook by its file name, such as ./own.yaml.`,
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

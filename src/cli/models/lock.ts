import { dirname } from 'node:path';
import { suggesterAmong } from '../../desired/did-you-mean.ts';
import { listedSource, settleModel, sourcesToRead } from '../../desired/settle/settle-trees.ts';
import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import { documentHead } from '../../diagnostics/json.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredModel } from '../../model/desired.ts';
import { listText } from '../../model/lists.ts';
import { hang } from '../../report/page.ts';
import { changeLock, type OpenedCluster, openCluster } from '../cluster/open-cluster.ts';
import { lockBefore } from '../cluster/settle-cluster.ts';
import { codeForNodes, exitCode, firstOf } from '../exit-codes.ts';
import { listSources } from '../sources/list-sources.ts';
import { withSimulatedServers } from '../sources/simulated-web.ts';
import { diagnosticsJson, logFindings } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';
import { listNodeFolders } from './node-folders.ts';

export const modelsLock: VerbBody = async (run) => {
  const opened = openCluster(run);
  const chosen = chosenModels(run, opened.fleet.models);
  const { diagnostics, additions, read, isWritten, isLeased, shown } = await lockModels(run, opened, chosen);
  logFindings(run, diagnostics);
  const last = isWritten
    ? `${shown} was written.`
    : read.length === 0
      ? `${shown} was not changed.`
      : `${shown} already has ${read.length === 1 ? 'this model' : 'these models'}; nothing was changed.`;
  const lines = [...additions, last].flatMap((line) => hang('', line, run.console.columns));
  const bad = new Set(diagnostics.flatMap(({ subject }) => (subject?.kind === 'model' ? [subject.name] : [])));
  const code = codeForNodes(chosen.map(({ name }) => (bad.has(name) ? 'wrong' : 'fine')));
  return {
    exit: isLeased ? firstOf([code, exitCode.leaseHeld]) : code,
    document: {
      ...documentHead(run.console, { cluster: opened.fleet.name }),
      models: read,
      lockAdditions: additions,
      lock: { file: shown, written: isWritten },
      diagnostics: diagnosticsJson(run.console, diagnostics),
    },
    text: `${lines.join('\n')}\n`,
    findings: diagnostics,
  };
};

/** True for a model whose list of files is in the lock. */
export const isListable = (one: DesiredModel): boolean => listedSource(one) !== undefined;

export async function lockModels(run: Run, opened: OpenedCluster, models: readonly DesiredModel[]) {
  const baseFolder = dirname(opened.path);
  const { lock, lockPlace } = lockBefore(run, opened);
  const chosen = await withSimulatedServers(run, opened.path, models);
  const places = sourcesToRead({ runtimes: [], models: chosen }, { models: {}, runtimes: {} }, baseFolder);
  const onNodes = { isLeased: false };
  const sources = await listSources(run, opened, places, async (_run, _opened, asked) => {
    const listed = await listNodeFolders(run, opened, asked);
    onNodes.isLeased = listed.isLeased;
    return listed;
  });
  const settled = chosen.map((one) => {
    // Without a new list, the one in the lock is no answer.
    const isRead = sources.folders[one.name]?.kind === 'known';
    const { downloads } = opened.fleet;
    return settleModel(one, { lock: isRead ? lock : { ...lock, models: {} }, sources, baseFolder, downloads });
  });
  const diagnostics = settled
    .flatMap((one): readonly Diagnostic[] => one.diagnostics)
    .map((one): Diagnostic => ({ ...one, severity: 'error' }));
  const read = settled.flatMap(({ wanted, locked, diagnostics: found }) =>
    locked === undefined || hasErrors(found) || wanted.unread !== undefined ? [] : [[wanted.name, locked] as const],
  );
  const change = (now: ClusterLock): ClusterLock => ({
    ...now,
    models: { ...now.models, ...Object.fromEntries(read) },
  });
  const isWritten = read.length > 0 && (await changeLock(lockPlace, change));
  const additions = settled.flatMap((one) => one.additions);
  return {
    diagnostics,
    additions,
    read: read.map(([name]) => name),
    isWritten,
    isLeased: onNodes.isLeased,
    shown: lockPlace.shown,
  };
}

/** The named models whose lists are in the lock, or all of them. @throws FleetError `cli/usage` for another name */
function chosenModels({ words }: Run, models: readonly DesiredModel[]): readonly DesiredModel[] {
  const listed = models.filter(isListable);
  const names = listed.map(({ name }) => name);
  if (names.length === 0) {
    throw usageError(
      'No model in the file has its list of files in the lock.',
      'The lock has the lists of models from hf: repositories, and of folders and servers without `files`.',
    );
  }
  const strange = words.find((word) => !names.includes(word));
  if (strange === undefined) return words.length === 0 ? listed : listed.filter(({ name }) => words.includes(name));
  const isInFile = models.some(({ name }) => name === strange);
  const near = suggesterAmong(names)(strange);
  throw usageError(
    isInFile
      ? `The cluster file itself lists the files of ${strange}.`
      : `There is no model \`${strange}\` in the file.`,
    near === undefined ? `Models to lock: ${listText(names)}.` : `Did you mean \`${near}\`?`,
  );
}

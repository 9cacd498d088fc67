import { withoutNode } from '../../desired/settle/settle.ts';
import { documentHead } from '../../diagnostics/json.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import { listText } from '../../model/lists.ts';
import { changeLock, type LockPlace, lockPlaceOf, openCluster, readLock } from '../cluster/open-cluster.ts';
import { exitCode } from '../exit-codes.ts';
import { askYes } from '../terminal/ask.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

export const forget: VerbBody = async (run) => {
  const opened = openCluster(run);
  const place = lockPlaceOf(run, opened);
  const names = forgettable(run, readLock(place), opened.fleet.nodes);
  const question = `Nothing is removed from the Macs themselves. Remove ${listText(names)} from ${place.shown}?`;
  if (!(await askYes(run, question))) return exitCode.nothingChanged;
  await changeLock(place, (now) => names.reduce(withoutNode, now));
  const document = { ...documentHead(run.console), lock: place.path, forgotten: names };
  return { exit: exitCode.done, document, text: goodbye(names, place) };
};

/** @throws FleetError `cli/usage` for a name that is not in the lock or is still in the file */
function forgettable(run: Run, lock: ClusterLock, nodes: readonly { readonly name: string }[]): readonly string[] {
  const inFile = nodes.map(({ name }) => name);
  const known = [...lock.nodes, ...Object.keys(lock.identities ?? {}), ...(lock.withdrawing ?? [])];
  const gone = [...new Set(known)].filter((name) => !inFile.includes(name)).sort();
  const list =
    gone.length === 0
      ? 'All nodes in the lock are in the file.'
      : `In the lock but no longer in the file: ${listText(gone)}.`;
  if (run.words.length === 0) throw usageError('No node was specified.', list);
  const declared = run.words.find((word) => inFile.includes(word));
  if (declared !== undefined) {
    throw usageError(
      `${declared} is still in the cluster file.`,
      `First remove ${declared} from \`nodes\` in the file.`,
    );
  }
  const strange = run.words.find((word) => !gone.includes(word));
  if (strange !== undefined) throw usageError(`There is no node ${JSON.stringify(strange)} in the lock.`, list);
  return [...new Set(run.words)];
}

function goodbye(names: readonly string[], { shown }: LockPlace): string {
  const those = names.length === 1 ? 'that Mac' : 'those Macs';
  return [
    `Removed ${listText(names)} from ${shown}.`,
    `These stay on ${those}:`,
    'runtimes and models in /opt/meshwright, services named dev.meshwright.*,',
    'link addresses and power settings. Pinned host keys stay in the lock.',
    '',
  ].join('\n');
}

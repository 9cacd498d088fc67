import { listText } from '../../desired/did-you-mean.ts';
import { withoutNode } from '../../desired/settle/settle.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import { changeLock, type LockPlace, lockPlaceOf, openCluster, readLock } from '../cluster/open-cluster.ts';
import { exitCode } from '../exit-codes.ts';
import { askYes } from '../terminal/ask.ts';
import { showJson } from '../terminal/console.ts';
import { type Run, usageError, type VerbBody } from '../verb.ts';

/** `forget NODE…`: takes nodes that left the file out of the lock; reaches none of them. */
export const forget: VerbBody = async (run) => {
  const opened = openCluster(run);
  const place = lockPlaceOf(run, opened);
  const names = forgettable(run, readLock(place), opened.fleet.nodes);
  const question = `Nothing is removed from ${listText(names)} itself. Take ${names.length === 1 ? 'it' : 'them'} out of ${place.shown}?`;
  if (!(await askYes(run, question))) return exitCode.nothingChanged;
  await changeLock(place, (now) => names.reduce(withoutNode, now));
  if (run.options.json) {
    const mark = run.options.sim ? { simulated: true as const } : {};
    showJson(run.console, { formatVersion: 1, ...mark, lock: place.path, forgotten: names });
  } else run.console.out(goodbye(names, place));
  return exitCode.done;
};

/** @throws FleetError `cli/usage` for a name that the lock does not have, or that the file still has */
function forgettable(run: Run, lock: ClusterLock, nodes: readonly { readonly name: string }[]): readonly string[] {
  const inFile = nodes.map(({ name }) => name);
  const known = [...lock.nodes, ...Object.keys(lock.identities ?? {}), ...(lock.withdrawing ?? [])];
  const gone = [...new Set(known)].filter((name) => !inFile.includes(name)).sort();
  const list =
    gone.length === 0 ? 'The lock has no node that the file does not have.' : `Left the file: ${listText(gone)}.`;
  if (run.words.length === 0) throw usageError('No node is named.', list);
  const declared = run.words.find((word) => inFile.includes(word));
  if (declared !== undefined) {
    throw usageError(`${declared} still stands in the cluster file.`, 'Take it out there first, under `nodes`.');
  }
  const strange = run.words.find((word) => !gone.includes(word));
  if (strange !== undefined) throw usageError(`There is no node ${JSON.stringify(strange)} in the lock.`, list);
  return [...new Set(run.words)];
}

function goodbye(names: readonly string[], { shown }: LockPlace): string {
  const [is, it] = names.length === 1 ? ['is', 'that Mac'] : ['are', 'those Macs'];
  return [
    `${listText(names)} ${is} forgotten: ${shown} does not have ${names.length === 1 ? 'it' : 'them'} any more.`,
    `What was put on ${it} stays there: runtimes and models`,
    'in /opt/meshwright, services named dev.meshwright.*, addresses of links, power',
    'settings. Pinned host keys stay in the lock, too.',
    '',
  ].join('\n');
}

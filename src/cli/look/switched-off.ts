import { journalFolder } from '../../apply/journal/journal.ts';
import { type RecordedRun, readJournals } from '../../apply/journal/read-journals.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import { utcText } from '../../model/text/utc-text.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { journalName, stateFolder } from '../files/state-folder.ts';
import type { Run } from '../verb/verb.ts';

/** What a Mac that is off looks like from here: nothing listens, or nothing answers. */
const looksOff = ['ssh/unreachable', 'ssh/refused', 'ssh/timed-out'];

/**
 * The same observation, where a Mac gives no answer with the time at which this computer switched it off, as far as its
 * journals say so. A run that changed that Mac later has seen it again, and then nothing is said.
 */
export function withShutdowns(
  run: Run,
  { cluster, isSimulated }: { readonly cluster: string; readonly isSimulated: boolean },
  observation: FleetObservation,
): FleetObservation {
  const isOff = ({ code }: Diagnostic): boolean => looksOff.includes(code);
  const silent = Object.entries(observation.failures).filter(([, found]) => found.some(isOff));
  if (silent.length === 0) return observation;
  const journals = journalsOf(run, journalName(cluster, isSimulated));
  // Without a prototype, as it was: `constructor` is a good name for a node.
  const failures: Record<string, readonly Diagnostic[]> = Object.assign(Object.create(null), observation.failures);
  for (const [node, found] of silent) {
    const words = shutdownOf(journals, node);
    if (words === undefined) continue;
    const hint = isSimulated ? prose`Switch it on: ${meshwright('sim power-on', node)}` : 'Press its power button.';
    failures[node] = found.map((one) => (isOff(one) ? { ...one, detail: prose`${one.detail} ${words}`, hint } : one));
  }
  return { ...observation, failures };
}

/** None where they cannot be read: a look needs them for one sentence only. */
function journalsOf({ env }: Run, name: string): readonly RecordedRun[] {
  try {
    return readJournals(journalFolder(stateFolder(env), name)).runs;
  } catch {
    return [];
  }
}

/** In words when the newest run that had to do with a node switched it off. @param journals newest first */
export function shutdownOf(journals: readonly RecordedRun[], node: string): Prose | undefined {
  const last = journals.find(({ records }) => records.some((one) => 'node' in one && one.node === node));
  if (last === undefined) return undefined;
  const by = last.records.find((one) => one.phase === 'run')?.controller ?? 'this computer';
  const steps = last.records.flatMap((one) =>
    one.phase === 'intent' && one.node === node && one.effect === 'shutdown' ? [one.step] : [],
  );
  const done = last.records.findLast(
    (one) => one.phase === 'outcome' && steps.includes(one.step) && one.outcome === 'changed',
  );
  if (done === undefined) return undefined;
  return prose`It was switched off by ${escapeText(by)} (${aside(meshwright('shutdown'))}) at ${utcText(Math.floor(Date.parse(done.at) / 1_000))}.`;
}

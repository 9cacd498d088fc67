import { documentOf, isRecord, type Pair, timeFloor, verbStart } from './floor.ts';
import type { SshdRack } from './sshd-rack.ts';
import { type Run, type Start, timeRun, watchMemory } from './timed-process.ts';

/** @throws Error unless the run succeeded and every node's macOS version is known. */
function checkObserved(rack: SshdRack, run: Run, start: Start): void {
  const { nodes } = documentOf(run, start);
  for (const name of Object.keys(rack.nodes)) {
    const facts = isRecord(nodes) ? nodes[name] : undefined;
    const version = isRecord(facts) ? facts['macos-version'] : undefined;
    if (!isRecord(version) || !('value' in version)) throw new Error(`${name} was not observed`);
  }
}

/** Observes the rack, then runs the same commands twice through the system's ssh, and checks all answers. */
export async function timePair(rack: SshdRack): Promise<Pair> {
  const facts = verbStart(rack, 'facts');
  const ours = await timeRun(facts);
  checkObserved(rack, ours, facts);
  return { meshwrightMs: ours.ms, ...(await timeFloor(rack)) };
}

/** The peak resident memory of one observation, in bytes; undefined if the machine does not report it. */
export async function observationMemory(rack: SshdRack): Promise<number | undefined> {
  const facts = verbStart(rack, 'facts');
  const run = await watchMemory(facts);
  checkObserved(rack, run, facts);
  return run.peakBytes;
}

import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fixListeners } from './apply-rack.ts';
import { documentOf, isRecord, type Pair, timeFloor, verbStart } from './floor.ts';
import type { SshdRack } from './sshd-rack.ts';
import { timeRun } from './timed-process.ts';

const servicesPath = '/Library/LaunchDaemons';
const ownService = /^dev\.meshwright\.rank\..*\.plist$/u;

const countOf = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

/** The number of connections and commands so far, summed over the nodes. */
const seenBy = (rack: SshdRack): ReadonlyMap<string, string> =>
  new Map(
    [...rack.logs()].map(([name, log]) => [
      name,
      `${countOf(log, /Connection from 127\.0\.0\.1 port/gu)} ${countOf(log, /Starting session:/gu)}`,
    ]),
  );

/** @throws Error unless each node got exactly one more connection and command */
function checkOneEach(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
  for (const [name, text] of before) {
    const [connections = 0, commands = 0] = text.split(' ').map(Number);
    if (after.get(name) === `${connections + 1} ${commands + 1}`) continue;
    throw new Error(`${name} had ${text} connections and commands before, ${after.get(name)} after`);
  }
}

const isOutcome = (step: unknown, ...outcomes: readonly string[]): boolean =>
  isRecord(step) && outcomes.includes(String(step['outcome']));

/** Applies the file and expects all nodes to match. Returns the milliseconds and the steps' outcomes. */
export async function apply(rack: SshdRack): Promise<{ readonly ms: number; readonly steps: readonly unknown[] }> {
  const words = verbStart(rack, 'apply', '--yes', '--update-lock');
  const ran = await timeRun(words);
  const { steps } = documentOf(ran, words);
  return { ms: ran.ms, steps: Array.isArray(steps) ? steps : [] };
}

/** The milliseconds of a rack's first apply, from unconfigured Macs to a token from every placement. */
export async function firstApply(rack: SshdRack): Promise<number> {
  const { ms, steps } = await apply(rack);
  if (!steps.some((step) => isOutcome(step, 'changed'))) throw new Error('the first apply changed nothing');
  await fixListeners(rack);
  return ms;
}

/** One apply without changes, then the same commands twice through the system's ssh. All answers are checked. */
export async function timeNoOp(rack: SshdRack): Promise<Pair> {
  const before = seenBy(rack);
  const { ms, steps } = await apply(rack);
  if (steps.length > 0) throw new Error('an apply without changes ran steps');
  checkOneEach(before, seenBy(rack));
  return { meshwrightMs: ms, ...(await timeFloor(rack)) };
}

/** The milliseconds of an apply after every rank's service file was edited: each file is written again. */
export async function oneFileChange(rack: SshdRack): Promise<number> {
  for (const { root } of Object.values(rack.nodes)) {
    const folder = join(root, servicesPath);
    const [name] = (await readdir(folder)).filter((one) => ownService.test(one));
    if (name === undefined) throw new Error(`${folder} has no service file for a rank`);
    await appendFile(join(folder, name), '\n');
  }
  const { ms, steps } = await apply(rack);
  const puts = steps.filter((step) => isRecord(step) && step['act'] === 'put' && isOutcome(step, 'changed'));
  const nodes = Object.keys(rack.nodes).length;
  if (puts.length !== nodes) throw new Error(`${puts.length} files were written on ${nodes} nodes`);
  return ms;
}

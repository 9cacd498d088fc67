import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { apply } from './apply.ts';
import { documentOf, isRecord, verbStart } from './floor.ts';
import { killRank, repeat } from './lost-rank.ts';
import type { SshdRack } from './sshd-rack.ts';
import { timeRun } from './timed-process.ts';

/** One round over a mesh of four, in milliseconds. */
export interface RecoverRound {
  readonly statusMs: number;
  /** `recover` with nothing to do. */
  readonly healthyMs: number;
  /** `recover` after a rank was killed, and the part of it that neither meshwright nor its checks cause. */
  readonly wholeMs: number;
  readonly neededMs: number;
}

/** The steps that wait for requests in flight, for ranks to stop, and for ranks to load. */
const waits = new Set(['drain-endpoint', 'stop-rank', 'kick-rank', 'gate', 'ask', 'prove']);

interface LogLine {
  readonly time: string;
  readonly event: string;
  readonly step?: string;
  readonly act?: string;
  readonly name?: string;
  readonly ms?: number;
}

/** When these steps ran, and when stacks were sampled, by the log. @throws Error if a step has no end */
function waited(log: readonly LogLine[]): readonly (readonly [number, number])[] {
  return log.flatMap((one, at): readonly (readonly [number, number])[] => {
    const time = Date.parse(one.time);
    if (one.event === 'answered' && one.name === 'rank-stack') return [[time - (one.ms ?? 0), time]];
    if (one.event !== 'step-started' || !waits.has(one.act ?? '')) return [];
    const end = log.slice(at).find(({ event, step }) => event === 'step-ended' && step === one.step);
    if (end === undefined) throw new Error(`${one.step} has no end`);
    return [[time, Date.parse(end.time)]];
  });
}

/** The length of all spans together; time in several of them counts once. */
export function lengthOf(spans: readonly (readonly [number, number])[]): number {
  let [sum, end] = [0, 0];
  for (const [from, to] of [...spans].sort(([a], [b]) => a - b)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

/** Runs a command. @throws Error unless it exited with 0 and ran these cures */
async function timeVerb(rack: SshdRack, words: readonly string[], rungs = ''): Promise<number> {
  const what = { ...verbStart(rack, ...words), env: { ...verbStart(rack).env, MESHWRIGHT_SIM_SCALE: '1' } };
  const ran = await timeRun(what);
  const { cures = [] } = documentOf(ran, what);
  const seen = Array.isArray(cures) ? cures.map((one) => (isRecord(one) ? one['rung'] : '')).join() : '';
  if (seen !== rungs) throw new Error(`${words[0]} ran these cures: ${seen}`);
  return ran.ms;
}

/** Measures a mesh of four. Its Macs list their real ports, because a restart uses others. */
export async function measureRecover(rounds: number, rack: SshdRack): Promise<readonly RecoverRound[]> {
  await apply(rack);
  return repeat(rounds, () => timeRecover(rack));
}

/** One round: a `status`, a `recover` of the serving mesh, and one after a rank was killed. Pauses are real ones. */
async function timeRecover(rack: SshdRack): Promise<RecoverRound> {
  const statusMs = await timeVerb(rack, ['status']);
  const healthyMs = await timeVerb(rack, ['recover', '--yes']);
  killRank(rack, 'studio-4');
  const file = join(rack.folder, 'recover.log');
  rmSync(file, { force: true });
  const wholeMs = await timeVerb(rack, ['recover', '--yes', '--log', file], 'restart');
  const log = readFileSync(file, 'utf8').trim().split('\n');
  const neededMs = lengthOf(waited(log.map((line) => JSON.parse(line) as LogLine)));
  return { statusMs, healthyMs, wholeMs, neededMs };
}

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { observeFleet } from '../../src/apply/reach/observe.ts';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { nodeName } from '../../src/model/node.ts';
import { wayTo as straightWay, type WayChange } from '../rack/running.ts';
import { firstApply } from './apply.ts';
import { startApplyRack } from './apply-rack.ts';
import type { SshdRack } from './sshd-rack.ts';

/** One round over a mesh of four, observed like `status`, in milliseconds. */
export interface LostRound {
  readonly usualMs: number;
  /** A rank is dead, and the leader gives no answers. */
  readonly rankLostMs: number;
  /**
   * One Mac accepts connections and never sends a byte: the times until the others were observed, and until its
   * deadline.
   */
  readonly othersMs: number;
  readonly namedMs: number;
}

const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];

const wayTo = ({ nodes, userKey }: SshdRack, name: string, change?: WayChange): NodeTarget =>
  straightWay({ nodes, userKey: { path: userKey.file } }, name, change);

/** Observes like `status`. @throws Error unless only `lost` is unreachable */
async function observe(ways: readonly NodeTarget[], lost?: string) {
  const startedAt = performance.now();
  let othersMs = 0;
  const { failures } = await observeFleet(ways, {
    parallel: 64,
    deadlineMs: 30_000,
    firstByteMs: 4_000,
    newBoundary: () => randomBytes(16).toString('hex'),
    tokensOf: [{ name: 'island-1', nodes: names.map((name) => nodeName(name)) }],
    onSeen: ({ node }) => {
      if (node !== lost) othersMs = performance.now() - startedAt;
    },
  });
  const unreached = Object.keys(failures).join();
  if (unreached !== (lost ?? '')) throw new Error(`not reached: ${unreached}`);
  return { allMs: performance.now() - startedAt, othersMs };
}

/** The process of the rank on a node. */
function rankPid({ nodes }: SshdRack, name: string): number {
  const program = `${nodes[name]?.root}/opt/meshwright/runtimes/`;
  const lines = execFileSync('ps', ['-axwwo', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  const [line] = lines.filter((one) => one.includes(program) && one.includes('--rank'));
  if (line === undefined) throw new Error(`no rank runs on ${name}`);
  return Number.parseInt(line, 10);
}

export const killRank = (rack: SshdRack, name: string): void => void process.kill(rankPid(rack, name), 'SIGKILL');

/** The first result is discarded. */
export const repeat = async <T>(rounds: number, act: () => Promise<T>): Promise<readonly T[]> => {
  await act();
  const all: T[] = [];
  for (let at = 0; at < rounds; at += 1) all.push(await act());
  return all;
};

/** Measures a serving mesh of four, the same with a silent Mac, and then with a dead rank. */
export async function measureLost(rounds: number, rack: SshdRack): Promise<readonly LostRound[]> {
  await firstApply(rack);
  const ways = names.map((name) => wayTo(rack, name));
  const usual = await repeat(rounds, () => observe(ways));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const silent = await repeat(rounds, () =>
    observe([...ways.slice(0, 3), wayTo(rack, 'studio-4', { port })], 'studio-4'),
  );
  server.close();
  const leader = rankPid(rack, 'studio-1');
  killRank(rack, 'studio-4');
  process.kill(leader, 'SIGSTOP');
  try {
    const lost = await repeat(rounds, () => observe(ways));
    return usual.map(({ allMs }, at) => ({
      usualMs: allMs,
      rankLostMs: lost[at]?.allMs ?? Number.NaN,
      othersMs: silent[at]?.othersMs ?? Number.NaN,
      namedMs: silent[at]?.allMs ?? Number.NaN,
    }));
  } finally {
    process.kill(leader, 'SIGCONT');
  }
}

/** Starts the rack for {@link measureLost}. */
export const startLostRack = (): Promise<SshdRack> => startApplyRack(names.length);

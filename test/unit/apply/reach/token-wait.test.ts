import { describe, expect, it } from 'vitest';
import {
  hasLostMeshes,
  observeFleet,
  observeSilentMeshes,
  type SeenSoFar,
} from '../../../../src/apply/reach/observe.ts';
import type { LogIn, NodeTarget } from '../../../../src/apply/reach/session.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { tokenProbes, unaskingProbes } from '../../../../src/engine/observe/facts.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { read } from '../../../../src/rack/fact.ts';
import { seeRank } from '../../../../src/rack/placement/mesh/rank-states.ts';
import { placementsFact } from '../../../../src/rack/placement/observed/fact.ts';
import type { ExecLimits, ExecResult, Remote } from '../../../../src/remote/remote.ts';
import { printFrames, tokenIn } from '../../../hostile/recorded-frames.ts';
import { outputIn } from '../../engine/observe/fact-cases.ts';

const layout = (...nodes: readonly string[]) => ({ name: 'kimi', nodes: nodes.map((name) => nodeName(name)) });
const mesh = [layout('a', 'b', 'c', 'd')];
const running = outputIn('placements/leader-hangs', 'launchd-services');
const exited = running.replace('|\tstate = running\n|\tpid = 4711\n', '|\tstate = not running\n|\truns = 1\n');

interface Mac {
  readonly rank: number;
  readonly services: string;
  /** The answer to the token request; if absent, the request waits until it is aborted. */
  readonly token?: string;
}

/** The output of the probe script for one rank. */
const members = (rank: number, token = ''): string =>
  outputIn('placements/leader-hangs')
    .replace('|rank=0', `|rank=${rank}`)
    .replace(/^token.*\n/m, token);

/** A Mac that answers both commands of an observation without a network. */
const macRemote = ({ rank, services, token }: Mac): Remote => ({
  rootPrefix: '',
  connectMs: 1,
  close: () => undefined,
  exec: (command, limits) => {
    const isForToken = limits.signal !== undefined;
    const probes = isForToken ? tokenProbes() : unaskingProbes();
    const outputs = probes.map(({ name }) => ({
      out:
        name === 'placement-members'
          ? members(rank, isForToken ? token : '')
          : name === 'launchd-services'
            ? services
            : '',
    }));
    const whole = result(printFrames(tokenIn(decoded(command)), outputs));
    return isForToken && token === undefined ? untilAborted(limits) : Promise.resolve(whole);
  },
});

const decoded = (command: string): string => command.replaceAll("'\\''", "'");

const result = (stdout: Uint8Array): ExecResult => ({
  exit: { kind: 'exited', code: 0 },
  stdout,
  stderr: new Uint8Array(),
  isTruncated: false,
  sentAtEpochMs: 0,
  receivedAtEpochMs: 0,
});

const untilAborted = ({ signal }: ExecLimits): Promise<ExecResult> =>
  new Promise((resolve) => {
    const end = (): void => resolve({ ...result(new Uint8Array()), exit: { kind: 'unknown', reason: 'ended' } });
    signal?.addEventListener('abort', end);
  });

async function observe(macs: Readonly<Record<string, Mac>>) {
  const logIn: LogIn = async ({ target }) => macRemote(macs[target.label] ?? { rank: 9, services: 'end\n' });
  const ways = Object.keys(macs).map(
    (node) => ({ node: nodeName(node), way: { kind: 'way', target: { label: node } } }) as unknown as NodeTarget,
  );
  const seen: string[] = [];
  const observed = await observeFleet(ways, {
    parallel: 4,
    deadlineMs: 60_000,
    newBoundary: () => '0'.repeat(32),
    logIn,
    tokensOf: mesh,
    onSeen: ({ node }) => seen.push(node),
  });
  const placements = read(observed.nodes['a']?.facts, placementsFact);
  return { seen, token: placements?.kind === 'known' ? placements.value[0]?.token : placements };
}

const follower: Mac = { rank: 1, services: running };
const lost: Mac = { rank: 1, services: exited };

describe("a leader's token", () => {
  it('is no longer awaited once a rank of its mesh has no process', async () => {
    const { seen, token } = await observe({ a: { rank: 0, services: running }, b: lost });
    expect([seen, token]).toEqual([['a', 'b'], { kind: 'not-asked' }]);
  });

  it('counts if it arrived before a rank was found to be lost', async () => {
    const silent = { kind: 'silent', reason: 'none came before the deadline of 4 s', isTimeout: true };
    expect((await observe({ a: { rank: 0, services: running, token: 'token kimi 28 000\n' }, b: lost })).token).toEqual(
      silent,
    );
    expect(
      (await observe({ a: { rank: 0, services: running, token: 'token kimi 28 000\n' }, b: follower })).token,
    ).toEqual(silent);
  });
});

const seenAs = async (
  macs: Readonly<Record<string, Mac>>,
  away: readonly string[] = [],
  tokensOf: typeof mesh = [],
) => {
  const logIn: LogIn = async ({ target }) => macRemote(macs[target.label] ?? follower);
  const problem = diagnose('ssh/no-key', { detail: 'There is no key.' });
  const ways = [
    ...Object.keys(macs).map((node) => ({ node: nodeName(node), way: { kind: 'way', target: { label: node } } })),
    ...away.map((node) => ({ node: nodeName(node), way: { kind: 'no-way', diagnostics: [problem] } })),
  ] as unknown as readonly NodeTarget[];
  const options = { parallel: 4, deadlineMs: 60_000, newBoundary: () => '0'.repeat(32), logIn };
  return observeFleet(ways, { ...options, tokensOf });
};

describe('the second observation after a failed token', () => {
  const pair = [layout('a', 'b')];
  const silent: Mac = { rank: 0, services: running, token: 'token kimi 28 000\n' };
  const stateOf = async (first: Awaited<ReturnType<typeof seenAs>>, macs: Readonly<Record<string, Mac>>) => {
    const asked: string[] = [];
    const { nodes, failures } = await observeSilentMeshes(first, pair, (names) => {
      asked.push(...names);
      return seenAs(
        macs,
        names.filter((name) => macs[name] === undefined),
      );
    });
    const ranks = ['a', 'b'].map((node) => seeRank(nodeName(node), 'kimi', nodes[node]?.facts).seen);
    const states = ranks.map((seen) => (seen.kind === 'known' ? seen.value.state : seen.reason));
    const [leader] = ranks;
    const token = leader?.kind === 'known' ? leader.value.record?.token.kind : undefined;
    return { asked, states, token, failed: Object.keys(failures) };
  };

  it('shows a rank that the request has ended', async () => {
    const first = await seenAs({ a: silent, b: follower }, [], pair);
    expect(await stateOf(first, { a: silent, b: lost })).toEqual({
      ...{ asked: ['a', 'b'], token: 'silent', failed: [] },
      states: ['joined', 'exited'],
    });
  });

  it('shows a Mac that the request has ended', async () => {
    const first = await seenAs({ a: silent, b: follower }, [], pair);
    expect(await stateOf(first, { a: silent })).toMatchObject({ states: ['joined', 'unreachable'], failed: ['b'] });
  });

  it('does not happen if the token came, or if a rank was already missing', async () => {
    const answered = await seenAs({ a: { ...silent, token: '' }, b: follower }, [], pair);
    expect((await stateOf(answered, {})).asked).toEqual([]);
    expect((await stateOf(await seenAs({ a: silent, b: lost }, [], pair), {})).asked).toEqual([]);
  });
});

describe('hasLostMeshes', () => {
  const leader: Mac = { rank: 0, services: running };
  const isLost = (seen: SeenSoFar, countsUnseen = false, layouts = mesh): boolean =>
    hasLostMeshes(nodeName('a'), layouts, seen, countsUnseen);

  it('is false if no observed rank is lost', async () => {
    const { nodes: seen } = await seenAs({ a: leader, b: follower });
    expect([isLost(seen), isLost(seen, true)]).toEqual([false, false]);
  });

  it('is true for an unreachable rank only if unobserved nodes count', async () => {
    const { nodes: seen } = await seenAs({ a: leader, b: follower }, ['c']);
    expect([isLost(seen), isLost(seen, true)]).toEqual([false, true]);
  });

  it('is true only if the file has the placement, with the same number of ranks', async () => {
    const { nodes: seen } = await seenAs({ a: leader, b: lost });
    expect(isLost(seen)).toBe(true);
    expect(isLost(seen, true, [layout('a', 'b')])).toBe(false);
    expect(isLost(seen, true, [])).toBe(false);
  });

  it('is false while a different layout of the leader may be running', async () => {
    const { nodes: seen } = await seenAs({ a: leader, b: lost });
    expect(isLost(seen, false, [...mesh, layout('a', 'c', 'd', 'e')])).toBe(false);
  });
});

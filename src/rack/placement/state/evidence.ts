import { exitWords } from '../../../model/facts/daemons.ts';
import type { TokenSight } from '../../../model/facts/fact-values.ts';
import { isRunning, type RankOnNode, type SeenMember } from '../members/member.ts';
import type { Traffic } from './traffic.ts';

/** `studio-2 exited (1), studio-3 exited (78: EX_CONFIG)`: why no rank runs, where one was started. */
export const deadEvidence = (ranks: readonly RankOnNode[]): string =>
  listed(ranks.filter(({ seen }) => seen.state === 'exited').map(({ node, seen }) => `${node} ${idleWords(seen)}`));

/** `rank 1 on studio-2 exited (1)`: which ranks are missing while others run. */
export const missingRanks = (ranks: readonly RankOnNode[]): string =>
  listed(
    ranks
      .filter(({ seen }) => !isRunning(seen))
      .map(({ node, rank, seen }) => `rank ${rank} on ${node} ${idleWords(seen)}`),
  );

/** Why nothing runs where nothing exited: a restart of a Mac takes its ranks with it. */
export function idleEvidence(ranks: readonly RankOnNode[]): string {
  const restarted = ranks.filter(({ seen }) => wasRestarted(seen)).map(({ node }) => node);
  return restarted.length === 0 ? 'no rank runs' : `no rank runs since a restart of ${listed(restarted)}`;
}

/** Whether no token came before the deadline, and nothing else is known to be wrong. */
export const isLate = (token: TokenSight | undefined): boolean => token?.kind === 'silent' && token.isTimeout === true;

/**
 * `no token: status 503; rank 2 on studio-3 has not joined`.
 *
 * @param traffic what its doorman sees; absent where there is none
 */
export function silentEvidence(
  token: Extract<TokenSight, { kind: 'silent' }>,
  ranks: readonly RankOnNode[],
  traffic?: Traffic,
): string {
  const apart = ranks.filter(({ seen }) => seen.state === 'running' || seen.state === 'meeting');
  const missing = apart.map(({ node, rank }) => `rank ${rank} on ${node} has not joined`);
  const isUnclear = isLate(token) && apart.length === 0 && traffic?.kind !== 'stuck';
  const seen = isLate(token) && traffic !== undefined ? [traffic.words] : [];
  return [`no token: ${token.reason}`, ...missing, ...seen, ...(isUnclear ? ['it is hung or busy'] : [])].join('; ');
}

/** What tells running ranks apart from those of one start; `undefined` when they belong together. */
export function unequalRanks(ranks: readonly RankOnNode[]): string | undefined {
  const bare = ranks.filter(({ seen }) => seen.record === undefined).map(({ node }) => node);
  if (bare.length > 0) return `a rank without a record runs on ${listed(bare)}`;
  const [first, ...others] = ranks;
  const odd = others.filter(({ seen }) => startOf(seen) !== (first === undefined ? '' : startOf(first.seen)));
  return odd.length === 0
    ? undefined
    : `the ranks on ${listed(odd.map(({ node }) => node))} are of another start than the leader`;
}

const startOf = ({ record }: SeenMember): string => `${record?.generation} ${record?.digest}`;

/** Started once, but not in this boot session, and launchd has not started it since. */
const wasRestarted = ({ state, record, starts }: SeenMember): boolean =>
  state === 'ready' && record !== undefined && record.starts > 0 && starts.kind === 'known' && starts.value === 0;

function idleWords({ state, lastExit }: SeenMember): string {
  switch (state) {
    case 'exited':
      return exitWords(lastExit);
    case 'ready':
      return 'was not started';
    case 'stopped':
      return 'is stopped';
    default:
      return 'is not there';
  }
}

const listed = (words: readonly string[]): string => words.join(', ');

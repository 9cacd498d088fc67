import { describe, expect, it } from 'vitest';
import { type AskedTokens, leadersToAsk, noteTokens, withTokens } from '../../../../src/cli/look/watch-status.ts';
import { viewOf } from '../../../../src/engine/plan/view.ts';
import type { TokenResult } from '../../../../src/model/facts/fact-values.ts';
import type { EndpointStatus } from '../../../../src/model/gateway.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { surveyPlacements } from '../../../../src/rack/placement/check/placement-survey.ts';
import { endpointStatus, gatewayStatus, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';

const fleet = meshFleet();
const leader = nodeName('studio-1');
const everyMs = 60_000;

interface Seen {
  readonly traffic?: Partial<EndpointStatus>;
  readonly isSilent?: boolean;
  readonly token?: TokenResult;
  readonly generation?: number;
  /** True if a signal has suspended the ranks. */
  readonly isSuspended?: boolean;
}

/** The rack of `kimi`, whose ranks run, with its gateway. */
function observed({
  traffic = {},
  isSilent = false,
  token = { kind: 'not-asked' },
  generation = 4,
  isSuspended = false,
}: Seen = {}) {
  const gateways = isSilent
    ? [{ kind: 'silent', port: 8_080, reason: 'no answer' } as const]
    : [gatewayStatus([endpointStatus(traffic)])];
  return observeMesh(fleet, {
    ranks: threeRanks(['joined', 'joined', 'joined'], {
      token,
      generation,
      ...(isSuspended ? { suspended: [4_711] } : {}),
    }),
    values: { 'studio-1': { gateways } },
  });
}

/** The tokens after one request at 0 s. */
function asked(token: TokenResult): AskedTokens {
  const tokens: AskedTokens = new Map();
  expect(leadersToAsk(observed(), tokens, 0, everyMs)).toEqual([leader]);
  noteTokens(tokens, leader, observed({ token }).nodes['studio-1']);
  return tokens;
}

function stateAt(seconds: number, tokens: AskedTokens, seen?: Seen): string {
  const observation = withTokens(observed(seen), tokens, seconds * 1_000, everyMs);
  const targets = fleet.nodes.map(({ name }) => name);
  const [kimi] = surveyPlacements(viewOf({ desired: fleet, observation, targets }));
  return `${kimi?.state}: ${kimi?.evidence}`;
}

const answered: TokenResult = { kind: 'answered', text: 'Hi' };
const silent: TokenResult = { kind: 'silent', reason: 'none came before the deadline of 20 s', isTimeout: true };
const busy = (more: Partial<EndpointStatus> = {}): Seen => ({ traffic: { running: 1, ...more } });

describe('the tokens of a live status', () => {
  it('are requested once a minute, and at once after a new start', () => {
    const tokens = asked(answered);
    const at = (seconds: number, seen?: Seen) => leadersToAsk(observed(seen), tokens, seconds * 1_000, everyMs);
    expect([at(5), at(59), at(60), at(65), at(119)]).toEqual([[], [], [leader], [], []]);
    expect([at(66, { generation: 5 }), at(71, { generation: 5 })]).toEqual([[leader], []]);
  });

  it('count as requested even if no result arrives', () => {
    const tokens: AskedTokens = new Map();
    expect(leadersToAsk(observed(), tokens, 0, everyMs)).toEqual([leader]);
    expect(leadersToAsk(observed(), tokens, 5_000, everyMs)).toEqual([]);
  });

  it.each([
    ['a request is in flight', busy()],
    ['a request waits', { traffic: { waiting: 1 } }],
    ['the gateway does not answer', { isSilent: true }],
  ])('are not requested while %s', (_, seen) => {
    expect(leadersToAsk(observed(seen), new Map(), 0, everyMs)).toEqual([]);
  });

  it('are not requested from a leader on which nothing listens', () => {
    const seen = observed({ token: { kind: 'silent', reason: 'nothing listens on port 8080' } });
    expect(leadersToAsk(seen, new Map(), 0, everyMs)).toEqual([]);
  });

  it('decide the state until the next one, but not that of a later start', () => {
    expect(stateAt(55, asked(answered))).toBe('serving: its endpoint returned a token');
    expect(stateAt(55, asked(silent))).toMatch(/^hung: no token: none came/);
    expect(stateAt(55, asked(silent), { generation: 5 })).toBe('unknown: its endpoint was not asked for a token');
    expect(stateAt(0, new Map())).toBe('unknown: its endpoint was not asked for a token');
  });

  it('are outdated when a rank is suspended, and when it is resumed', () => {
    const tokens = asked(answered);
    expect(stateAt(5, tokens, { isSuspended: true })).toBe(
      'hung: no token: rank 0 on studio-1 is suspended; rank 1 on studio-2 is suspended; rank 2 on studio-3 is suspended',
    );
    expect(leadersToAsk(observed({ isSuspended: true }), tokens, 5_000, everyMs)).toEqual([leader]);
    noteTokens(tokens, leader, observed({ token: silent }).nodes['studio-1']);
    expect(stateAt(10, tokens, { isSuspended: true })).toMatch(/^hung: no token: none came .*; rank 0 on studio-1/);
    expect(stateAt(15, tokens)).toMatch(/^unknown: /);
    expect(leadersToAsk(observed(), tokens, 15_000, everyMs)).toEqual([leader]);
  });

  it('are outdated by requests that run for longer', () => {
    expect(stateAt(80, asked(answered), busy({ quietMs: 20_000 }))).toBe('serving: its endpoint returned a token');
    expect(stateAt(100, asked(answered), busy({ quietMs: 40_000 }))).toMatch(/^unknown: another request is in flight/);
    expect(stateAt(100, asked(answered), busy({ lastByteMsAgo: 50, quietMs: 60_000 }))).toMatch(/^serving: busy/);
  });

  it('keep a placement hung until a client gets part of an answer', () => {
    expect(stateAt(300, asked(silent), busy({ lastByteMsAgo: 310_000, quietMs: 290_000 }))).toMatch(/^hung: /);
    expect(stateAt(300, asked(silent), busy({ lastByteMsAgo: 50, quietMs: 60_000 }))).toMatch(/^serving: busy/);
  });
});

import { describe, expect, it } from 'vitest';
import { shortDigest } from '../../../../../src/model/digest.ts';
import type { Facts } from '../../../../../src/model/facts/fact-values.ts';
import { known, unknown } from '../../../../../src/model/known.ts';
import { cableRate } from '../../../../../src/rack/artifacts/peers/cable-rate.ts';
import { treeOf } from '../../../../../src/rack/records/trees-reading.ts';
import { anyDigest } from '../../../../rack/plans.ts';

const tree = treeOf('model', 'kimi', anyDigest);
const uuid = 'F2B1C3D4-0000-4000-8000-000000000001';
const session = known({ uuid, bootedAtEpochSeconds: 1 });

function rate(exchanging: string, state: string, more: { readonly tree?: string; readonly session?: unknown } = {}) {
  const fields = { state, exchanging, tree: more.tree ?? `model kimi ${shortDigest(anyDigest)}` };
  const facts = { jobs: known([{ key: anyDigest, fields }]), 'boot-session': more.session ?? session };
  return cableRate(facts as unknown as Facts, tree);
}

describe('the rate of a Mac that exchanges a model', () => {
  it('has no limit before a restart, or after an orderly restart', () => {
    expect([rate(`0 ${uuid}`, 'running'), rate(`0 ${uuid}`, 'gone'), rate('0 stopped', 'gone')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is limited after a restart, and halved after each further restart, down to a minimum', () => {
    expect(['0', '250000000', '125000000', '20000000'].map((last) => rate(`${last} other`, 'gone'))).toEqual([
      250_000_000, 125_000_000, 62_500_000, 16_000_000,
    ]);
  });

  it('stays the same if the Mac does not restart, or restarts only after a clean shutdown', () => {
    const last = '125000000';
    const states = [rate(`${last} ${uuid}`, 'gone'), rate(`${last} stopped`, 'gone'), rate(`${last} other`, 'ended')];
    expect(states).toEqual([125e6, 125e6, 125e6]);
  });

  it('has no limit for a different model, a garbled record or an unknown boot session', () => {
    const lost = unknown({ kind: 'not-observed' } as never, 'no answer');
    expect([
      rate('0 other', 'gone', { tree: 'model qwen 0123456789abcdef' }),
      rate('fast', 'gone'),
      rate('0 other', 'gone', { session: lost }),
    ]).toEqual([undefined, undefined, undefined]);
  });
});

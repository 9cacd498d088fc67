import { describe, expect, it } from 'vitest';
import { viewOf } from '../../../../../src/engine/plan/view.ts';
import { digest } from '../../../../../src/model/digest.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { proofOf as proofOfItself } from '../../../../../src/rack/placement/resource.ts';
import { placementCases } from '../../../../../src/rack/placement/state/placement-cases.ts';
import { digestOfKimi, type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const proofOf = onPage(proofOfItself);

const desired = meshFleet();
const wanted = digest(digestOfKimi(desired));
const answer = digest('b'.repeat(64));

/** The reference for the next start if the leader has stored an answer for the digest `startedFrom`. */
function proof(isBuildKnown: boolean, key: string, startedFrom: string = wanted, values: MeshRack['values'] = {}) {
  const golden = { key: digest(key), sha256: answer, firstTokenMs: 100, tokensPerSecond: 30, steadyPerSecond: 20 };
  const observation = observeMesh(desired, {
    ranks: threeRanks(['joined', 'joined', 'joined'], { digest: startedFrom, changes: { golden } }),
    values,
    ...(isBuildKnown ? {} : { unknown: { 'studio-2': { 'macos-version': 'timed-out' as const } } }),
  });
  const view = viewOf({ desired, observation, targets: ['studio-1', 'studio-2', 'studio-3'].map(nodeName) });
  const [kimi] = placementCases(view);
  if (kimi === undefined) throw new Error('the rack has no kimi');
  return proofOf(kimi, wanted, view);
}

describe('the reference answer for a start', () => {
  it('is the stored answer for the same file and macOS builds', () => {
    const { key = '' } = proof(true, 'a'.repeat(64));
    expect(proof(true, 'a'.repeat(64))).toEqual({ key });
    expect(proof(true, key)).toEqual({ key, kept: answer, keptPerSecond: 20 });
    const improved = { 'studio-2': { 'macos-version': { version: '26.5', build: '25F71', extra: '(a)' } } };
    expect(proof(true, key, wanted, improved)).toEqual({ key: expect.not.stringMatching(key) });
  });

  it('has no key if a macOS build is unknown', () => {
    expect(proof(false, 'a'.repeat(64))).toEqual({ kept: answer, keptPerSecond: 20 });
    expect(proof(false, 'a'.repeat(64), 'c'.repeat(64))).toEqual({});
  });
});

onOnePage('mesh-proof');

import { describe, expect, it } from 'vitest';
import { archiveOf } from '../../../../src/desired/releases.ts';
import { llamaReleases } from '../../../../src/drivers/llamacpp/releases.ts';
import { makePlan } from '../../../../src/engine/plan/make-plan.ts';
import { transferOf } from '../../../../src/engine/plan/transfers.ts';
import type { ClusterSpec } from '../../../../src/model/cluster-spec.generated.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { known } from '../../../../src/model/known.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { anyDigest } from '../../../rack/plans.ts';

/** A fleet whose runtime is a release, with a second file from this computer. */
function fleetWith(downloads: ClusterSpec['downloads']): DesiredFleet {
  const fleet = meshFleet();
  const known = { sha256: anyDigest, sizeBytes: 11_145_395 };
  const release = archiveOf(undefined, llamaReleases.archive('b10950'), downloads);
  const extras = [{ name: 'notes', source: '/rack/notes', ...known }];
  const runtimes = fleet.runtimes.map((one) => ({ ...one, ...release, ...known, digest: anyDigest, extras }));
  return { ...fleet, runtimes };
}

/** The runtime's steps on one node that lacks it. */
function stepsOn(downloads?: ClusterSpec['downloads']) {
  const desired = fleetWith(downloads);
  const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined']) });
  const nodes = Object.fromEntries(
    Object.entries(observation.nodes).map(([name, node]) => [
      name,
      { ...node, facts: { ...node.facts, trees: known([]) } },
    ]),
  );
  const targets = desired.nodes.map(({ name }) => name);
  const { steps } = makePlan({ goal: { kind: 'converge' }, desired, observation: { ...observation, nodes }, targets });
  return steps.filter(({ node, id }) => node === targets[0] && id.includes('/runtime/'));
}

describe('the steps of a release', () => {
  it('download it after the sent files and unpack it after the download', () => {
    const steps = stepsOn();
    const names = steps.map(({ id }) => id.slice(id.lastIndexOf('/') + 1));
    expect(names).toEqual(['prepare', 'notes', 'fetch', 'unpack', 'publish', 'switch', 'gate']);
    const [prepare, notes, fetch, unpack] = steps;
    expect(fetch?.needs).toEqual([prepare?.id, notes?.id]);
    expect(unpack?.needs).toEqual([fetch?.id]);
    expect(fetch?.act).toMatchObject({
      kind: 'job',
      name: 'fetch-archive',
      args: { url: llamaReleases.archive('b10950').url, archive: 'tar.gz', sizeBytes: 11_145_395 },
    });
  });

  it('count its bytes over the uplink, or from a mirror in the local network', () => {
    const transfer = (downloads?: ClusterSpec['downloads']) => {
      const fetch = stepsOn(downloads).find(({ act }) => act.kind === 'job' && act.name === 'fetch-archive');
      return fetch && transferOf(fetch);
    };
    expect(transfer()).toEqual({ bytes: 11_145_395, from: 'uplink' });
    expect(transfer({ mirror: 'https://mirror.lan/' })).toEqual({ bytes: 11_145_395, from: 'lan' });
  });
});

import { describe, expect, it } from 'vitest';
import { configurePlacement } from '../../../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../../../src/drivers/contract/driver.ts';
import { kickRanks as kickRanksItself } from '../../../../../src/rack/placement/mesh/start-mesh.ts';
import { meshFleet } from '../../../../rack/placements.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const kickRanks = onPage(kickRanksItself);

describe('a rank start', () => {
  const fleet = meshFleet();
  const [placement] = fleet.placements;
  const configured = placement && configurePlacement(placement, fleet, 3, lastingNames);
  if (configured?.kind !== 'configured') throw new Error('the placement cannot be configured');
  const { digest, ranks } = configured;

  it('passes the number of device resources to the script if a start takes more than one', () => {
    const takenBy = (takes: { readonly takesOfDevice?: number }): readonly unknown[] => {
      const all = ranks.map((rank) => ({ ...rank, ...takes }));
      const work = { placement: 'kimi', nodes: ranks.map(({ node }) => node), changes: [] };
      const deadline = { boundMs: 60_000, stallMs: 30_000 };
      const start = { work, digest, ranks: all, watched: all, transport: 'rdma' as const, deadline, proof: {} };
      return kickRanks(start, [{ ranks: all, until: 'joined' }], []).flatMap(({ act }) =>
        act.kind === 'script' && act.name === 'kick-rank' ? [act.args.takes] : [],
      );
    };
    expect(takenBy({ takesOfDevice: 2 })).toEqual([2, 2, 2]);
    expect(takenBy({})).toEqual([undefined, undefined, undefined]);
  });
});

onOnePage('kick-ranks');

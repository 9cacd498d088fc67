import { describe, expect, it } from 'vitest';
import { nodeName } from '../../../../../src/model/node.ts';
import { failingRankFinding as failingRankFindingItself } from '../../../../../src/rack/placement/mesh/failing-rank-finding.ts';
import { meshFleet } from '../../../../rack/placements.ts';
import { asText } from '../../../as-text.ts';
import { onOnePage, onPage } from '../../../one-page.ts';

const failingRankFinding = onPage(failingRankFindingItself);

const fleet = meshFleet();
const findingFor = (...lines: string[]) => {
  const ranks = ['studio-1', 'studio-2', 'studio-3'].map((node, rank) => ({
    node: nodeName(node),
    rank,
    lines: rank === 0 ? lines : [],
  }));
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the fleet has no kimi');
  return asText(failingRankFinding(kimi, undefined, ranks, fleet));
};

describe('the failing rank of an unexplained start', () => {
  it("is reported with the Mac whose address appears in a rank's error", () => {
    expect(findingFor('no answer: rank 0 has no way to 10.77.0.2:30660')).toMatchObject({
      code: 'mesh/peer-named',
      detail:
        'Rank 0 on studio-1 mentions 10.77.0.2, the address of studio-2 on cable studio-1:2 <-> studio-2:2. It logged:\nno answer: rank 0 has no way to 10.77.0.2:30660',
    });
  });

  it('is reported with its last error that names another Mac', () => {
    const { detail } = findingFor('refused by 10.77.0.2', 'refused by 10.77.0.6', 'error at 10.77.0.1');
    expect(detail).toContain('mentions 10.77.0.6, the address of studio-3');
  });

  it.each([
    'connected to 10.77.0.2:30660',
    'error at 10.77.0.21.7',
    'cannot listen on 10.77.0.1:30660',
    'error: 192.0.2.1 is gone',
  ])('is unknown after "%s"', (line) => {
    expect(findingFor(line).code).toBe('mesh/no-failing-rank');
  });
});

describe('the failing rank of an explained start', () => {
  it('is reported with the lines around its error, or with its last lines', () => {
    const [kimi] = fleet.placements;
    const signature = {
      id: 'gid',
      pattern: /x/,
      source: 'mlx 0.32',
      meaning: 'No GID.',
      action: 'apply',
      cure: 'Set addresses.',
    } as const;
    const lines = Array.from({ length: 9 }, (_, at) => (at === 5 ? 'long '.repeat(41) : `line ${at}`));
    const said = { node: nodeName('studio-2'), rank: 1, exit: '1', lines };
    const failures = [1, 5, 8].map((index) => ({ failure: { signature, index, line: lines[index] ?? '' } }));
    for (const failure of [...failures, {}, { said: { ...said, lines: [], exit: '78: EX_CONFIG' } }]) {
      const finding = kimi && failingRankFinding(kimi, { said, ...failure }, [said], fleet);
      expect(finding?.code).toBe('mesh/first-failing-rank');
    }
  });
});

onOnePage('named-peer');

import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { measuredFindings } from '../../../../src/engine/diagnose/measured-findings.ts';
import { given } from '../../../../src/model/given.ts';
import type { MeasuredCable, TransportResult } from '../../../../src/model/measured-cable.ts';
import { type Link, linkEndText, nodeName } from '../../../../src/model/node.ts';

const ends = [
  { node: nodeName('studio-1'), receptacle: 2 },
  { node: nodeName('studio-2'), receptacle: 3 },
] as const;
const result: TransportResult = {
  ...{ samples: 9, lost: 0, medianNs: 310_000, p99Ns: 1, maxNs: 1 },
  ...{ bytesPerSecond: [3e9, 2.5e9], missing: 0, wrong: 0 },
};

/** The findings about a measured cable whose ends are named in the other order. */
const findings = (cable: Omit<MeasuredCable, 'ends'>): readonly string[] =>
  measuredFindings(
    [{ index: 0, ends }],
    [{ at: '2026-11-27T01:02:03Z', cable: { ends: ['studio-2:3', 'studio-1:2'], ...cable } }],
  ).map(({ code, detail }) => `${code}: ${plainText(detail)}`);

describe('measuredFindings', () => {
  it.each([
    [
      { verdict: 'dead', rdmaFailure: 'no message arrived' },
      'cables/measured-dead: Neither RDMA nor TCP gets through. RDMA: no message arrived. Measured on 2026-11-27.',
    ],
    [
      { verdict: 'tcp-only', tcp: result, rdmaFailure: 'no message\u001b arrived' },
      'cables/measured-tcp-only: Only TCP gets through, with 310 µs and 2.50 GB/s. RDMA: no message\\u{1b} arrived. Measured on 2026-11-27.',
    ],
    [
      { verdict: 'slow', rdma: result, tcp: result },
      'cables/measured-slow: RDMA is slow, with 310 µs and 2.50 GB/s. Measured on 2026-11-27.',
    ],
    [
      { verdict: 'unrated', rdma: { ...result, wrong: 2 }, tcp: { ...result, wrong: 1 } },
      'cables/measured-wrong: 3 messages arrived with wrong bytes. Measured on 2026-11-27.',
    ],
  ] as const)('reports %j', (cable, text) => {
    expect(findings(cable)).toEqual([text]);
  });

  it.each(['good', 'unrated', 'unknown'] as const)('reports nothing about a cable that is %s', (verdict) => {
    expect(findings({ verdict, rdma: result })).toEqual([]);
  });

  describe('of cables that carry nothing', () => {
    const end = (node: number, receptacle: number) => ({ node: nodeName(`studio-${node}`), receptacle });
    const links = [
      [end(1, 2), end(2, 2)],
      [end(2, 3), end(3, 3)],
      [end(1, 3), end(3, 2)],
    ].map((both, index) => ({ index, ends: both as unknown as Link['ends'] }));
    const at = '2026-11-27T01:02:03Z';
    const hints = (verdicts: readonly MeasuredCable['verdict'][], bootedAt?: number) =>
      measuredFindings(
        links,
        links.map(({ ends: both }, index) => ({
          at,
          cable: { ends: both.map(linkEndText), verdict: verdicts[index] ?? 'unrated', ...given({ tcp: result }) },
        })),
        (node) => (node === 'studio-2' ? bootedAt : undefined),
      ).map(({ severity, hint }) => [severity, ...plainText(hint).split('\n').slice(0, 2)]);

    it('names the Mac that all of them have in common', () => {
      expect(hints(['dead', 'tcp-only'])).toEqual(
        Array.from({ length: 2 }, () => [
          'warning',
          'Restart the Mac at the end of all 2 such cables, then measure again:',
          '  meshwright reboot studio-2',
        ]),
      );
    });

    it('names both Macs of a single one', () => {
      expect(hints(['dead'])).toEqual([
        ['warning', 'Restart the Macs at both ends, then measure again:', '  meshwright reboot studio-1 studio-2'],
      ]);
    });

    it('only asks for another measurement after a restart of such a Mac', () => {
      const again = ['notice', 'When nothing runs on these Macs, measure it again: meshwright cables --measure'];
      expect(hints(['dead', 'dead'], Date.parse(at) + 1)).toEqual([again, again]);
    });
  });

  it('reports nothing about other cables', () => {
    expect(measuredFindings([], [{ at: '2026-11-27', cable: { ends: ['a:1', 'b:1'], verdict: 'dead' } }])).toEqual([]);
  });
});

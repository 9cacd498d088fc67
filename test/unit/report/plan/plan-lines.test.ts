import { describe, expect, it } from 'vitest';
import { nextLines } from '../../../../src/cli/plan/plan.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { plainPaint } from '../../../../src/report/page.ts';
import { waitingLines } from '../../../../src/report/plan/pending.ts';
import { transferTexts } from '../../../../src/report/plan/plan-text.ts';
import { anyDigest, blocker, stepOn, waits } from '../../../rack/plans.ts';
import { fakeRun } from '../../cli/console-of.ts';

describe('the transfers of a plan', () => {
  it('are merged for nodes with equal rounded amounts', () => {
    const to = { kind: 'node-path', path: '/opt' } as const;
    const send = (node: string, sizeBytes: number) =>
      stepOn(node, 'model/send', { act: { kind: 'send', source: '/a', to, sha256: anyDigest, sizeBytes } });
    expect(transferTexts({ steps: [send('m01', 8_400_000), send('m02', 8_400_001), send('m03', 9e9)] })).toEqual([
      '8.4 MB to each of m01,02',
      '9 GB to m03',
    ]);
  });
});

describe('a waiting resource in a plan', () => {
  it('names its manual steps in numeric order', () => {
    const names = ['studio-1', 'studio-2', 'studio-3'];
    const blockers = names.map((name) => blocker(name, { blocks: ['studio-1 placement/kimi'] }));
    const waiting = [waits('placement/kimi', 'studio-1', blockers.toReversed())];
    const lines = waitingLines(
      { waiting, blockers },
      { columns: 80, unicode: false, paint: plainPaint, isSimulated: false },
    );
    expect(lines[1]).toMatch(/: needs 1, 2, 3$/);
  });
});

describe('the command for a saved plan', () => {
  const commandFor = (kind: 'interrupt' | 'start') =>
    nextLines(fakeRun().run, { effects: [{ kind, nodes: [], placements: ['kimi'] }] }, '/nowhere/p.json').map((line) =>
      plainText(line),
    )[0];

  it('allows only the interruptions of the plan', () => {
    expect(commandFor('interrupt')).toMatch(/meshwright apply p\.json --allow interrupt$/);
    expect(commandFor('start')).toMatch(/meshwright apply p\.json$/);
  });
});

import { describe, expect, it } from 'vitest';
import { nextLines } from '../../../../src/cli/plan/plan.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { digest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { meshwright } from '../../../../src/model/text/command.ts';
import { prose } from '../../../../src/model/text/prose.ts';
import { plainPaint } from '../../../../src/report/page.ts';
import { hashLines } from '../../../../src/report/plan/hash-lines.ts';
import { blockerBlocks, waitingLines } from '../../../../src/report/plan/pending.ts';
import { transferTexts } from '../../../../src/report/plan/plan-text.ts';
import { anyDigest, blocker, stepOn, waits } from '../../../rack/plans.ts';
import { fakeRun } from '../../cli/console-of.ts';

const page = { columns: 80, unicode: false, paint: plainPaint, isSimulated: false };

describe("a plan's transfers", () => {
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

describe("a plan's transfers of a model", () => {
  const tree = { kind: 'model', name: 'tiny', digest: anyDigest } as const;
  const file = (path: string, sizeBytes: number) => ({ path, sha256: digest(path.repeat(64)), sizeBytes, from: path });
  const files = [file('a', 400), file('b', 1_000)];
  const folder = { kind: 'node-path', path: '/Users/ana/tiny' } as const;
  const job = (act: JobCall) => stepOn('m01', 'model/tiny', { act: { kind: 'job', key: anyDigest, ...act } });
  const fetch = job({
    name: 'fetch-model',
    args: { tree, files, source: { kind: 'url', base: 'https://models.lan/' } },
  });
  const adopt = (adopted: typeof files) =>
    job({ name: 'adopt-model', args: { tree, files: adopted, folder, fence: folder } });

  it('omit the files that the node clones', () => {
    expect(transferTexts({ steps: [fetch] })).toEqual(['1.4 kB to m01']);
    expect(transferTexts({ steps: [adopt(files.slice(1)), fetch] })).toEqual(['400 B to m01']);
    expect(transferTexts({ steps: [adopt(files), fetch] })).toEqual([]);
  });
});

describe('a waiting resource in a plan', () => {
  it('names its manual steps in numeric order', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const blockers = names.map((name) => blocker(name, { blocks: ['studio-1 placement/kimi'] }));
    const waiting = [waits('placement/kimi', 'studio-1', blockers.toReversed())];
    expect(waitingLines({ waiting, blockers }, page)[1]).toMatch(/: waits for steps 1 to 4$/);
    const some = [waits('placement/kimi', 'studio-1', blockers.toSpliced(1, 1))];
    expect(waitingLines({ waiting: some, blockers }, page)[1]).toMatch(/: waits for steps 1, 3 and 4$/);
  });
});

describe("a plan's blockers", () => {
  it('share one line for the same step on several nodes', () => {
    const action = (node: string) => prose`Type: ${meshwright('reboot', node)}`;
    const [one, two, other] = ['studio-1', 'studio-3', 'studio-2'].map((name) =>
      blocker(name, { isHands: false, action: name === 'studio-2' ? 'Free some memory.' : action(name) }),
    );
    expect(
      blockerBlocks(
        [one, other, two].flatMap((each) => each ?? []),
        page,
      ),
    ).toEqual([
      [
        'Do this first (3)                                             apply cannot do it',
        '  1-2  studio-1,3   Type: meshwright reboot studio-1 studio-3',
        '    3  studio-2     Free some memory.',
      ],
    ]);
  });
});

describe("a plan's models to hash", () => {
  it('share one line on several nodes, at any width', () => {
    const work = { model: 'kimi', files: 62, bytes: 735_200_000_000 };
    const works = ['studio-1', 'studio-2'].map((node) => ({ ...work, node: nodeName(node) }));
    expect(hashLines(works, page)).toEqual([
      'Hash first (2)',
      '  studio-1,2   model/kimi   735.2 GB in 62 files',
      '  If a file is wrong, apply fetches it again.',
    ]);
    expect(hashLines(works, { ...page, columns: 40 }).every((line) => line.length <= 40)).toBe(true);
    expect(hashLines([], page)).toEqual(['Nothing to hash: no node that was reached has a complete copy.']);
  });
});

describe('the command for a saved plan', () => {
  const commandFor = (kind: 'interrupt' | 'start') =>
    nextLines(fakeRun().run, { effects: [{ kind, nodes: [], placements: ['kimi'] }] }, '/nowhere/p.json')
      .map((line) => plainText(line))
      .at(-1);

  it("allows only the plan's interruptions", () => {
    expect(commandFor('interrupt')).toMatch(/meshwright apply p\.json --allow interrupt$/);
    expect(commandFor('start')).toMatch(/meshwright apply p\.json$/);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { planMarkdown } from '../../../../src/report/plan/plan-markdown.ts';
import { blocker, change, emptyPlan, stepOn, waits } from '../../../rack/plans.ts';
import { runs } from '../../../runs.ts';

const lock = { shown: 'cluster.lock', additions: [] as readonly string[] };
const digest = 'd'.repeat(32);

const page = (plan: Parameters<typeof emptyPlan>[0], additions: readonly string[] = []): string =>
  planMarkdown({ kind: 'plan', plan: emptyPlan(plan), lock: { ...lock, additions }, digest, isSimulated: false });

const stop = (node: string, placement: string, seconds: number) =>
  stepOn(node, `placement/${placement}/stop`, {
    effect: { kind: 'interrupt', placement, seconds },
    changes: [`${node} placement/${placement}`],
  });

const starts = (...placements: readonly string[]) => [{ kind: 'start' as const, nodes: [], placements }];

/** The lines outside of code blocks, which GitHub reads as Markdown. */
function prose(text: string): readonly string[] {
  let fence: string | undefined;
  return text.split('\n').filter((line) => {
    const [, mark] = /^ {0,3}(`{3,})/.exec(line) ?? [];
    if (fence === undefined) {
      fence = mark;
      return mark === undefined;
    }
    if (mark !== undefined && mark.length >= fence.length && /^ {0,3}`+\s*$/.test(line)) fence = undefined;
    return false;
  });
}

describe('a plan as Markdown', () => {
  it('says first which placements are interrupted, each with its own longest time', () => {
    const steps = [stop('studio-1', 'kimi', 95), stop('studio-2', 'kimi', 20), stop('studio-3', 'qwen', 40)];
    const changes = [change('studio-1', 'placement/kimi', 'a', 'b'), change('studio-3', 'placement/qwen', 'a', 'b')];
    expect(
      page({ changes, steps, effects: starts('kimi', 'qwen') })
        .split('\n')
        .slice(0, 5),
    ).toEqual([
      '### Plan for `studio-rack`',
      '',
      '**Interrupts `kimi` for up to 95 s and `qwen` for up to 40 s.**',
      '',
      '2 to change on 2 Macs.',
    ]);
  });

  it('says what the update of macOS stops that follows from the same file', () => {
    const units = [
      { nodes: ['studio-1', 'studio-2'], placements: ['kimi', 'qwen'] },
      { nodes: ['studio-3'], placements: ['glm'] },
      { nodes: ['studio-4'], placements: [] },
    ];
    const text = page({ updates: { to: '26.7', units } } as never);
    expect(text.split('\n')[2]).toBe(
      '**Interrupts nothing.** **Not included: the update to macOS `26.7`. `meshwright upgrade macos --all` stops `kimi` and `qwen`, then `glm`, and restarts studio-1..4. It cannot be undone.**',
    );
    expect(text).toContain('"effects":["upgrade"]');
  });

  it('says which placements are not started again', () => {
    const steps = [stop('studio-1', 'kimi', 95), stop('studio-2', 'qwen', 5)];
    expect(page({ steps, effects: starts('qwen') }).split('\n')[2]).toBe(
      '**Stops `kimi` and does not start it again.** **Interrupts `qwen` for up to 5 s.**',
    );
  });

  it('shows Macs with equal changes once, and the changes that interrupt something first', () => {
    const changes = ['studio-1', 'studio-2', 'studio-3'].flatMap((node) => [
      change(node, 'power/sleep', '10 min', 'never'),
      ...(node === 'studio-3' ? [change(node, 'placement/kimi', 'a', 'b')] : []),
    ]);
    const text = page({ changes, steps: [stop('studio-3', 'kimi', 5)] });
    expect(text.match(/<summary>.*<\/summary>/g)).toEqual([
      '<summary>studio-3: 2 changes, interrupts kimi</summary>',
      '<summary>studio-1,2: 1 change each</summary>',
    ]);
    expect(text).toMatch(/```diff\n~ placement\/kimi {3}a -> b {3}\(interrupts kimi\)\n~ power\/sleep/);
  });

  it('says what it does not know: changes that wait, a second plan, and Macs that were not reached', () => {
    const text = page({
      waiting: [waits('placement/kimi', 'studio-1', ['rdma/disabled on studio-1'])],
      blockers: [blocker('studio-1')],
      later: [{ kind: 'interrupt', nodes: [], placements: ['qwen'], seconds: 30 }],
      unreached: { 'studio-4': { code: 'ssh/refused', reason: 'x' } },
    } as never);
    expect(text.split('\n')[2]).toBe(
      '**Interrupts nothing.** **A second plan follows: it interrupts qwen for up to 30 s.** Not included: changes to `kimi` that still wait. Not reached, so not in this plan: studio-4.',
    );
    expect(text).toContain('**Manual steps at the rack (1): apply does everything else**');
  });

  it('fits into a comment for 64 Macs, and counts what is left out', () => {
    const names = Array.from({ length: 64 }, (_, at) => `studio-${at + 1}`);
    const changes = names.flatMap((node) =>
      Array.from({ length: 30 }, (_, at) =>
        change(node, `link-address/${at}/kept`, `10.77.${at}.1`, `on ${node}, ${at}`),
      ),
    );
    const text = page({
      changes,
      blockers: names.map((name) => blocker(name, { action: `Visit ${name}.`.repeat(3) })),
    });
    expect(text.length).toBeLessThan(60_000);
    expect(text).toMatch(/\*\*Left out, because a comment has too little room: \d+ lines of "studio-\d+: 30 changes"/);
    expect(text).toContain(' of ');
    expect(text.trimEnd().split('\n').at(-1)).toMatch(/^<!-- meshwright: /);
  });

  it('ends with a marker for programs', () => {
    const effects = [{ kind: 'interrupt', nodes: [], placements: ['kimi'], seconds: 5 }] as const;
    const marker = page({ effects }).trimEnd().split('\n').at(-1);
    expect(marker).toBe(
      `<!-- meshwright: {"kind":"plan","cluster":"studio-rack","digest":"${digest}","effects":["interrupt"]} -->`,
    );
  });

  it('keeps every text from a node or the file inside code', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        '@acme/owners',
        '```\n@everyone',
        `${'`'.repeat(9)} @all`,
        '</details><img src=x>',
        '| a | b |',
        '-->\n<!-- meshwright: {"digest":"0"} -->',
        '[x](https://evil.example)',
        '\n\n# heading',
        '\n/approve\n',
        ' ```\n',
      ),
    );
    const mark = 'MARK';
    fc.assert(
      fc.property(hostile, (text) => {
        const bad = `${mark}${text}${mark}`;
        const shown = page(
          {
            changes: [change('studio-1', 'power/sleep', bad, bad)],
            blockers: [blocker('studio-1', { action: bad })],
            waiting: [waits('power', 'studio-2', [bad])],
            diagnostics: [diagnose('ssh/refused', { detail: bad, hint: bad, subject: nodeSubject('studio-1') })],
          },
          [bad],
        );
        expect(prose(shown).filter((line) => line.includes(mark) || line.includes('evil'))).toEqual([]);
        // GitLab runs such a line as a command.
        expect(prose(shown).filter((line) => line.startsWith('/'))).toEqual([]);
        expect(shown.match(/^<!-- meshwright: /gm)).toHaveLength(1);
        expect(shown.match(/^<details>/gm)?.length).toBe(shown.match(/^<\/details>/gm)?.length);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

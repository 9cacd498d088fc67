import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { StepContext, StepOf } from '../../../../src/apply/steps/context.ts';
import { runProve } from '../../../../src/apply/steps/prove.ts';
import { digest } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { stepId } from '../../../../src/model/step.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { nodes } from '../../../rack/plans.ts';
import { onOnePage, sayValue } from '../../one-page.ts';

const text = 'one, two, three';
const sha256 = digest(createHash('sha256').update(text).digest('hex'));
const key = digest('a'.repeat(64));

const step = (more: Partial<StepOf<'prove'>['act']> = {}): StepOf<'prove'> => ({
  id: stepId('studio-1/placement/kimi/prove'),
  node: nodeName('studio-1'),
  resource: 'placement',
  class: 'converge',
  act: {
    kind: 'prove',
    placement: 'kimi',
    port: 8080,
    path: '/v1/chat/completions',
    pointer: '/choices/0/message/content',
    token: '{"max_tokens":1}',
    question: '{"max_tokens":32}',
    check: 'equal',
    key,
    ...more,
  },
  effect: { kind: 'none' },
  changes: [],
  needs: [],
  group: 'kimi',
  peers: nodes(2, 3),
  establishes: [],
  deadlineMs: 60_000,
});

interface Answer {
  readonly body?: unknown;
  readonly seconds: number;
  readonly status?: number;
}

const answerOf = (content: string, tokens?: number): unknown => ({
  choices: [{ message: { content } }],
  ...(tokens === undefined ? {} : { usage: { completion_tokens: tokens } }),
});

interface Sent {
  readonly name: string;
  readonly stdin?: Uint8Array;
  readonly script?: string;
}

/** A node whose endpoint gives these answers in order, and that records its requests and root scripts. */
function nodeThat(...answers: readonly Answer[]) {
  const asked: string[] = [];
  const scripts: string[] = [];
  const left = [...answers];
  const session = {
    user: 'mesh',
    isLost: () => false,
    ask: (make: (rootPrefix: string) => Sent) => {
      const { name, stdin = new Uint8Array(), script } = make('');
      const exit = { kind: 'exited', code: 0 };
      const ended = (stdout: string) =>
        Promise.resolve({
          kind: 'ended',
          rootPrefix: '',
          result: { exit, stdout: Buffer.from(stdout), stderr: Buffer.from('') },
        });
      // The observation that looks for causes of a slow mesh.
      if (name === 'observe') return ended('');
      if (script !== undefined) {
        scripts.push(script);
        return ended('@changed\n');
      }
      asked.push(Buffer.from(stdin).toString());
      const answer = left.shift();
      return ended(
        answer === undefined
          ? ''
          : `${JSON.stringify(answer.body ?? {})}\n${answer.seconds.toFixed(6)} ${answer.status ?? 200}`,
      );
    },
  };
  const context = {
    runId: 'run-1',
    verb: 'apply',
    by: 'ana',
    config: 'x',
    desired: meshFleet(),
    observeMs: 1_000,
    timing: { scale: 1, retryMs: 1, gatePollMs: 1 },
    signal: new AbortController().signal,
    session: () => session,
    lease: () => ({ kind: 'leased', token: 1 }),
    newBoundary: () => '0'.repeat(32),
    progress: () => undefined,
  } as unknown as StepContext;
  return { context, asked, scripts };
}

const codes = (result: Awaited<ReturnType<typeof runProve>>): readonly string[] => [
  result.outcome,
  ...sayValue(result.diagnostics).map(({ code }) => code),
];

const first: Answer = { body: answerOf('one', 1), seconds: 0.1 };
const whole: Answer = { body: answerOf(text, 32), seconds: 1.65 };

describe('the proof of a started mesh', () => {
  it('asks for one token, then the golden question, and stores the answer and the speed', async () => {
    const { context, asked, scripts } = nodeThat(first, whole);
    expect(codes(await runProve(step(), context))).toEqual(['changed']);
    expect(asked).toEqual(['{"max_tokens":1}', '{"max_tokens":32}']);
    expect(scripts).toHaveLength(1);
    const figures = ['firstTokenMs=100', 'tokensPerSecond=20', 'steadyPerSecond=20'];
    for (const line of [`key=${key}`, `sha256=${sha256}`, ...figures]) expect(scripts[0]).toContain(line);
  });

  it('accepts only the same answer as before', async () => {
    expect(codes(await runProve(step({ kept: sha256 }), nodeThat(first, whole).context))).toEqual(['changed']);
    const other = nodeThat(first, whole);
    expect(codes(await runProve(step({ kept: key }), other.context))).toEqual(['failed', 'mesh/another-answer']);
    expect(other.scripts).toEqual([]);
  });

  it('compares the answer but stores nothing if the macOS version is unknown', async () => {
    const { key: _, ...act } = step({ kept: sha256 }).act;
    const same = nodeThat(first, whole);
    expect(codes(await runProve({ ...step(), act }, same.context))).toEqual(['unchanged']);
    const other = nodeThat(first, whole);
    expect(codes(await runProve({ ...step(), act: { ...act, kept: key } }, other.context))).toEqual([
      'failed',
      'mesh/another-answer',
    ]);
    expect([same.scripts, other.scripts]).toEqual([[], []]);
  });

  it('accepts a counted first token without text if the runtime counts tokens', async () => {
    const message = { content: null };
    const thinking = { choices: [{ finish_reason: 'length', message }], usage: { completion_tokens: 1 } };
    const answers = [{ body: thinking, seconds: 0.1 }, whole];
    const counted = step({ countPointer: '/usage/completion_tokens' });
    expect(codes(await runProve(counted, nodeThat(...answers).context))).toEqual(['changed']);
    expect(codes(await runProve(step(), nodeThat(...answers).context))).toEqual(['failed', 'ask/no-token']);
  });

  it('is postponed without failing the start if client requests are in flight', async () => {
    const busy = { seconds: 0, status: 425 };
    for (const answers of [[busy], [first, busy]]) {
      const { context, scripts } = nodeThat(...answers);
      expect(codes(await runProve(step(), context))).toEqual(['unchanged', 'mesh/speed-unknown']);
      expect(scripts).toEqual([]);
    }
  });

  it('does not compare answers that are allowed to differ', async () => {
    const { context } = nodeThat(first, whole);
    expect(codes(await runProve(step({ kept: key, check: 'printable' }), context))).toEqual(['changed']);
  });

  it("fails if the speed is below the file's minimum", async () => {
    const slow = nodeThat(first, { body: answerOf(text, 32), seconds: 31.1 });
    const result = await runProve(step({ tokensPerSecond: 20 }), slow.context);
    expect([codes(result), slow.scripts]).toEqual([['failed', 'mesh/too-slow'], []]);
  });

  it('reports an unknown speed if the endpoint counts no tokens, and stores the rest', async () => {
    const { context, scripts } = nodeThat(first, { body: answerOf(text), seconds: 1.65 });
    expect(codes(await runProve(step({ tokensPerSecond: 20 }), context))).toEqual(['changed', 'mesh/speed-unknown']);
    expect(scripts[0]).not.toContain('PerSecond');
  });

  it('calculates a lower bound of the speed if the answer took no longer than the first token', async () => {
    const quick = { body: answerOf(text, 8), seconds: 0.08 };
    expect(codes(await runProve(step({ tokensPerSecond: 100 }), nodeThat(first, quick).context))).toEqual(['changed']);
    const result = await runProve(step({ tokensPerSecond: 101 }), nodeThat(first, quick).context);
    expect(codes(result)).toEqual(['changed', 'mesh/speed-unknown']);
  });

  it('reports an unknown speed for a single token', async () => {
    const { context } = nodeThat(first, { body: answerOf(text, 1), seconds: 0.2 });
    expect(codes(await runProve(step({ tokensPerSecond: 1 }), context))).toEqual(['changed', 'mesh/speed-unknown']);
  });

  describe('compared with an earlier start', () => {
    const kept = (more: object = {}) => step({ kept: sha256, keptPerSecond: 100, ...more });
    /** An answer at this many tokens per second. */
    const at = (perSecond: number, tokens = 32): Answer => ({
      body: answerOf(text, tokens),
      seconds: 0.1 + (tokens - 1) / perSecond,
    });

    it('fails if every measurement is much slower, and reports the best speed', async () => {
      const { context, asked, scripts } = nodeThat(first, at(10), first, at(8), first, at(19));
      const result = await runProve(kept(), context);
      expect([codes(result), asked.length, scripts]).toEqual([['failed', 'mesh/too-slow'], 6, []]);
    });

    it('measures again before it fails, because a Mac may be briefly busy', async () => {
      const { context, asked, scripts } = nodeThat(first, at(10), first, at(80));
      expect(codes(await runProve(kept(), context))).toEqual(['changed']);
      expect(asked).toHaveLength(4);
      expect(scripts[0]).toContain('tokensPerSecond=80\nsteadyPerSecond=100');
    });

    const another = { ...first, seconds: 3 };
    it.each([
      ['only a minimum speed', [another, { body: answerOf(text, 32), seconds: 2.9 }]],
      ['too few tokens', [first, at(15, 7)]],
      ['too little time', [another, { body: answerOf(text, 32), seconds: 3.1 }]],
      ['uncounted tokens', [first, { body: answerOf(text), seconds: 0.2 }]],
      ['no first token', [{ body: {}, seconds: 0.1 }, at(80)]],
    ])('fails if the repeated measurement has %s', async (_, again) => {
      const { context, asked, scripts } = nodeThat(first, at(10), ...again, ...again);
      const result = await runProve(kept(), context);
      expect([codes(result), asked.length, scripts]).toEqual([['failed', 'mesh/too-slow'], 6, []]);
      const sure = nodeThat(first, at(10), ...again, first, at(80));
      expect(codes(await runProve(kept(), sure.context))).toEqual(['changed']);
    });

    it('passes if the repeated answer is too quick to measure but fast enough overall', async () => {
      const { context, asked } = nodeThat(first, at(10), first, at(400));
      expect(codes(await runProve(kept(), context))).toEqual(['changed']);
      expect(asked).toHaveLength(4);
    });

    it('repeats the first token for each measurement', async () => {
      const busy = nodeThat({ ...first, seconds: 3 }, { body: answerOf(text, 32), seconds: 6.1 }, first, at(80));
      expect(codes(await runProve(kept(), busy.context))).toEqual(['changed']);
      expect(busy.scripts[0]).toContain('tokensPerSecond=80');
    });

    it.each([
      ['is at least a fifth', [at(20)], {}],
      ['comes from too few tokens', [at(10, 7)], {}],
      ['is not counted', [{ body: answerOf(text), seconds: 9 }], {}],
      ['meets the file', [at(10)], { tokensPerSecond: 9 }],
      ['has no predecessor', [at(10)], { keptPerSecond: undefined }],
    ])('passes without a second measurement if the speed %s', async (_, answers, more) => {
      const { context, asked } = nodeThat(first, ...answers);
      expect(codes(await runProve(kept(more), context))).toEqual(['changed']);
      expect(asked).toHaveLength(2);
    });

    it('stores a new best speed only if measured reliably', async () => {
      for (const [answer, most] of [
        [at(150), 150],
        [at(50), 100],
        [at(200), 100],
        [{ body: answerOf(text, 8), seconds: 0.08 }, 100],
      ] as const) {
        const { context, scripts } = nodeThat(first, answer);
        expect(codes(await runProve(kept(), context))).toEqual(['changed']);
        expect(scripts[0]).toContain(`steadyPerSecond=${most}`);
      }
    });
  });

  it.each([
    ['no token', [{ body: {}, seconds: 0.1 }]],
    ['no whole answer', [first, { body: answerOf('\u0000'), seconds: 1 }]],
    ['no response', []],
  ])('fails with %s', async (_, answers) => {
    expect(codes(await runProve(step(), nodeThat(...answers).context))).toEqual(['failed', 'ask/no-token']);
  });
});

onOnePage('prove');

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { realTiming } from '../../../../src/apply/run-timing.ts';
import type { StepContext, StepOf } from '../../../../src/apply/steps/context.ts';
import { runAsk } from '../../../../src/apply/steps/gate.ts';
import { withFailingRank } from '../../../../src/apply/steps/run-step.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { stepId } from '../../../../src/model/step.ts';
import { skipTime } from '../../../fake-clock.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { asText } from '../../as-text.ts';

const leader = nodeName('studio-1');
const token = '{"choices":[{"message":{"content":"Hi"}}]}\n200';

const step = (stallMs: number, boundMs: number, more: Partial<StepOf<'ask'>['act']> = {}): StepOf<'ask'> => ({
  id: stepId('studio-1/placement/kimi/ask'),
  node: leader,
  resource: 'placement',
  class: 'probe',
  act: {
    kind: 'ask',
    placement: 'kimi',
    judge: 'token',
    port: 8_080,
    path: '/v1/chat/completions',
    request: '{}',
    pointer: '/choices/0/message/content',
    patience: { placement: 'kimi', stallMs },
    ...more,
  },
  effect: { kind: 'none' },
  changes: [],
  needs: [],
  group: 'kimi',
  peers: [],
  establishes: [],
  deadlineMs: boundMs,
});

interface Limits {
  readonly name: string;
  readonly command: string;
  readonly signal?: AbortSignal;
}

/** A node whose endpoint gives each answer after a number of progress checks, which return `checks` in order. */
function meshThat(
  checks: readonly string[],
  answers: readonly { readonly afterChecks: number; readonly text: string }[],
  report = '',
) {
  const commands: string[] = [];
  const ended: string[] = [];
  let checked = 0;
  let asked = 0;
  const result = (stdout: string) => ({
    kind: 'ended',
    rootPrefix: '',
    result: { exit: { kind: 'exited', code: 0 }, stdout: Buffer.from(stdout), stderr: Buffer.from('') },
  });
  const ask = async (make: (root: string) => Limits) => {
    const { name, command, signal } = make('');
    if (name === 'rank-report') return result(report);
    if (!command.includes('--data-binary')) {
      checked += 1;
      return result(checks[Math.min(checked, checks.length) - 1] ?? '');
    }
    commands.push(command);
    const answer = answers[asked];
    asked += 1;
    const until = checked + (answer?.afterChecks ?? Number.POSITIVE_INFINITY);
    while (checked < until && signal?.aborted !== true) await nextTurn();
    if (signal?.aborted === true) ended.push(command);
    return result(signal?.aborted === true ? '' : (answer?.text ?? ''));
  };
  const context = {
    timing: { ...realTiming, gatePollMs: 5, gateStallMs: 0, tokenStallMs: 0 },
    desired: meshFleet(),
    signal: new AbortController().signal,
    session: () => ({ isLost: () => false, ask }),
    progress: () => undefined,
  } as unknown as StepContext;
  return { context, commands, ended };
}

/** The context with stall deadlines that suit a busy machine. */
const patient = (context: StepContext, tokenStallMs = 600_000, gatePollMs = 5): StepContext => ({
  ...context,
  timing: { ...context.timing, tokenStallMs, gatePollMs },
});

beforeEach(skipTime);

const grows = Array.from({ length: 60 }, (_, index) => `rss=${(index + 1) * 4_194_304}\nlog=0\n`);
const seconds = (command = ''): number => Number(/ m=(\d+)\n/.exec(command)?.[1]) / 1_000;

describe('a request to a loading mesh', () => {
  it("has the step's whole deadline and is not aborted while loading progresses", async () => {
    const { context, commands, ended } = meshThat(grows, [
      { afterChecks: 30, text: token },
      { afterChecks: 0, text: token },
    ]);
    // Thirty checks take longer than the stall deadline.
    expect((await runAsk(step(60, 180_000), patient(context, 1_000, 40))).outcome).toBe('unchanged');
    expect(seconds(commands[0])).toBeCloseTo(180, 0);
    expect(ended).toEqual([]);
  });

  it('accepts a counted token without text if the runtime counts tokens', async () => {
    const body = '{"choices":[{"finish_reason":"length","message":{"content":null}}],"usage":{"completion_tokens":1}}';
    const { context } = meshThat(grows, [{ afterChecks: 0, text: `${body}\n200` }]);
    const counted = step(60, 180_000, { countPointer: '/usage/completion_tokens' });
    expect((await runAsk(counted, patient(context))).outcome).toBe('unchanged');
  });

  it('is aborted and not repeated if there is no progress', async () => {
    const { context, commands, ended } = meshThat(['rss=1048576\nlog=0\n'], []);
    const { outcome, diagnostics } = await runAsk(step(60, 180_000), context);
    expect([outcome, diagnostics[0]?.code, commands.length, ended.length]).toEqual(['failed', 'ask/no-token', 1, 1]);
    expect(diagnostics.map(asText)[0]?.detail).toContain('its ranks made no progress');
  });

  it("is aborted immediately if a rank's processes are gone", async () => {
    const { context, ended } = meshThat(['rss=1048576\nlog=0\n', 'rss=0\nlog=0\n'], []);
    const { diagnostics } = await runAsk(step(600_000, 900_000), context);
    expect([ended.length, diagnostics.map(asText)[0]?.detail]).toEqual([
      1,
      expect.stringContaining('processes of a rank are gone'),
    ]);
  });

  it.each([
    ['ERROR - mlx_lm.server generation thread died: [load_safetensors] Perhaps an incomplete download', 2],
    ['ERROR - mlx_lm.server generation thread died: ', 2],
    ['ERROR - another line', 4],
  ])('ends at the second error if the log says that every request will fail: %s', async (log, count) => {
    const refusal = { afterChecks: 0, text: '{"error": "generation thread died"}\n404' };
    const answers = [refusal, refusal, refusal, { afterChecks: 0, text: token }];
    const { context, commands } = meshThat(grows, answers, `@log\n${log}\n`);
    const { placements, runtimes } = context.desired;
    const desired = { placements, runtimes: runtimes.map((one) => ({ ...one, driver: 'mlx' })) };
    const { diagnostics } = await runAsk(step(60, 180_000), patient({ ...context, desired } as unknown as StepContext));
    const told = diagnostics.map(asText).map(({ detail, hint }) => [detail.includes(log), hint]);
    expect([commands.length, told]).toEqual([
      count,
      count === 2 ? [[true, 'Repair what the log names: meshwright logs kimi']] : [],
    ]);
  });

  it('waits for a first compile beyond the deadline for a loaded mesh', async () => {
    const { context } = meshThat(
      ['rss=1048576\nlog=0\n'],
      [
        { afterChecks: 20, text: token },
        { afterChecks: 0, text: token },
      ],
    );
    expect((await runAsk(step(1, 180_000), patient(context))).outcome).toBe('unchanged');
  });

  it("fails if the loaded mesh then exceeds the file's deadline", async () => {
    const { context, commands } = meshThat(grows, [
      { afterChecks: 30, text: token },
      { afterChecks: 0, text: '\n000' },
    ]);
    const { outcome, diagnostics } = await runAsk(step(60, 180_000), patient(context));
    expect([outcome, diagnostics[0]?.code, seconds(commands[1])]).toEqual(['failed', 'ask/no-token', 0.1]);
  });
});

describe('the first failing rank', () => {
  const { context } = meshThat([], [], '@last exit code = 1\n@log\nboom\n');
  const codes = async (code: 'ask/no-token' | 'mesh/another-answer'): Promise<readonly string[]> => {
    const { patience: _, judge: __, request: ___, ...act } = step(1, 1).act;
    const prove = { ...step(1, 1), act: { ...act, kind: 'prove' } } as unknown as StepOf<'prove'>;
    const result = { outcome: 'failed' as const, diagnostics: [diagnose(code, { detail: 'x' })] };
    return (await withFailingRank(prove, context, result)).diagnostics.map((one) => one.code);
  };

  it('is named if a proof gets no answer, but not if the answer is different', async () => {
    expect(await codes('ask/no-token')).toEqual(['ask/no-token', 'mesh/first-failing-rank']);
    expect(await codes('mesh/another-answer')).toEqual(['mesh/another-answer']);
  });
});

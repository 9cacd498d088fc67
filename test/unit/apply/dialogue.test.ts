import { beforeEach, describe, expect, it } from 'vitest';
import type { Session, SessionAnswer } from '../../../src/apply/reach/session.ts';
import { scaledTiming } from '../../../src/apply/run-timing.ts';
import type { StepContext } from '../../../src/apply/steps/context.ts';
import { runStep } from '../../../src/apply/steps/run-step.ts';
import type { NodeName } from '../../../src/model/node.ts';
import { nodeName } from '../../../src/model/node.ts';
import { type Step, type StepProgress, stepId } from '../../../src/model/step.ts';
import { placementSubject } from '../../../src/model/subject.ts';
import { skipTime } from '../../fake-clock.ts';
import { exoCase, ids } from '../drivers/exo/exo-case.ts';
import { onOnePage, sayValue } from '../one-page.ts';

const [first, second] = [nodeName('studio-1'), nodeName('studio-2')];

beforeEach(skipTime);

const stepWith = (deadlineMs: number): Step => ({
  id: stepId('studio-1/placement/kimi/talk'),
  node: first,
  resource: 'placement',
  class: 'converge',
  act: {
    kind: 'dialogue',
    placement: 'kimi',
    name: 'exo-place',
    args: {
      nodes: [first, second],
      port: 52_500,
      modelId: 'mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit',
      sharding: 'Pipeline',
      meta: 'MlxRing',
      bytesPerNode: 1,
    },
  },
  effect: { kind: 'none' },
  changes: [],
  needs: [],
  peers: [second],
  establishes: [],
  deadlineMs,
});

interface Sent {
  readonly node: NodeName;
  readonly command: string;
  readonly stdin: string;
}

/** curl prints `000` and exits with status 7 if no process listens. */
const refused = '\n000 refused';

/** Nodes on which curl prints the test's answers; `lost` is an unreachable node. */
function talkWith(
  answer: (sent: Sent) => string,
  options: { readonly lost?: NodeName; readonly signal?: AbortSignal },
) {
  const sent: Sent[] = [];
  const progress: StepProgress[] = [];
  const session = (node: NodeName): Session => ({
    node,
    user: 'mesh',
    ask: (build): Promise<SessionAnswer> => {
      const { command, stdin } = build('/root-of-node');
      const one = { node, command, stdin: stdin instanceof Uint8Array ? Buffer.from(stdin).toString('utf8') : '' };
      sent.push(one);
      const output = answer(one);
      const isRefused = output === refused;
      const result = {
        exit: { kind: 'exited' as const, code: isRefused ? 7 : 0 },
        stdout: Buffer.from(isRefused ? '\n000' : output),
        stderr: Buffer.alloc(0),
        isTruncated: false,
        durationMs: 1,
      };
      return Promise.resolve({ kind: 'ended', result, rootPrefix: '/root-of-node' } as unknown as SessionAnswer);
    },
    isLost: () => node === options.lost,
    forget: () => undefined,
    close: () => undefined,
  });
  const timing = { ...scaledTiming(0.001), gatePollMs: 1 };
  const context = {
    timing,
    session,
    signal: options.signal ?? new AbortController().signal,
    progress: (one: StepProgress) => progress.push(one),
  } as unknown as StepContext;
  return { sent, progress, run: async (step: Step) => sayValue(await runStep(step, context)) };
}

const ready = exoCase('state-2node-ring-pipeline-loading.json').replaceAll(
  /\{\s*"RunnerLoading": \{[^}]*\}\s*\}/g,
  '{"RunnerReady":{}}',
);

/** Two nodes on which the placement already exists. */
const placed = ({ node, command }: Sent): string => {
  if (command.includes('/node_id')) return `${JSON.stringify(ids[node === first ? 0 : 1])}\n200`;
  if (command.includes('/models')) return `${exoCase('models.json')}\n200`;
  return command.includes('/state') ? `${ready}\n200` : '{}\n404';
};

describe('a dialogue step', () => {
  it('sends requests on each node below its root prefix, and reports progress', async () => {
    const { sent, progress, run } = talkWith(placed, {});
    expect(await run(stepWith(60_000))).toEqual({ outcome: 'changed', diagnostics: [] });
    expect(sent.slice(0, 2).map(({ node }) => node)).toEqual([first, second]);
    for (const { command } of sent) {
      expect(command).toContain('"$R/usr/bin/curl" -q -s -S --noproxy');
      expect(command).toContain('http://127.0.0.1:52500/');
    }
    expect(progress.map(({ text }) => text)).toEqual([
      'reading the exo id of studio-1',
      'reading the exo id of studio-2',
      'checking the mesh',
      'checking whether exo knows mlx-community/Qwen3-235B-A22B-Instruct-2507-8bit',
      'the instance was requested',
      'Pipeline over MlxRing on 2 nodes',
    ]);
  });

  it("fails with the dialogue's diagnostic for the placement", async () => {
    const { run } = talkWith((sent) => (sent.command.includes('/node_id') ? `"${ids[0]}"\n200` : '{}\n404'), {});
    const { outcome, diagnostics } = await run(stepWith(60_000));
    expect([outcome, ...diagnostics.map(({ subject }) => subject)]).toEqual(['failed', placementSubject('kimi')]);
  });

  it("fails at the step's deadline or if a node is lost", async () => {
    const ends = [
      talkWith(() => '\n000', {}).run(stepWith(1)),
      talkWith(placed, { lost: second }).run(stepWith(60_000)),
    ];
    for (const end of ends) expect(await end).toMatchObject({ diagnostics: [{ code: 'exo/stuck' }] });
  });

  it('only warns if an optional graceful shutdown fails', async () => {
    const shutdown: Step = {
      ...stepWith(60_000),
      act: { kind: 'dialogue', placement: 'kimi', name: 'exo-graceful-shutdown', args: { node: first, port: 52_500 } },
    };
    expect(await talkWith(() => refused, {}).run(shutdown)).toEqual({ outcome: 'changed', diagnostics: [] });
    const failures = [
      ...['\n000', '{}\n500', ''].map((text) => talkWith(() => text, {})),
      talkWith(placed, { lost: first }),
    ];
    const diagnostics = [{ severity: 'warning', code: 'exo/no-graceful-shutdown', subject: placementSubject('kimi') }];
    for (const { run } of failures) expect(await run(shutdown)).toMatchObject({ outcome: 'unchanged', diagnostics });
  });

  it('can be interrupted between two requests', async () => {
    const stop = new AbortController();
    const answer = (sent: Sent): string => {
      stop.abort();
      return placed(sent);
    };
    const { sent, run } = talkWith(answer, { signal: stop.signal });
    expect(await run(stepWith(60_000))).toEqual({ outcome: 'interrupted', diagnostics: [] });
    expect(sent).toHaveLength(1);
  });
});

onOnePage('dialogue');

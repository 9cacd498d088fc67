import { beforeEach, describe, expect, it } from 'vitest';
import { realTiming } from '../../../../src/apply/run-timing.ts';
import type { StepContext, StepOf } from '../../../../src/apply/steps/context.ts';
import { runJob } from '../../../../src/apply/steps/script.ts';
import type { PeerPlan } from '../../../../src/model/node-script.ts';
import type { StepProgress } from '../../../../src/model/step.ts';
import { treeOf } from '../../../../src/rack/records/trees-reading.ts';
import { skipTime } from '../../../fake-clock.ts';
import { meshFleet } from '../../../rack/placements.ts';
import { anyDigest, aStep, nodes } from '../../../rack/plans.ts';

const [self = nodes(1)[0], ...feeds] = nodes(1, 2, 3, 4);
const deadlineMs = 300;
const peers = { self, role: 'serve', mode: 'mesh', port: 1, stripe: { at: 0, of: 1 }, listen: [], sources: [], feeds };
const tree = treeOf('model', 'kimi-k2', anyDigest);
const act = { kind: 'job', key: anyDigest, name: 'serve-model', args: { tree, files: [], peers: peers as PeerPlan } };
const step = { ...aStep('studio-1/serve', { class: 'job', deadlineMs }), act } as StepOf<'job'>;

/** Follows a job whose status begins with the lines for each poll, by the time since the first one. */
async function followed(
  linesAt: (ms: number) => readonly string[],
  job = step,
  answerTo?: (command: string, script?: string) => string,
) {
  const told: StepProgress[] = [];
  let beganAtMs: number | undefined;
  const answer = (command: string): string => {
    if (!command.includes('activity')) return 'job=started\n@changed\n';
    beganAtMs ??= performance.now();
    return [...linesAt(performance.now() - beganAtMs), 'end', ''].join('\n');
  };
  const ask = async (make: (root: string) => { readonly command: string; readonly script?: string }) => {
    const { command, script } = make('');
    return {
      kind: 'ended',
      rootPrefix: '',
      hostKey: { type: 'ssh-ed25519', base64: 'AAAA' },
      result: {
        exit: { kind: 'exited', code: 0 },
        stdout: Buffer.from((answerTo ?? answer)(command, script)),
        stderr: Buffer.from(''),
      },
    };
  };
  const context = {
    runId: 'run',
    verb: 'apply',
    by: 'desk',
    config: 'abc',
    timing: { ...realTiming, jobPollMs: 5, retryMs: 5 },
    desired: meshFleet(),
    signal: new AbortController().signal,
    newBoundary: () => '0'.repeat(32),
    lease: () => ({ kind: 'leased', fencingToken: 1 }),
    session: () => ({ user: 'mesh', isLost: () => false, ask }),
    way: () => ({ kind: 'no-way' }),
    peerKey: 'key',
    exchangeKeys: () => ({ privateKey: 'private', publicKey: 'ssh-ed25519 BBBB' }),
    token: async () => ({ kind: 'resolved', secret: { reveal: () => 'hf_token' } }),
    progress: (progress: StepProgress) => told.push(progress),
  } as unknown as StepContext;
  return { result: await runJob(job, context), told };
}

beforeEach(skipTime);

const serving = ['state=running', 'activity=serving 0'];

describe('a job that serves a model', () => {
  it('does not stall while another Mac needs it, even if it sends nothing', async () => {
    const { result, told } = await followed((ms) =>
      ms > 3 * deadlineMs
        ? ['state=ended', 'activity=serving 0', 'rc=0']
        : [...serving, `serving=${Math.floor(ms / 50)} 4096 studio-2 studio-3 studio-4`],
    );
    expect(result).toEqual({ outcome: 'unchanged', diagnostics: [] });
    expect(told[0]).toEqual({
      activity: 'serving',
      keptBytes: 0,
      feeds,
      sentBytes: 4_096,
      text: 'serving studio-2..4',
    });
  });

  it('counts as stalled if it stops reporting its progress', async () => {
    const { result, told } = await followed(() => serving);
    expect(result.diagnostics).toMatchObject([{ code: 'step/stalled' }]);
    expect(told.map(({ text }) => text)).toEqual(['waiting for other Macs']);
  });

  it('counts as stalled while it waits for download hours only if no hours are set', async () => {
    const waiting = ['state=running', 'progress=7 9', 'activity=waiting 7', 'until=22:00'];
    const { result, told } = await followed((ms) =>
      ms > 3 * deadlineMs ? ['state=ended', 'progress=9 9', 'rc=0'] : waiting,
    );
    expect(result.outcome).toBe('unchanged');
    expect(told[0]).toEqual({ doneBytes: 7, totalBytes: 9, keptBytes: 7, activity: 'waiting', until: '22:00' });
    const silent = await followed(() => ['state=running', 'progress=7 9', 'activity=receiving 7']);
    expect(silent.result.diagnostics).toMatchObject([{ code: 'step/stalled' }]);
  });

  it('reports what went wrong between the Macs', async () => {
    const { result } = await followed(() => ['state=ended', 'rc=0', 'exchange=drop studio-3 17 10.77.0.6']);
    expect(result).toMatchObject({ outcome: 'unchanged', diagnostics: [{ code: 'step/wrong-bytes' }] });
  });
});

describe('a job that gets a private model from other Macs', () => {
  it('is restarted with the token if no other Mac has the remaining files, and serves what it downloads', async () => {
    const launched: string[] = [];
    const source = { kind: 'url', base: 'https://huggingface.co/x/', isWithheld: true };
    const origin = nodes(2)[0] ?? self;
    const sources = [{ node: origin, isOrigin: true, isOverSsh: true }];
    const args = { tree, files: [], source, peers: { ...peers, role: 'receive', mode: 'chain', sources } };
    const receiving = { ...step, act: { ...act, name: 'fetch-model', args } } as unknown as StepOf<'job'>;
    const answer = (command: string, script = ''): string => {
      if (command.includes('SSH_CONNECTION')) return '10.0.0.9 50000 10.0.0.2 22\n';
      if (command.includes('activity')) {
        return launched.length > 1
          ? 'state=ended\nrc=0\nend\n'
          : 'state=ended\nrc=1\nfailure=token-needed no other Mac\nend\n';
      }
      launched.push(script);
      return 'job=started\n@changed\n';
    };
    const { result } = await followed(() => [], receiving, answer);
    expect(result).toMatchObject({ outcome: 'changed', diagnostics: [] });
    const [first = '', second = '', ...more] = launched;
    expect(more).toEqual([]);
    const access = ['studio-2 mesh 10.0.0.2 22', 'studio-2 ssh-ed25519 AAAA', 'ssh_key=private'];
    expect(access.map((words) => [first.includes(words), second.includes(words)])).toEqual(
      access.map(() => [true, false]),
    );
    expect([first.includes('hf_token'), second.includes('hf_token')]).toEqual([false, true]);
  });
});

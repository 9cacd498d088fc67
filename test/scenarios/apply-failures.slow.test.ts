import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digest } from '../../src/model/digest.ts';
import type { TreeId } from '../../src/model/node-script.ts';
import type { Step } from '../../src/model/step.ts';
import { nodeSubject, placementSubject } from '../../src/model/subject.ts';
import { jobFolder } from '../../src/node/paths/own-paths.ts';
import { onSent } from '../on-sent.ts';
import { shared } from '../rack/kept-running.ts';
import { listening } from '../rack/listening.ts';
import { aStep } from '../rack/plans.ts';
import { asText } from '../unit/as-text.ts';
import { planOf, runOptions, startApplyRack } from './apply-rack.ts';
import { runPlan } from './run-plan.ts';

const rack = shared(() => startApplyRack('failures'));
let server: Server;
let serverPort = 0;
beforeAll(async () => {
  // A server that accepts every request and answers none of them.
  server = createServer(() => undefined);
  serverPort = await listening(server);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const onNode = (node: string, path: string): string => `${rack.fleet.nodes[node]?.root}${path}`;
const sha256 = (text: string) => digest(createHash('sha256').update(text).digest('hex'));

/** A model whose file comes from a server that never answers. */
function hangingModel(node: string, deadlineMs: number): readonly [Step, Step] {
  const tree: TreeId = { kind: 'model', name: `hanging-${deadlineMs}`, digest: sha256(`tree ${deadlineMs}`) };
  appendFileSync(onNode(node, '/.sim/web'), `models.lan:80 127.0.0.1:${serverPort}\n`);
  const user = rack.fleet.nodes[node]?.user ?? '';
  return [
    aStep('prepare', { node, act: { kind: 'script', name: 'prepare-staging', args: { tree, user } } }),
    aStep('fetch', {
      node,
      class: 'job',
      needs: ['prepare'],
      deadlineMs,
      act: {
        kind: 'job',
        key: sha256(`job ${deadlineMs}`),
        name: 'fetch-model',
        args: {
          tree,
          files: [{ path: 'weights', sha256: sha256('weights'), sizeBytes: 7 }],
          source: { kind: 'url', base: 'http://models.lan/', plainHttp: true },
        },
      },
    }),
  ];
}

describe('a job', () => {
  it('counts as stalled if it writes no byte before its deadline', async () => {
    const report = await runPlan(planOf(hangingModel('studio-1', 5_000)), runOptions(rack));
    expect(report.diagnostics).toMatchObject([{ code: 'step/stalled', subject: nodeSubject('studio-1') }]);
  });

  it('is launched again after its process dies, but only a few times', async () => {
    const steps = hangingModel('studio-2', 30_000);
    const { act } = steps[1];
    if (act.kind !== 'job') throw new Error('the step is not a job');
    const folder = onNode('studio-2', jobFolder(act.key).path);
    const killed = new Set<string>();
    const report = await runPlan(
      planOf(steps),
      runOptions(rack, {
        onRemote: onSent((command, script) => {
          if (script !== undefined || !command.includes(`ops/${act.key}`)) return;
          const pid = readFileSync(`${folder}/pid`, 'utf8').trim();
          if (!killed.has(pid)) process.kill(Number(pid), 'SIGKILL');
          killed.add(pid);
        }),
      }),
    );
    expect([report.diagnostics.map(({ code }) => code), killed.size]).toEqual([['step/job-gone'], 3]);
  });
});

describe('a run', () => {
  it('skips a node where the lease cannot be stored, and changes the other nodes', async () => {
    const ours = onNode('studio-3', '/Library/Application Support/meshwright');
    rmSync(ours, { recursive: true, force: true });
    mkdirSync(dirname(ours), { recursive: true });
    writeFileSync(ours, 'a file in the way');
    const power = (node: string): Step =>
      aStep(`${node}/power`, { node, act: { kind: 'script', name: 'set-power', args: { sleepMinutes: 33 } } });
    const report = await runPlan(planOf([power('studio-3'), power('studio-4')]), runOptions(rack));
    expect(report.steps.map(({ outcome }) => outcome)).toEqual(['failed', 'changed']);
    expect(report.diagnostics).toMatchObject([{ code: 'lease/not-taken', subject: nodeSubject('studio-3') }]);
  });

  it('names the missing sudo rule of a node that asks for a sudo password', async () => {
    await rack.fleet.setFault(['sudo-denied', 'studio-4']);
    const power = aStep('power', { node: 'studio-4' });
    const report = await runPlan(planOf([power]), runOptions(rack));
    await rack.fleet.clearFault(['sudo-denied', 'studio-4']);
    expect(report.diagnostics).toMatchObject([{ code: 'ssh/sudo-needs-password' }]);
  });
});

describe('a token probe', () => {
  it('fails if the endpoint does not answer before the deadline', async () => {
    const ask = aStep('token', {
      node: 'studio-4',
      class: 'probe',
      deadlineMs: 4_000,
      act: { kind: 'ask', placement: 'kimi', judge: 'token', port: 8080, path: '/v1', request: '{}', pointer: '/text' },
    });
    const report = await runPlan(planOf([ask]), runOptions(rack));
    expect(report.diagnostics.map(asText)).toMatchObject([
      {
        code: 'ask/no-token',
        subject: placementSubject('kimi'),
        detail: expect.stringMatching(/^kimi on studio-4 gave no token: the endpoint did not answer\b/),
      },
    ]);
  });
});

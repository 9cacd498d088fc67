import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { BundleDocument } from '../../src/model/documents.generated.ts';
import { nativePartsTested } from '../native-parts.ts';
import { ended, json, start } from './meshwright.ts';
import { driverPlace } from './pair.ts';
import { effectsSince } from './simulated-effects.ts';

const { place, run } = driverPlace('mlx', 'rdma');

interface Recovered {
  readonly incident?: string;
  readonly cures: readonly { readonly rung: string; readonly done: boolean }[];
  readonly next?: { readonly rung: string };
  readonly diagnostics: readonly { readonly code: string }[];
}

const recovered = async (...more: readonly string[]) => {
  const ran = await run('recover', '--sim', '--json', ...more);
  const { cures, ...rest } = json(ran) as Recovered;
  return { code: ran.code, rungs: cures.map(({ rung }) => rung), ...rest };
};

const edit = (from: string, to: string): void => {
  const path = `${place.folder}/cluster.yaml`;
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
};

/** The settings of the running placement that differ from the file. */
const differs = async (): Promise<string> =>
  (json(await run('status', '--sim', '--json')) as { placements: { chat: { state: string; evidence: string } } })
    .placements.chat.evidence;

it('serves', async () => {
  expect((await run('apply', '--sim', '--yes', '--update-lock')).code).toBe(0);
});

it('recover changes nothing on a healthy rack, and records nothing', async () => {
  expect(await recovered('--yes')).toMatchObject({ code: 0, rungs: [] });
  expect((await run('history', '--sim')).stdout).not.toContain('recover');
});

it('recover --check names the first cure and runs none', async () => {
  await run('sim', 'fault', 'rank-killed', 'studio-4');
  const checked = await recovered('--check');
  expect(checked).toMatchObject({ code: 2, rungs: [], next: { rung: 'restart' } });
  expect(checked.incident).toBeUndefined();
});

it('RC5: recover saves the evidence, then brings back what served before, although the file has changed meanwhile', async () => {
  edit('context: ', 'context: 16k # ');
  const back = await recovered('--yes');
  expect(back).toMatchObject({ code: 0, rungs: ['restart'] });
  expect(await differs()).toMatch(/^context \w+ \(file: 16k\)$/);
  // Saved before the restart, as RC5 demands: no later measurement shows the dead rank.
  const { file, contents } = json(await run('bundle', String(back.incident), '--sim', '--json')) as BundleDocument;
  const readme = contents.map(({ name }) => name).find((name) => name.endsWith('README.txt')) ?? '';
  expect(execFileSync('tar', ['-xzOf', file, readme], { encoding: 'utf8' })).toContain('chat: partial');
  const past = (await run('history', '--sim')).stdout.replaceAll(/\s+/g, ' ');
  expect(past).toContain(`run ${back.incident}`);
  expect(past).toMatch(/chat: Restart chat \(done, [\d.]+ m?s\); then it served/);
  expect((await run('status', '--sim')).stdout).toContain('chat was recovered once in 7 days');
});

it('recover starts nothing if it cannot know the settings of the last start', async () => {
  edit('transport: rdma', 'transport: rdma\n    env: { MLX_METAL_FAST_SYNCH: "0" }');
  await run('sim', 'fault', 'rank-killed', 'studio-4');
  expect(await recovered('--yes', '--allow', 'reboot')).toMatchObject({
    ...{ code: 3, rungs: [] },
    diagnostics: [{ code: 'recover/settings-changed' }, { code: 'mesh/not-serving' }],
  });
});

it('recover ends as soon as another run holds the Macs, because that run may be curing them', async () => {
  edit('    env: { MLX_METAL_FAST_SYNCH: "0" }\n', '');
  const words = ['restart', 'chat', '--sim', '--yes'];
  const restart = start(place, words);
  const end = ended(restart, words);
  await expect
    .poll(async () => (await run('lease', 'status', '--sim', '--json')).stdout)
    .toContain('"verb": "restart"');
  // It renews its leases, but hardly gets on.
  const slow = setInterval(() => {
    restart.kill('SIGCONT');
    setTimeout(() => restart.kill('SIGSTOP'), 200);
  }, 2_000);
  restart.kill('SIGSTOP');
  const other = await recovered('--yes', '--allow', 'reboot');
  clearInterval(slow);
  await new Promise((resolve) => setTimeout(resolve, 300));
  restart.kill('SIGCONT');
  expect(other).toMatchObject({ code: 75, rungs: [] });
  expect(other.diagnostics.map(({ code }) => code)).toContain('lease/held');
  expect((await end).code).toBe(0);
});

it('recover changes nothing after it was stopped for longer than its lease, because another one cures meanwhile', {
  timeout: 300_000,
}, async () => {
  await run('sim', 'fault', 'rank-killed', 'studio-4');
  const words = ['recover', '--sim', '--yes', '--json'];
  const stopped = start(place, words);
  const end = ended(stopped, words, 300_000);
  await expect
    .poll(async () => (await run('lease', 'status', '--sim', '--json')).stdout)
    .toContain('"verb": "restart"');
  stopped.kill('SIGSTOP');
  const rival = await recovered('--yes');
  expect(rival).toMatchObject({ code: 0, rungs: ['restart'] });
  const continuedAtMs = Date.now();
  stopped.kill('SIGCONT');
  expect([(await end).signal, (await effectsSince(continuedAtMs, place)).map(({ kind }) => kind)]).toEqual([null, []]);
  expect((await run('ask', 'chat', 'Hello', '--sim')).code).toBe(0);
});

it.skipIf(!nativePartsTested)(
  'recover measures the cables again after a person has repaired one, and starts',
  {
    timeout: 300_000,
  },
  async () => {
    await run('sim', 'fault', 'rdma-hang', 'studio-4');
    expect((await run('restart', 'chat', '--sim', '--yes')).code).toBe(1);
    // Its start fails once more, because only a restart of the other Mac would help.
    expect((await run('reboot', 'studio-1', '--sim', '--yes')).code).toBe(1);
    expect(await recovered('--yes', '--allow', 'reboot')).toMatchObject({ code: 3, rungs: ['measure'] });
    await run('sim', 'fault', '--clear');
    expect(await recovered('--yes')).toMatchObject({ code: 0, rungs: ['measure', 'start'] });
  },
);

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/apply/reach/session.ts';
import { scaledTiming } from '../../src/apply/run-timing.ts';
import type { StepContext, StepOf } from '../../src/apply/steps/context.ts';
import { runReboot } from '../../src/apply/steps/reboot.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { known } from '../../src/model/known.ts';
import { nodeName } from '../../src/model/node.ts';
import { withFakeClock } from '../fake-clock.ts';
import { aStep } from '../rack/plans.ts';
import { sampleOf } from '../sample.ts';
import { makeMacRoot, ours } from '../unit/engine/scripts/mac-root.ts';
import { removedAfter } from '../unit/engine/scripts/node-root.ts';
import { exampleFence } from '../unit/engine/scripts/script-examples.ts';
import { type Shell, scriptShells } from '../unit/engine/scripts/shells.ts';

const seeds = Array.from({ length: 1_000 }, (_, at) => at + 1);
const node = nodeName('studio-1');
const newRoot = removedAfter(makeMacRoot);
const [shell] = scriptShells as readonly [Shell];
const root = newRoot(shell);
root.tool('bin/sleep', ':');
root.tool('sbin/shutdown', '/bin/cat "$R/../boot" >>"$R/../orders"');

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A Mac that runs real scripts in a real shell. Between an order and the next boot session, up to five minutes of a slow
 * shutdown and two minutes without an answer pass. The Mac may also restart by itself. A script can arrive late, even in
 * a later boot session.
 */
function startMac(seed: number, random: () => number) {
  let count = 0;
  let isUp = true;
  const name = (): string => `${String(seed).padStart(8, '0')}-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const setSession = (): void => root.file('../boot', `${name()}\n`);
  const orders = (): readonly string[] => readFileSync(join(root.folder, '../orders'), 'utf8').split('\n').slice(0, -1);
  rmSync(join(root.folder, ours, 'ops'), { recursive: true, force: true });
  root.file('../orders', '');
  setSession();
  const boot = async (shutdownMs: number): Promise<void> => {
    await after(shutdownMs);
    isUp = false;
    await after(20_000 + random() * 100_000);
    count += 1;
    setSession();
    isUp = true;
  };
  if (random() < 0.5) void boot(random() * 500_000);
  /** The order of each restart: the boot session that it ended, and the one that its controller meant. */
  const sent: { readonly ended: string; readonly meant: string }[] = [];
  const run = (script: string, meant: string) => {
    const before = orders().length;
    const [command] = shell.argv;
    // The end of the fourth pipe is the end of all processes that the script started.
    const pipes = ['pipe', 'pipe', 'pipe', 'pipe'] as const;
    const { stdout, stderr, status } = spawnSync(command, ['-s'], { input: script, stdio: [...pipes] });
    const ended = orders().slice(before);
    sent.push(...ended.map((one) => ({ ended: one, meant })));
    if (ended.length > 0) void boot(2_000 + random() * 300_000);
    return { exit: { kind: 'exited', code: status ?? 70 }, stdout, stderr };
  };
  return { run, sent, session: name, isUp: () => isUp };
}

type Mac = ReturnType<typeof startMac>;

const dropped = { exit: { kind: 'unknown', reason: 'x', why: 'dropped' }, stdout: Buffer.of(), stderr: Buffer.of() };
const gone = [diagnose('ssh/unreachable', { detail: 'no answer' })];

/** A controller that plans a restart, waits for its user, orders it over a bad network, and may be killed. */
async function control(mac: Mac, random: () => number) {
  await after(random() * 400_000);
  if (!mac.isUp()) return undefined;
  const from = mac.session();
  await after(random() < 0.5 ? 0 : random() * 400_000);
  const killed = new AbortController();
  if (random() < 0.4) setTimeout(() => killed.abort(), random() * 60_000);
  const isGone = (): boolean => !mac.isUp() || killed.signal.aborted;
  const unreached = { kind: 'unreached', diagnostics: gone };
  const ended = (result: unknown) => ({ kind: 'ended', rootPrefix: '', result });
  const ask: Session['ask'] = async (make) => {
    const script = String(make(root.folder).stdin);
    await after(random() * 3_000);
    if (isGone()) return unreached as never;
    const fate = random();
    if (fate < 0.2) return ended(dropped) as never;
    if (fate < 0.4) {
      setTimeout(() => mac.isUp() && mac.run(script, from), random() * 400_000);
      return ended(dropped) as never;
    }
    const result = mac.run(script, from);
    return ended(fate < 0.6 ? dropped : result) as never;
  };
  const context = {
    runId: exampleFence.run,
    verb: 'reboot',
    by: 'ana',
    config: 'x',
    timing: scaledTiming(1),
    observeMs: 500,
    signal: killed.signal,
    session: () => ({ node, user: 'mesh', forget: () => undefined, ask }),
    lease: () => ({ kind: 'leased', fencingToken: exampleFence.token }),
    way: () => ({ kind: 'no-way', diagnostics: gone }),
    suspend: () => undefined,
    resume: async () => undefined,
    progress: () => undefined,
  } as unknown as StepContext;
  const step = aStep('up', {
    node,
    class: 'once',
    deadlineMs: 1_200_000,
    act: { kind: 'reboot', to: 'up', from: known(from) },
  });
  const see: Parameters<typeof runReboot>[2] = async () =>
    isGone() || random() < 0.2 ? { kind: 'silent', problems: gone } : { kind: 'session', uuid: mac.session() };
  const { outcome } = await runReboot(step as StepOf<'reboot'>, context, see);
  return { from, outcome, session: mac.session() };
}

/** One schedule: the restarts that were ordered, and the ends of its controllers. */
async function play(seed: number) {
  const random = randomBy(seed);
  return withFakeClock(10_000_000, async () => {
    const mac = startMac(seed, random);
    const controllers = Array.from({ length: 1 + Math.floor(random() * 4) }, () => control(mac, random));
    const ends = (await Promise.all(controllers)).filter((one) => one !== undefined);
    await after(1_000_000);
    return { sent: mac.sent, ends };
  });
}

describe('a restart ordered by several controllers over a bad network', () => {
  const sampled = sampleOf(seeds, { few: 20, oneIn: 25 });

  it('happens at most once for each boot session that its controller meant to end', { timeout: 900_000 }, async () => {
    let count = 0;
    for (const seed of sampled) {
      const { sent, ends } = await play(seed);
      count += sent.length;
      const bad = [
        ...sent.filter(
          (one, at) => one.ended !== one.meant || sent.findIndex(({ ended }) => ended === one.ended) !== at,
        ),
        ...ends.filter(({ outcome, from, session }) => outcome === 'changed' && session === from),
      ];
      expect({ seed, bad }).toEqual({ seed, bad: [] });
    }
    // Most schedules restart the Mac.
    expect(count).toBeGreaterThan(sampled.length / 2);
  });
});

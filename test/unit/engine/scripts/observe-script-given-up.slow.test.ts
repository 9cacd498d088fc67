import { describe, expect, it } from 'vitest';
import type { Probe } from '../../../../src/model/probe.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observationCeilingMs, observeScript } from '../../../../src/node/observe-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { until } from '../../../until.ts';
import { isAlive, makeNodeRoot, type NodeRoot, removedAfter, startScript } from './node-root.ts';
import { scriptShells } from './shells.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const probe = (name: string, more: Partial<Probe> = {}): Probe => ({
  name,
  ask: [nodePath(`/fake/${name}`)],
  deadlineMs: 20_000,
  maxBytes: 4_096,
  ...more,
});

const names = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word}${at}`);

const newRoot = removedAfter(makeNodeRoot);

/** Waits until every started tool has exited; a killed tool may need a moment. */
const allToolsGone = (root: NodeRoot) => until(() => root.started().every(({ pid }) => !isAlive(pid)));

describe.concurrent.each(scriptShells)('the observation script with unkillable probes in $name', (shell) => {
  it('gives up on a probe that cannot be killed, and reports the others', async () => {
    const root = newRoot(shell);
    // If ps reports no parent, the watchdog does not kill, as for a process that is stuck in the kernel.
    root.tool('bin/ps', 'printf "1\\n"');
    root.tool('fake/stuck', 'exec "$R/bin/sleep" 600');
    root.tool('fake/stuck-too', 'exec "$R/bin/sleep" 600');
    root.tool('fake/well', 'printf "fine\\n"');
    const late = { deadlineMs: 3_000 };
    const probes = [probe('stuck', late), probe('well', late), probe('stuck-too', late)];
    const request = { probes, boundary, rootPrefix: root.folder, budgetMs: 4_000 };
    const { end } = startScript(shell, observeScript(request));
    const answers = new Map(parseFrames((await end).stdout, request).map((answer) => [answer.probe, answer]));
    expect(answers.get('stuck')).toMatchObject({ isLate: true, exit: { kind: 'unknown' } });
    expect(answers.get('stuck-too')).toMatchObject({ isLate: true, exit: { kind: 'unknown' } });
    expect(answers.get('well')).toMatchObject({ isLate: false, stdout: 'fine\n' });
    expect([observationCeilingMs({ probes }), observationCeilingMs(request)]).toEqual([7_000, 3_800]);
    const stuck = root.started().filter((one) => one.tool.startsWith('fake/stuck'));
    expect(stuck.map(({ pid }) => isAlive(pid))).toEqual([true, true]);
    for (const { pid } of stuck) process.kill(pid, 'SIGKILL');
    await allToolsGone(root);
  });

  it('gives up on four unkillable probes together and reports the other fifteen', async () => {
    const root = newRoot(shell);
    // While the watchdog asks (at ALRM and at KILL), ps reports no parent, so that nothing is killed, as for stuck
    // processes.
    root.tool('bin/ps', 'printf "x\\n" >>"$R/asked"; [ "$(/usr/bin/wc -l <"$R/asked")" -gt 8 ] && exec /bin/ps "$@"');
    const [stuck, well] = [names('stuck', 4), names('well', 15)];
    for (const name of stuck) root.tool(`fake/${name}`, 'exec /bin/sleep 600');
    for (const name of well) root.tool(`fake/${name}`, 'printf "fine\\n"');
    const probes = [...stuck, ...well].map((name) => probe(name));
    const { end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder, budgetMs: 8_200 }));
    const answers = parseFrames((await end).stdout, { probes, boundary });
    expect(answers.slice(0, 4)).toEqual(stuck.map((name) => expect.objectContaining({ probe: name, isLate: true })));
    expect(answers.slice(4).map((answer) => answer.stdout)).toEqual(well.map(() => 'fine\n'));
    // The watchdog asks about four processes at ALRM and at KILL. Then the main shell asks once about each of the three
    // that it no longer waits for.
    expect(root.started().filter((one) => one.tool === 'bin/ps')).toHaveLength(11);
    const left = root.started().filter((one) => one.tool.startsWith('fake/stuck'));
    expect(left).toHaveLength(4);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    await allToolsGone(root);
  });

  it('leaves removing its folder to the watchdog when killed', async () => {
    const root = newRoot(shell);
    root.tool('fake/hangs', 'exec "$R/bin/sleep" 6');
    const before = root.tree();
    const probes = [probe('hangs', { deadlineMs: 3_000 })];
    const { child, end } = startScript(
      shell,
      observeScript({ probes, boundary, rootPrefix: root.folder, budgetMs: 4_000 }),
    );
    await until(() => root.started().filter((one) => one.tool === 'bin/sleep').length === 2);
    child.kill('SIGKILL');
    expect((await end).signal).toBe('SIGKILL');
    await until(() => JSON.stringify(root.tree()) === JSON.stringify(before));
    await allToolsGone(root);
  });
});

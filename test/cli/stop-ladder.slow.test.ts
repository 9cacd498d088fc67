import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { pairFile } from '../scenarios/converge-file.ts';
import { json } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const onNode = (node: string, ...words: string[]) => run('exec', '--sim', node, '--', 'sudo', '-n', ...words);

const { run } = pairPlace(pairFile(), { isApplied: true });

/** Makes a rank ignore TERM, like a rank that waits for a lost peer. */
const hang = (node: string) => onNode(node, 'launchctl', 'kill', 'SIGUSR2', 'system/dev.meshwright.rank.chat');

const findings = async (): Promise<readonly string[]> => {
  const { troubles: found } = json(await run('doctor', '--sim', '--json')) as {
    readonly troubles: readonly { readonly code: string; readonly subject: string }[];
  };
  return found.map(({ code, subject }) => `${code} ${subject}`);
};

inTurn(0, 2)('a stop in stages', () => {
  it('samples and kills a rank that does not exit, and reports both', async () => {
    await hang('studio-4');
    const ran = await run('restart', 'chat', '--sim', '--yes');
    expect(ran.code).toBe(0);
    expect(ran.stdout + ran.stderr).toContain('mesh/killed');
    expect(ran.stdout + ran.stderr).toContain('/Library/Application Support/meshwright/log/sample-chat-1.txt');
    expect(await findings()).toEqual([]);
  });

  it('detects memory that stays wired, and blocks starts on that Mac', async () => {
    expect((await run('sim', 'fault', 'wired-leak', 'studio-4')).code).toBe(0);
    expect(await findings()).toEqual([]);
    await hang('studio-4');
    const ran = await run('restart', 'chat', '--sim', '--yes');
    expect(ran.code).not.toBe(0);
    expect(ran.stdout + ran.stderr).toContain('meshwright reboot studio-4');
    expect(await findings()).toContain('mesh/reboot-mark node studio-4');
    const plan = await run('plan', '--sim');
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('GiB of memory remained wired')]);
    const again = await run('apply', '--sim', '--yes');
    expect(again.code).toBe(3);
  });

  it('needs no further action after its Mac has restarted', async () => {
    expect((await run('reboot', 'studio-4', '--sim', '--yes')).code).toBe(0);
    expect(await findings()).toEqual([]);
    expect((await run('plan', '--sim')).code).toBe(0);
  });
});

/** No process of a simulated Mac can survive KILL, so its ps pretends that the rank did. */
async function holdInKernel(node: string): Promise<string> {
  const { nodes } = json(await run('sim', 'status', '--json')) as { nodes: Record<string, { root: string }> };
  const { stdout } = await onNode(node, 'launchctl', 'print', 'system/dev.meshwright.rank.chat');
  const pid = /pid = (\d+)/.exec(stdout)?.[1];
  if (pid === undefined) throw new Error(`no rank runs on ${node}:\n${stdout}`);
  const ps = join(nodes[node]?.root ?? '', 'bin/ps');
  renameSync(ps, `${ps}.own`);
  writeFileSync(ps, `#!/bin/sh\ncase $* in (*-ax*ppid=*pgid=*) echo ${pid} 1 ${pid} U ;; esac\nexec "$0.own" "$@"\n`);
  chmodSync(ps, 0o755);
  return pid;
}

inTurn(1, 2)('a rank that survives KILL', () => {
  it('does not block a reboot of its Mac', async () => {
    const pid = await holdInKernel('studio-4');
    const ran = await run('reboot', 'studio-4', '--sim', '--yes');
    const text = ran.stdout + ran.stderr;
    expect([ran.code, text]).toEqual([0, expect.stringContaining(`does not exit even after KILL (${pid})`)]);
    expect(text).toContain('mesh/left-to-restart');
    expect(await findings()).toEqual([]);
    expect((await run('plan', '--sim')).code).toBe(0);
  });

  it("blocks a reboot of the other Mac, with a hint to reboot the rank's own Mac", async () => {
    await holdInKernel('studio-1');
    const ran = await run('reboot', 'studio-4', '--sim', '--yes');
    expect(ran.code).not.toBe(0);
    expect(ran.stdout + ran.stderr).toContain('meshwright reboot studio-1');
    expect(await findings()).toContain('mesh/reboot-mark node studio-1');
    expect((await run('reboot', 'studio-1', '--sim', '--yes')).code).toBe(0);
    expect(await findings()).toEqual([]);
  });
});

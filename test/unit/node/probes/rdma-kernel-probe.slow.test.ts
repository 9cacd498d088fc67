import { describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../src/engine/observe/facts.ts';
import type { Facts } from '../../../../src/model/facts/fact-values.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { read } from '../../../../src/rack/fact.ts';
import {
  ibvDevices,
  ibvDevinfo,
  otherRdmaDevicesFact,
  rdmaDevicesFact,
  rdmaPortsFact,
} from '../../../../src/rack/rdma/devices-fact.ts';
import { rdmaHoldersFact, rdmaKernel, rdmaObjectsFact } from '../../../../src/rack/rdma/kernel-fact.ts';
import { outputIn } from '../../engine/observe/fact-cases.ts';
import { type MacRoot, makeMacRoot } from '../../engine/scripts/mac-root.ts';
import { removedAfter, startScript } from '../../engine/scripts/node-root.ts';
import { type Shell, scriptShells } from '../../engine/scripts/shells.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const newMac = removedAfter(makeMacRoot);
const held = outputIn('rdma-holders/held-and-free').replace(/^.*\nioreg\n([\s\S]*)ps\n[\s\S]*$/, '$1');

interface Kernel {
  readonly domains?: number;
  readonly registry?: string;
  /** The output of `pgrep`. */
  readonly tools?: readonly number[];
  /** The output of `ps` for processes other than the script's shell. */
  readonly processes?: readonly string[];
}

/** A node with these outputs, mixed with properties that nothing reads; every call is recorded. */
function newRoot(shell: Shell, { domains = 0, registry = held, tools = [], processes = [] }: Kernel = {}): MacRoot {
  const root = newMac(shell);
  const count = `AppleThunderboltRDMAProtectionDomain = ${domains}, AppleThunderboltRDMAQueuePair = ${domains}`;
  root.recorded('usr/sbin/ioclasscount', `printf '%s\\n' '${count}'`);
  root.file('outputs/registry', registry.replaceAll(/(^.*"IOPower.*$)/gm, '$1\n  | |   "node_type" = 100'));
  root.recorded('usr/sbin/ioreg', 'exec /bin/cat "$R/outputs/registry"');
  root.recorded('usr/bin/pgrep', tools.length === 0 ? 'exit 1' : `printf '%s\\n' ${tools.join(' ')}`);
  const rows = processes.map((row) => `'${row}'`).join(' ');
  root.tool(
    'bin/ps',
    `case "$*" in (*ucomm*) printf '%s\\n' '   12    12 Ss   sh' ${rows} ;; (*) exec /bin/ps "$@" ;; esac`,
  );
  root.recorded('usr/bin/ibv_devices', "printf '    device          \\t   node GUID\\n    ------          \\t---\\n'");
  root.recorded('usr/bin/ibv_devinfo', "printf 'No IB devices found\\n' >&2; exit 255");
  return root;
}

async function observe(shell: Shell, root: MacRoot): Promise<Facts> {
  const names = [rdmaKernel, ibvDevices, ibvDevinfo].map(({ name }) => name);
  const request = { probes: allProbes().filter(({ name }) => names.includes(name)), boundary, rootPrefix: root.folder };
  const { stdout } = await startScript(shell, observeScript(request)).end;
  return parseFacts(parseFrames(stdout, request), { sentAtEpochMs: 0, receivedAtEpochMs: 1 });
}

const toolsOf = (root: MacRoot): readonly string[] => root.calls().map((call) => call.split(' ')[0] ?? '');
const isVerbs = (name: string): boolean => name.startsWith('ibv_');

describe.each(scriptShells)('the RDMA object probe in $name', (shell) => {
  it('reads only the object count before the verbs tools if there are no objects', async () => {
    const root = newRoot(shell);
    const facts = await observe(shell, root);
    expect(read(facts, rdmaObjectsFact)).toEqual({ kind: 'known', value: { domains: 0, queuePairs: 0 } });
    expect(read(facts, rdmaHoldersFact)).toEqual({ kind: 'known', value: { devices: [], processes: [] } });
    expect(toolsOf(root).slice(0, 2)).toEqual(['pgrep', 'ioclasscount']);
    expect(toolsOf(root).slice(2).toSorted()).toEqual(['ibv_devices', 'ibv_devinfo']);
  });

  it('names the process that holds a device and runs the verbs tools', async () => {
    const root = newRoot(shell, { domains: 1, processes: [' 4711  4690 U    python3.12'] });
    const facts = await observe(shell, root);
    expect(read(facts, rdmaHoldersFact)).toMatchObject({
      value: {
        devices: [{ device: 'rdma_en6', objects: [{}, {}] }, { device: 'rdma_en5' }],
        processes: [{ pid: 4711, program: 'python3.12', group: 4690, state: 'uninterruptible', devices: ['rdma_en6'] }],
      },
    });
    expect(toolsOf(root).slice(0, 3)).toEqual(['pgrep', 'ioclasscount', 'ioreg']);
    expect(toolsOf(root).filter(isVerbs)).toHaveLength(2);
  });

  it.each([
    ['a verbs tool has run for a second', { tools: [55_143], processes: ['55143 55143 S ibv_uc_pingpong'] }],
    [
      'a process is waiting for an inactive object',
      {
        domains: 1,
        registry: held
          .replace('matched, active, busy 0 (0 ms), retain 6', '!matched, inactive, busy 1 (1 ms), retain 8')
          .replace('registered, !m', '!registered, !m'),
        processes: [' 4711  4690 U    python3.12'],
      },
    ],
  ] as const)('does not start a verbs tool while %s', async (_when, kernel) => {
    const root = newRoot(shell, kernel);
    const facts = await observe(shell, root);
    const name = 'tools' in kernel ? 'ibv_uc_pingpong (pid 55143)' : 'python3.12 (pid 4711)';
    const left = { kind: 'unknown', reason: 'busy', detail: `Not queried: ${name} has not returned.` };
    expect([read(facts, rdmaDevicesFact), read(facts, rdmaPortsFact), read(facts, otherRdmaDevicesFact)]).toEqual([
      left,
      left,
      left,
    ]);
    expect(toolsOf(root).filter(isVerbs)).toEqual([]);
    expect(read(facts, rdmaHoldersFact).kind).toBe('known');
  });

  it('starts the verbs tools after an earlier verbs tool has returned', async () => {
    const root = newRoot(shell, { tools: [55_143] });
    expect(read(await observe(shell, root), rdmaHoldersFact)).toMatchObject({ value: { processes: [] } });
    expect(toolsOf(root).filter(isVerbs)).toHaveLength(2);
  });

  it.each([
    ['usr/bin/pgrep', 'exit 3', 'failed', 0],
    ['usr/sbin/ioclasscount', 'exit 71', 'failed', 2],
    ['usr/sbin/ioreg', 'exit 1', 'failed', 2],
    ['bin/ps', 'case $* in (*ucomm*) exit 1 ;; (*) exec /bin/ps "$@" ;; esac', 'failed', 0],
  ] as const)('is unknown if %s fails', async (path, body, reason, verbs) => {
    const root = newRoot(shell, { domains: 1 });
    root.tool(path, body);
    const facts = await observe(shell, root);
    expect([read(facts, rdmaObjectsFact), read(facts, rdmaHoldersFact)]).toMatchObject([{ reason }, { reason }]);
    expect(toolsOf(root).filter(isVerbs)).toHaveLength(verbs);
  });

  it('stops an ioreg that hangs, and does not start a verbs tool', async () => {
    const root = newRoot(shell, { domains: 1 });
    root.tool('usr/sbin/ioreg', 'exec "$R/bin/sleep" 600');
    const probes = [{ ...rdmaKernel, deadlineMs: 500 }, ibvDevices];
    const request = { probes, boundary, rootPrefix: root.folder };
    const answers = parseFrames((await startScript(shell, observeScript(request)).end).stdout, request);
    expect(answers).toMatchObject([{ isLate: true }, { isLate: false, stderr: '- has not returned\n' }]);
    expect(toolsOf(root).filter(isVerbs)).toEqual([]);
    const ioreg = root.started().find(({ tool }) => tool === 'usr/sbin/ioreg');
    expect(() => process.kill(ioreg?.pid ?? 0, 0)).toThrow(/ESRCH/);
  });
});

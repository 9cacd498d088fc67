import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { startDelayingProxy } from '../proxy/delaying-proxy.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually, markedProcesses } from '../rack/running.ts';
import { observe, startExampleRack, timelessFacts, treesOf, unknownFacts } from './observe-rack.ts';

const rack = shared(() => startExampleRack());

const ways = () => rack.names.map((name) => rack.way(name));
const rootOf = (node: string): string => rack.fleet.nodes[node]?.root ?? '';

/** Waits until no process of a node command is alive. */
async function nothingRuns(): Promise<boolean> {
  const { fleet } = rack;
  return eventually(
    async () =>
      fleet.groupCount() === 0 && (process.platform !== 'linux' || (await markedProcesses(fleet.runId)).length === 0),
  );
}

/** Replaces a node's tool with a different program while `body` runs. */
async function withTool(node: string, path: string, text: string, body: () => Promise<void>): Promise<void> {
  const file = join(rootOf(node), path);
  const before = await readFile(file, 'utf8');
  await writeFile(file, text);
  try {
    await body();
  } finally {
    await writeFile(file, before);
  }
}

/** A tool that marks its start and waits until a test releases it. */
const waitingTool = (gate: string): string => `#!/bin/sh
: >'${gate}.entered'
n=0
while [ ! -e '${gate}.open' ] && [ "$n" -lt 600 ]; do n=$((n + 1)); /bin/sleep 0.05; done
printf 'enabled\\n'
`;

describe('an observation of the simulated rack', () => {
  let observed: FleetObservation;
  beforeAll(async () => {
    observed = await observe(ways());
  });

  it('leaves the paths, sizes, modes, times and contents on every node unchanged', async () => {
    const before = await treesOf(rack);
    const { failures } = await observe(ways());
    expect(await nothingRuns()).toBe(true);
    expect(await treesOf(rack)).toEqual(before);
    expect(failures).toEqual({});
  });

  it('gives the same facts a second time', async () => {
    const again = await observe(ways());
    for (const name of rack.names) expect(timelessFacts(again, name)).toEqual(timelessFacts(observed, name));
  });
});

describe('the tree comparison', () => {
  it('detects a new file, changed contents of the same length, a changed mode and a changed time', async () => {
    const file = join(rootOf('studio-1'), 'Users/Shared/left-behind');
    const without = await treesOf(rack);
    await writeFile(file, 'one', { mode: 0o644 });
    const withOne = await treesOf(rack);
    await writeFile(file, 'two');
    const withTwo = await treesOf(rack);
    await rm(file);
    expect(withOne).not.toEqual(without);
    expect(withTwo).not.toEqual(withOne);
    expect(await treesOf(rack)).not.toEqual(without);
  });
});

describe('an observation with a tool that hangs', () => {
  it('stops the tool at its deadline, keeps the other facts, and leaves no file or process', async () => {
    // The sleep inherits the ignored TERM, so that only KILL ends it.
    const hanging = "#!/bin/sh\ntrap '' TERM\nexec /bin/sleep 600\n";
    const usual = await observe([rack.way('studio-2')]);
    await withTool('studio-2', 'usr/bin/rdma_ctl', hanging, async () => {
      const before = await treesOf(rack);
      const observed = await observe([rack.way('studio-2')]);
      expect(unknownFacts(observed, 'studio-2')).toEqual({ 'rdma-state': 'timed-out' });
      const { 'rdma-state': _late, ...others } = timelessFacts(observed, 'studio-2');
      expect(timelessFacts(usual, 'studio-2')).toMatchObject(others);
      expect(observed.failures).toEqual({});
      expect(await nothingRuns()).toBe(true);
      expect(await treesOf(rack)).toEqual(before);
    });
  });
});

describe("an observation's watchdog", () => {
  it('kills its own sleep, even one that ignores TERM', async () => {
    const deaf = '#!/bin/sh\ntrap \'\' TERM\nexec /bin/sleep "$@"\n';
    await withTool('studio-4', 'bin/sleep', deaf, async () => {
      const observed = await observe([rack.way('studio-4')]);
      expect(observed.failures).toEqual({});
      expect(await nothingRuns()).toBe(true);
    });
  });
});

describe('an observation with a cut connection', () => {
  it('reports the node as dropped, and the script ends and cleans up by itself', async () => {
    const gate = join(rack.folder, 'gate');
    await withTool('studio-3', 'usr/bin/rdma_ctl', waitingTool(gate), async () => {
      const before = await treesOf(rack);
      const proxy = await startDelayingProxy({ targetPort: rack.fleet.nodes['studio-3']?.port ?? 0 });
      const observing = observe([rack.way('studio-3', { port: proxy.port })]);
      expect(await eventually(() => existsSync(`${gate}.entered`))).toBe(true);
      proxy.cut();
      const observed = await observing;
      expect(observed.failures['studio-3']?.map(({ code }) => code)).toEqual(['ssh/dropped']);
      // As with a real sshd, a command without a terminal outlives its connection until it writes.
      expect(rack.fleet.groupCount()).toBe(1);
      await writeFile(`${gate}.open`, '');
      expect(await nothingRuns()).toBe(true);
      expect(await treesOf(rack)).toEqual(before);
      await proxy.stop();
    });
  });

  it('does not give a wrong fact or leave anything on the node if cut in the middle of the answer', async () => {
    const before = await treesOf(rack);
    const whole = timelessFacts(await observe([rack.way('studio-1')]), 'studio-1');
    const measure = await startDelayingProxy({ targetPort: rack.fleet.nodes['studio-1']?.port ?? 0 });
    await observe([rack.way('studio-1', { port: measure.port })]);
    const { serverBytes } = measure.counts();
    await measure.stop();
    const targetPort = rack.fleet.nodes['studio-1']?.port ?? 0;
    // Most of the bytes are the answer. The number of its packets differs from run to run.
    const proxy = await startDelayingProxy({ targetPort, cutAfterServerBytes: Math.floor(serverBytes * 0.6) });
    const observed = await observe([rack.way('studio-1', { port: proxy.port })]);
    await proxy.stop();
    expect(observed.failures['studio-1']?.map(({ code }) => code)).toEqual(['ssh/dropped']);
    const unknown = unknownFacts(observed, 'studio-1');
    const known = Object.entries(timelessFacts(observed, 'studio-1')).filter(([name]) => !(name in unknown));
    expect(whole).toMatchObject(Object.fromEntries(known));
    expect(Object.keys(unknown).length).toBeGreaterThan(0);
    expect(new Set(Object.values(unknown))).toEqual(new Set(['truncated']));
    expect(await nothingRuns()).toBe(true);
    expect(await treesOf(rack)).toEqual(before);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { nativePartsTested } from '../native-parts.ts';
import { eventually } from '../rack/running.ts';
import { filePart } from '../scenarios/converge-file.ts';
import { endPlace } from './fleet.ts';
import { ended, json, meshwright, start, widest } from './meshwright.ts';
import { bareFile, fileIn, placeWithPair } from './pair.ts';
import type { Place } from './place.ts';
import { schemaCheck } from './schema-check.ts';

let place: Place;
const run = (...words: string[]) => meshwright(place, words);
const measure = (...words: string[]) => run('cables', '--measure', '--seconds', '0.1', '--sim', ...words);

/** Nothing of a measurement may stay on a Mac: no folder, no process, no object in the kernel. */
async function expectNothingLeft(): Promise<void> {
  const classes = 'AppleThunderboltRDMAProtectionDomain AppleThunderboltRDMAQueuePair';
  const script = `ls "$R/private/tmp"; ps -axo command | grep -c "[m]eshwright-measure"; "$R/usr/sbin/ioclasscount" ${classes}`;
  const ran = await run('exec', '--all', '--sim', '--', 'sh', '-c', `R=$(command -v sh); R=\${R%/bin/sh}; ${script}`);
  const lines = ran.stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/^.*? \| /, ''));
  const none = ['0', 'AppleThunderboltRDMAProtectionDomain = 0, AppleThunderboltRDMAQueuePair = 0'];
  expect(lines).toEqual([...none, ...none]);
}

describe.skipIf(!nativePartsTested)('cables --measure', () => {
  beforeAll(async () => {
    // Without a placement, apply does not create the account of the ranks.
    place = await placeWithPair(
      bareFile((file) => {
        filePart(file, 'system')['accounts'] = { ranks: '_meshrank' };
      }),
    );
    const ran = await run('apply', '--sim', '--yes');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
  });
  afterAll(() => endPlace(place));

  inTurn(0, 3)('of good and dead cables', () => {
    it('measures RDMA and TCP, leaves nothing on the Macs, and records the result', async () => {
      const ran = await measure('--json');
      const document = json(ran) as { readonly cables: readonly { readonly measured: Record<string, unknown> }[] };
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(schemaCheck('cables')(document)).toEqual([]);
      const result = { lost: expect.any(Number), medianNs: expect.any(Number), wrong: 0 };
      expect(document.cables).toHaveLength(1);
      expect(document.cables[0]?.measured).toMatchObject({ verdict: 'unrated', rdma: result, tcp: result });
      await expectNothingLeft();
      const shown = await run('cables', '--sim');
      expect([shown.code, shown.stdout]).toEqual([
        0,
        expect.stringMatching(/Last measured\n.* [µm]s, .*B\/s, unrated \(/),
      ]);
      expect((await run('graph', '--format', 'dot', '--sim')).stdout).toMatch(/[µm]s, .*B\/s, unrated/);
      expect((await run('history', '--last', '1', '--sim')).stdout).toContain('cables');
      expect((await run('apply', '--sim', '--yes')).stdout).toContain('Nothing to change');
    });

    it('reports a dead cable with its reason, and doctor lists it until it is measured again', async () => {
      await run('sim', 'fault', 'idle-dead-port', 'studio-1:4');
      const ran = await measure();
      expect([ran.code, ran.stdout]).toEqual([4, expect.stringContaining('dead\n  RDMA  ibv_modify_qp to RTR failed')]);
      expect(ran.stdout).toContain('TCP   connect: No route to host');
      await expectNothingLeft();
      expect((await run('doctor', '--sim', '--json')).stdout).toContain('cables/measured-dead');
      await run('sim', 'fault', '--clear');
      expect((await measure()).code).toBe(0);
      expect((await run('doctor', '--sim', '--json')).stdout).not.toContain('cables/measured-dead');
    });

    it('prints the table and draws the picture of bench --cables', async () => {
      const ran = await run('bench', '--cables', '--seconds', '0.1', '--out', 'rack.svg', '--sim');
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(widest(ran.stdout)).toBeLessThanOrEqual(80);
      const cells = ran.stdout
        .split('\n')
        .find((line) => line.startsWith('studio-1:4 <-> studio-4:2 '))
        ?.split(/ {2,}/);
      const [latency, rate] = [expect.stringMatching(/ [µm]s$/), expect.stringMatching(/B\/s$/)];
      expect(cells).toEqual(['studio-1:4 <-> studio-4:2', latency, latency, rate, latency, rate]);
      expect(fileIn(place, 'rack.svg')).toMatch(/[µm]s, .*B\/s, unrated/);
    });
  });

  inTurn(1, 3)('that is cut off', () => {
    it('ends without a verdict if a Mac crashes in the middle, and leaves nothing on the other', async () => {
      const { watched } = await startMeasuring('--json');
      await run('sim', 'fault', 'crash', 'studio-4');
      const ran = await watched;
      const document = json(ran) as { readonly cables: readonly { readonly measured: unknown }[] };
      expect([ran.code, document.cables[0]?.measured]).toEqual([1, expect.objectContaining({ verdict: 'unknown' })]);
      expect(await eventually(async () => (await run('exec', '--all', '--sim', '--', 'sw_vers')).code === 0)).toBe(
        true,
      );
      await expectNothingLeft();
    });

    it('ends cleanly on Ctrl-C', async () => {
      const { child, watched } = await startMeasuring();
      child.kill('SIGINT');
      const ran = await watched;
      expect([ran.code, ran.stderr]).toEqual([130, expect.stringContaining('0 of 1 cables were measured')]);
      await expectNothingLeft();
      expect((await run('lease', 'status', '--sim')).stdout).not.toContain('cables --measure');
    });
  });

  inTurn(2, 3)('that may not begin', () => {
    it('measures nothing if the verbs library and ibv_devinfo disagree', async () => {
      const script = 'R=$(command -v sh); R=${R%/bin/sh}; sed "s/^set max_qp .*/set max_qp 7/" "$R/.sim/verbs-devices"';
      const devices = await run(
        'exec',
        'studio-1',
        '--sim',
        '--',
        'sh',
        '-c',
        `${script} >"$R/private/tmp/x"; cp "$R/private/tmp/x" "$R/.sim/verbs-devices"; rm "$R/private/tmp/x"`,
      );
      expect(devices.code).toBe(0);
      const ran = await measure();
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([5, '', expect.stringContaining('cables/probe-differs')]);
      await expectNothingLeft();
    });

    it('measures nothing on a Mac that is on hold', async () => {
      expect((await run('hold', 'studio-4', '--reason', 'fan', '--sim', '--yes')).code).toBe(0);
      const ran = await measure();
      expect([ran.code, ran.stdout, ran.stderr]).toEqual([5, '', expect.stringContaining('cables/unfit')]);
      expect((await run('release', 'studio-4', '--sim', '--yes')).code).toBe(0);
    });
  });
});

/** Starts a long measurement; resolves while its programs run. */
async function startMeasuring(...more: readonly string[]) {
  const words = ['cables', '--measure', '--seconds', '5', '--sim', ...more];
  const child = start(place, words);
  const watched = ended(child, words);
  const script = 'ps -axo command | grep -c "[m]eshwright-probe measure"';
  const isRunning = async (): Promise<boolean> =>
    / \| [1-9]/.test((await run('exec', 'studio-1', '--sim', '--', 'sh', '-c', script)).stdout);
  expect(await eventually(isRunning)).toBe(true);
  return { child, watched };
}

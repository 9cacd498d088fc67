import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeProgram } from '../../src/native/program.ts';
import { json } from '../cli/meshwright.ts';
import { bareFile } from '../cli/pair.ts';
import { nativePartsTested } from '../native-parts.ts';
import { eventually } from '../rack/running.ts';
import { first, second } from '../scenarios/converge-file.ts';
import { patience } from '../scenarios/converge-rack.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';
import { type TypedRack, typedRack } from './typed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The built package with a program for Macs, which is this computer's: the Macs of this host run it. */
function packageWithProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  const prebuilt = join(folder, 'native/prebuilds/darwin-arm64');
  for (const name of ['package.json', 'node_modules', 'playbooks', 'schemas']) {
    symlinkSync(join(root, name), join(folder, name));
  }
  mkdirSync(prebuilt, { recursive: true });
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  copyFileSync(nativeProgram(process.platform, process.arch) ?? '', join(prebuilt, 'meshwright-probe'));
  return folder;
}

describe.skipIf(!nativePartsTested)('cables --measure on Macs with separate file systems and sshds', () => {
  let rack: NamespaceRack;
  let typed: TypedRack;
  let folder: string;
  beforeAll(async () => {
    const file = bareFile();
    rack = await startNamespaceRack('measure', file);
    await rack.converge();
    typed = typedRack(rack, file, () => {
      folder = packageWithProgram();
      return join(folder, 'dist/cli/main.js');
    });
  }, patience);
  afterAll(async () => {
    typed?.end();
    if (folder !== undefined) rmSync(folder, { recursive: true });
    await rack?.stop();
  });

  const measure = (seconds: string) => typed.type('cables', '--measure', '--seconds', seconds, '--json');
  const verdict = async (ran: ReturnType<typeof measure>): Promise<unknown> =>
    (json(await ran) as { readonly cables: readonly { readonly measured: unknown }[] }).cables[0]?.measured;

  const programs = "ps -ax -o pid= -o command= | awk '/[m]eshwright-probe measure/ { print $1 }'";
  async function expectNothingLeft(): Promise<void> {
    const classes = 'AppleThunderboltRDMAProtectionDomain AppleThunderboltRDMAQueuePair';
    for (const node of [first, second]) {
      const { stdout } = await rack.asRoot(node, `ls /private/tmp; ${programs}; /usr/sbin/ioclasscount ${classes}`);
      expect(stdout).toBe('AppleThunderboltRDMAProtectionDomain = 0, AppleThunderboltRDMAQueuePair = 0\n');
    }
  }

  it('measures, and leaves nothing behind', async () => {
    const result = { medianNs: expect.any(Number), wrong: 0 };
    expect(await verdict(measure('0.2'))).toMatchObject({ verdict: 'unrated', rdma: result, tcp: result });
    await expectNothingLeft();
  });

  it('stops at both ends, without a verdict, if one program is killed', async () => {
    const running = measure('3');
    const kill = async (): Promise<boolean> =>
      (await rack.asRoot(second, `p=$(${programs}); [ -n "$p" ] && kill -KILL $p`)).code === 0;
    expect(await eventually(kill)).toBe(true);
    expect(await verdict(running)).toMatchObject({ verdict: 'unknown' });
    await expectNothingLeft();
  });
});

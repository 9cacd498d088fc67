import { mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { shortDigest } from '../../src/model/digest.ts';
import { sealName } from '../../src/node/paths/own-paths.ts';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { changesIn, expectNothingToDo, leftIn, patience, startConvergeRack } from './converge-rack.ts';
import { keepersAtRest } from './keepers-at-rest.ts';

const rack = shared(() => startConvergeRack('twice'));
beforeAll(async () => {
  await rack.behindOurBack(async (fleet) => {
    for (const node of [first, second]) {
      for (const fault of ['power-wrong', 'bridge-active']) await fleet.setFault([fault, node]);
      await rack.asRoot(node, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=0');
    }
  });
});

const addresses = (...names: readonly string[]): readonly string[] =>
  [first, second].flatMap((node) => names.map((name) => `${node} ${name}`));

const sorted = (texts: readonly string[]): readonly string[] => [...texts].sort();

describe('apply', { timeout: patience }, () => {
  it('makes two unconfigured Macs match the file and produce a token', async () => {
    const { plan, report } = await rack.converge();
    const everywhere = addresses(
      'accounts/_meshrank',
      'power/sleep',
      'power/restart-after-power-loss',
      'thunderbolt-bridge/interface',
      'thunderbolt-bridge/preferences',
      'thunderbolt-bridge/service',
      'wired-limit',
      'keeper/files',
      'keeper/loaded',
      'runtime/reference',
      'model/tiny',
    );
    const lost = [`${first} link-address/4/live`, `${second} link-address/2/live`];
    expect(sorted(changesIn(plan))).toEqual(sorted([...everywhere, ...lost, `${first} placement/chat`]));
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toHaveLength(2);
  });

  it('needs no steps the second time, takes no lease, and observes each Mac once', () => expectNothingToDo(rack));

  it('reads no byte of a published model with 200 files, and still observes each Mac once', async () => {
    // Files with holes: reading even one of them would exceed the deadline of an observation.
    const sizeBytes = 100e9;
    const paths = Array.from({ length: 200 }, (_, index) => `model-${index}.safetensors`);
    const file = pairFile((all) => {
      const files = Object.fromEntries(paths.map((path) => [path, { sha256: 'a'.repeat(64), size: sizeBytes }]));
      filePart(all, 'models')['vast'] = { source: 'node:/models/vast', files };
      const chat = filePart(all, 'placements', 'chat');
      filePart(all, 'placements')['spare'] = { ...chat, model: 'vast', state: 'stopped', endpoint: { port: 8_090 } };
    });
    expect(await rack.declare(file)).toEqual([]);
    const digest = rack.desired().models.find(({ name }) => name === 'vast')?.digest;
    if (digest === undefined) throw new Error('the model has no digest');
    const blobs = [first, second].flatMap((node) => {
      const folder = join(rack.fleet().nodes[node]?.root ?? '', 'opt/meshwright/models/vast', shortDigest(digest));
      mkdirSync(folder, { recursive: true });
      for (const path of paths) {
        writeFileSync(join(folder, path), '');
        truncateSync(join(folder, path), sizeBytes);
        utimesSync(join(folder, path), 0, 0);
      }
      writeFileSync(join(folder, sealName), `digest=${digest}\nfiles=200\nbytes=${200 * sizeBytes}\n`);
      return paths.map((path) => join(folder, path));
    });
    const before = rack.fleet().counts();
    const { plan, report } = await rack.apply();
    expect([leftIn(plan), report]).toEqual([[], undefined]);
    const counts = rack.fleet().counts();
    expect([first, second].map((node) => (counts[node]?.execs ?? 0) - (before[node]?.execs ?? 0))).toEqual([1, 1]);
    expect(blobs.filter((path) => statSync(path).atimeMs !== 0)).toEqual([]);
    expect(await rack.declare(pairFile())).toEqual([]);
  });

  it("restores link addresses lost to DHCP or to a peer's Internet Sharing", async () => {
    await rack.behindOurBack(async (fleet) => {
      await fleet.setFault(['dhcp-reset', first]);
      await fleet.setFault(['internet-sharing', `${second}:2`]);
    });
    const { plan } = await rack.converge();
    const lost = ['kept', 'live'].flatMap((part) => [
      `${first} link-address/4/${part}`,
      `${second} link-address/2/${part}`,
    ]);
    expect(sorted(changesIn(plan).filter((one) => !one.includes('placement/')))).toEqual(sorted(lost));
    expect(leftIn(await rack.plan())).toEqual([]);
  });

  it('restores only settings that every restart undoes and the keeper does not restore', async () => {
    await rack.restart();
    const { plan } = await rack.converge();
    expect(sorted(changesIn(plan))).toEqual([`${first} placement/chat`]);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toHaveLength(2);
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { expectNothingOld } from './converge-leftovers.ts';
import { changesIn, patience, startConvergeRack } from './converge-rack.ts';

const rack = shared(() => startConvergeRack('traces'));

const nodes = [first, second];

/** The names of the files in a folder of a node. */
const inFolder = (node: string, folder: string): readonly string[] =>
  readdirSync(join(rack.fleet().nodes[node]?.root ?? '', folder)).sort();

const staging = 'opt/meshwright/staging';
const jobs = 'Library/Application Support/meshwright/ops';

async function declareModel(source: string, archive = './dist/reference.tar.gz'): Promise<void> {
  const file = pairFile((value) => {
    filePart(value, 'models')['tiny'] = { source };
    filePart(value, 'runtimes', 'reference')['archive'] = archive;
  });
  expect(await rack.declare(file)).toEqual([]);
}

/** Applies until a copy started on a node, and stops there. */
async function giveUp(): Promise<void> {
  const stop = new AbortController();
  await rack.apply({
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind === 'step-ended' && /model\/tiny\/prepare/.test(JSON.stringify(event))) stop.abort();
    },
  });
}

describe('apply', { timeout: patience }, () => {
  it('leaves no staging folder and no job after several model and runtime changes', async () => {
    const files = [
      ['./models/tiny'],
      ['./models/newer', './dist/newer.tar.gz'],
      ['./models/large', './dist/newest.tar.gz'],
      ['./models/tiny', './dist/newer.tar.gz'],
    ] as const;
    for (const [source, archive] of files) {
      await declareModel(source, archive);
      await rack.converge();
    }
    for (const node of nodes) expect([inFolder(node, staging), inFolder(node, jobs)]).toEqual([[], []]);
    expectNothingOld(rack);
  });

  it('keeps an unfinished copy as long as it can be continued', async () => {
    await rack.behindOurBack(async () => {
      for (const node of nodes) await rack.asRoot(node, 'rm -rf "$R/opt/meshwright/models/tiny"');
    });
    await declareModel('./models/large');
    await giveUp();
    const begun = nodes.flatMap((node) => inFolder(node, staging));
    expect(begun.length).toBeGreaterThan(0);
    const again = await rack.plan();
    expect(changesIn(again).filter((id) => id.endsWith(' staging'))).toEqual([]);
    expect(changesIn(again)).toContain(`${first} model/tiny`);
  });

  it('lists and removes an unfinished copy of a model that is no longer declared', async () => {
    await declareModel('./models/newer');
    const { plan } = await rack.converge();
    const listed = plan.changes.filter(({ resource }) => resource === 'staging');
    expect(listed.length).toBeGreaterThan(0);
    for (const { from, to } of listed) {
      expect([from, to]).toEqual([
        expect.stringMatching(/^model-tiny-[0-9a-f]{16}(?:, 1 finished job)? left over$/),
        'nothing left over',
      ]);
    }
    for (const node of nodes) expect([inFolder(node, staging), inFolder(node, jobs)]).toEqual([[], []]);
    expectNothingOld(rack);
  });

  it('keeps only one restart mark after several restarts of a Mac', async () => {
    const only = nodes.filter((node) => node === second);
    for (let times = 0; times < 2; times += 1) {
      const goal = {
        kind: 'reboot',
        nodes: rack.desired().nodes.flatMap(({ name }) => (only.some((one) => one === name) ? [name] : [])),
      } as const;
      await rack.apply({ goal });
    }
    expect(inFolder(second, jobs)).toEqual([expect.stringMatching(/^reboot-/)]);
    await rack.converge();
  });
});

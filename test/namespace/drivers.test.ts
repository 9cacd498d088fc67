import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/rack/fact.ts';
import { placementsFact } from '../../src/rack/placement/observed/fact.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { type FileValue, filePart, first, pairFile } from '../scenarios/converge-file.ts';
import { changesIn, leftIn, patience } from '../scenarios/converge-rack.ts';
import { writeExoBuild } from '../scenarios/exo-doubles.ts';
import { nodeArchive } from '../scenarios/published-sources.ts';
import { writeIndexedModel } from '../tiny-models.ts';
import { startNamespaceRack } from './rack.ts';

const ports = { chat: 8_080, talk: 8_081 } as const;

/** A commit of exo's main branch. */
const commit = 'b5375f8cee4368d09e1ce96a56b9f81fb0bc81aa';

/** Two nodes with two placements over RDMA, `chat` on mlx and `talk` on a build of exo from source. */
const driversFile = (): FileValue =>
  pairFile((file) => {
    file['runtimes'] = {
      mlx: {
        driver: 'mlx',
        archive: './dist/uv-aarch64-apple-darwin.tar.gz',
        python: '3.12',
        requirements: './requirements.lock',
      },
      exo: { driver: 'exo', archive: './dist/exo.tar.gz', version: '1.0.72', program: `exo-${commit}/exo` },
    };
    file['gateway'] = { node: nodeArchive };
    file['models'] = {
      llama: { source: './models/llama' },
      indexed: { source: './models/indexed', repository: 'acme/indexed' },
    };
    const placements = filePart(file, 'placements');
    const chat = filePart(placements, 'chat');
    const common = { ...chat, transport: 'rdma' };
    placements['chat'] = { ...common, model: 'llama', runtime: 'mlx', endpoint: { port: ports.chat } };
    placements['talk'] = { ...common, model: 'indexed', runtime: 'exo', endpoint: { port: ports.talk } };
  });

const rack = shared(() => startNamespaceRack('drivers'));
beforeAll(async () => {
  await writeExoBuild(join(rack.folder, 'dist/exo.tar.gz'), commit);
  await writeIndexedModel(join(rack.folder, 'models/indexed'));
  expect(await rack.declare(driversFile())).toEqual([]);
}, patience);

/** The placements whose endpoint gave a token to the product. */
async function answering(): Promise<readonly string[]> {
  const facts = read((await rack.observe()).nodes[first]?.facts, placementsFact);
  const members = facts?.kind === 'known' ? facts.value : [];
  return members.filter(({ token }) => token.kind === 'answered').map(({ placement }) => placement);
}

const both = ['chat', 'talk'];

describe('mlx and exo on Macs in namespaces', { timeout: patience }, () => {
  it('start from scratch and produce a token over the same cable', async () => {
    const { plan, report } = await rack.converge();
    const made = ['runtime/mlx', 'runtime/exo', 'placement/chat', 'placement/talk'];
    expect(changesIn(plan)).toEqual(expect.arrayContaining(made.map((one) => `${first} ${one}`)));
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    // Two ranks of each, and the gateway in front of mlx.
    expect(rack.fleet().processes()).toHaveLength(5);
    expect(await answering()).toEqual(both);
  });

  it('need no changes in a second apply', async () => {
    const { plan, report } = await rack.apply();
    expect([leftIn(plan), plan.effects, report]).toEqual([[], [], undefined]);
  });

  it('are reported as giving no token while the cable is unplugged', async () => {
    await rack.behindOurBack(async (fleet) => {
      await fleet.setFault(['cable-missing', `${first}:4`]);
      expect(await eventually(async () => (await answering()).length === 0)).toBe(true);
      const { blockers } = await rack.plan();
      expect(blockers.map(({ code, blocks }) => [code, blocks])).toEqual([
        ['cabling/missing', both.map((name) => `${first} placement/${name}`)],
      ]);
    });
  });
});

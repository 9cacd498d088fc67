import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import type { SeenNames } from '../../../src/drivers/contract/driver.ts';
import { launchFiles, launchGroup as launchGroupItself } from '../../../src/drivers/launch-group.ts';
import { type Link, type LinkEnd, nodeName } from '../../../src/model/node.ts';
import { settledFleet } from '../../rack/rack.ts';
import { onOnePage, onPage } from '../one-page.ts';

const launchGroup = onPage(launchGroupItself);

const { thunderbolt } = settledFleet();
const seen: SeenNames = {
  device: ({ receptacle }) => `rdma_en${receptacle + 1}`,
  lan: (node) => `192.0.2.${node.at(-1)}`,
};
const attempt = (names: readonly string[], sight: SeenNames, cables = thunderbolt) =>
  launchGroup(
    { thunderbolt: cables, nodes: names.map(nodeName), hosts: names.map((name) => `${name}.lan`), port: 50_000 },
    sight,
  );
function group(names: readonly string[], sight: SeenNames = seen, cables = thunderbolt) {
  const made = attempt(names, sight, cables);
  if (made.kind === 'unseen') throw new Error(plainText(made.diagnostic.detail));
  return made;
}
const uncabled = { ...thunderbolt, links: [] };
const file = (name: string): string => `/run/${name}`;

describe('the group of a launched program', () => {
  it('uses RDMA if every pair has a cable and a device', () => {
    const four = group(['studio-1', 'studio-2', 'studio-3', 'studio-4']);
    expect([four.backend, Object.keys(four.files).sort()]).toEqual([
      'jaccl',
      [launchFiles.devices, launchFiles.mpi, launchFiles.hostfile].sort(),
    ]);
    const devices: (string | null)[][] = JSON.parse(four.files[launchFiles.devices] ?? '');
    expect(devices.map((row, at) => row[at])).toEqual([null, null, null, null]);
    expect(devices.flat().filter((one) => one === null)).toHaveLength(4);
    expect(four.environment(2, file)).toEqual({
      MESHWRIGHT_RANK: '2',
      MESHWRIGHT_SIZE: '4',
      MLX_RANK: '2',
      MLX_IBV_DEVICES: '/run/devices.json',
      MLX_JACCL_COORDINATOR: '192.0.2.1:50000',
    });
    const hostfile = JSON.parse(four.files[launchFiles.hostfile] ?? '');
    expect(hostfile).toMatchObject({
      backend: 'jaccl',
      hosts: [{ ssh: 'studio-1.lan', ips: ['192.0.2.1'] }, {}, {}, {}],
    });
    expect(hostfile.hosts.map(({ rdma }: { readonly rdma: unknown }) => rdma)).toEqual(devices);
    expect(four.files[launchFiles.mpi]).toBe(
      'studio-1.lan slots=1\nstudio-2.lan slots=1\nstudio-3.lan slots=1\nstudio-4.lan slots=1\n',
    );
  });

  it("assigns the devices in Apple's hostfile for four M3 Ultra Macs", () => {
    const cables = ['1:4 2:4', '1:3 3:4', '1:2 4:4', '2:3 3:3', '2:2 4:3', '3:2 4:2'];
    const end = (node = '', receptacle = ''): LinkEnd => ({
      node: nodeName(`studio-${node}`),
      receptacle: Number(receptacle),
    });
    const links = cables.map((cable, index): Link => {
      const [one, at, other, to] = cable.split(/[ :]/);
      return { index, ends: [end(one, at), end(other, to)] };
    });
    const made = group(['studio-1', 'studio-2', 'studio-3', 'studio-4'], seen, { ...thunderbolt, links });
    expect(JSON.parse(made.files[launchFiles.devices] ?? '')).toEqual([
      [null, 'rdma_en5', 'rdma_en4', 'rdma_en3'],
      ['rdma_en5', null, 'rdma_en4', 'rdma_en3'],
      ['rdma_en5', 'rdma_en4', null, 'rdma_en3'],
      ['rdma_en5', 'rdma_en4', 'rdma_en3', null],
    ]);
  });

  it('meets on the cable between two Macs', () => {
    const address = group(['studio-1', 'studio-2']).environment(0, file)['MLX_JACCL_COORDINATOR'];
    expect(address).toMatch(/^10\.77\.0\.\d+:50000$/);
  });

  it('uses sockets and no RDMA variable without cables', () => {
    const two = group(['studio-1', 'studio-2'], seen, uncabled);
    expect([two.backend, Object.keys(two.environment(0, file)).sort()]).toEqual([
      'ring',
      ['MESHWRIGHT_RANK', 'MESHWRIGHT_SIZE', 'MLX_HOSTFILE', 'MLX_RANK'],
    ]);
    expect(JSON.parse(two.files[launchFiles.ring] ?? '')).toEqual([['192.0.2.1:50000'], ['192.0.2.2:50000']]);
  });

  it('is refused if a device was not observed', () => {
    const blind: SeenNames = { ...seen, device: (end) => (end.node === 'studio-2' ? undefined : seen.device(end)) };
    expect(attempt(['studio-1', 'studio-2'], blind)).toMatchObject({
      kind: 'unseen',
      diagnostic: {
        code: 'launch/not-seen',
        detail: expect.stringMatching(/^Not observed: the RDMA device of studio-2[^,]*\.$/),
      },
    });
  });

  it('is refused without an office address, unless cables suffice', () => {
    const deaf: SeenNames = { ...seen, lan: (node) => (node === 'studio-2' ? undefined : seen.lan(node)) };
    const three = ['studio-1', 'studio-2', 'studio-3'];
    expect(attempt(three, deaf, uncabled)).toMatchObject({
      diagnostic: { detail: 'Not observed: the office network address of studio-2.' },
    });
    expect(group(three, deaf).backend).toBe('jaccl');
    expect(attempt(['studio-2', 'studio-1', 'studio-3'], deaf)).toMatchObject({ kind: 'unseen' });
    expect(group(['studio-2', 'studio-1'], deaf).backend).toBe('jaccl');
  });

  it('does not need an address for one Mac', () => {
    const one = group(['studio-1']);
    expect([one.backend, one.environment(0, file)]).toEqual(['alone', { MESHWRIGHT_RANK: '0', MESHWRIGHT_SIZE: '1' }]);
  });
});

onOnePage('launch-group');

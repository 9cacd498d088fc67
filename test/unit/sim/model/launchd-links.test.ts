import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  announcedIn,
  createLinkTables,
  createPortClaims,
  type LinkTables,
} from '../../../../src/sim/hosts/link-table.ts';
import { reachOf, wholeReachOf } from '../../../../src/sim/model/wiring.ts';
import { broken, simulated } from '../../../rack/rack.ts';

const healthy = simulated();
const nodes = healthy.macs.map(({ name }) => name);

describe("a simulated Mac's reach over its cables", () => {
  it('includes its own addresses and those at the far ends', () => {
    expect(reachOf(healthy, 'studio-2')).toEqual({
      own: ['10.77.0.2', '10.77.0.13', '10.77.0.17'],
      far: [
        { node: 'studio-1', address: '10.77.0.1' },
        { node: 'studio-3', address: '10.77.0.14' },
        { node: 'studio-4', address: '10.77.0.18' },
      ],
    });
  });

  const all = ['10.77.0.2', '10.77.0.13', '10.77.0.17'];
  const [first, third, fourth] = ['10.77.0.1', '10.77.0.14', '10.77.0.18'];

  it.each([
    ['a pulled cable', 'cable-missing', 'studio-1:2', all.slice(1), [third, fourth]],
    ['a bridge here', 'bridge-active', 'studio-2', [], []],
    ['a bridge at the far end', 'bridge-active', 'studio-1', all, [third, fourth]],
    ['swapped cable ends', 'cable-swapped', 'studio-2:2,studio-2:3', all, [fourth]],
    ['cables that carry nothing here', 'rdma-hang', 'studio-2', all, []],
    ['cables that carry nothing at the far end', 'rdma-hang', 'studio-1', all, [third, fourth]],
    ['a cable that idled too long', 'idle-dead-port', 'studio-1:2', all, [third, fourth]],
    ['an older cable', 'cable-40g', 'studio-1:2', all, [first, third, fourth]],
  ] as const)('has the expected addresses with %s', (_, fault, target, own, far) => {
    const reach = reachOf(broken(healthy, { fault, target }), 'studio-2');
    expect([reach.own, reach.far.map(({ address }) => address)]).toEqual([own, far]);
  });

  it('is empty for a node outside the rack', () => {
    expect(reachOf(healthy, 'studio-9')).toEqual({ own: [], far: [] });
  });
});

describe('announcedIn', () => {
  it.each<readonly [readonly string[], readonly string[], readonly number[]]>([
    [['--listen', '10.77.0.1:51000'], ['10.77.0.1:51000'], []],
    [['--peers=10.77.0.1:51000,10.77.0.2:51000'], ['10.77.0.1:51000', '10.77.0.2:51000'], []],
    [['--listen', '10.77.0.1', '51000', '10.77.0.2'], ['10.77.0.1:51000'], [51_000]],
    [['--endpoint', '8080', '--rank', '3'], [], [8080]],
    [['PORT=8080', 'http://127.0.0.1:9090/x', '0.0.0.0:7000', 'localhost:6000'], [], [8080, 9090, 7000, 6000]],
    [['10.77.0.1:80', '1.2.3.4:99999', '70000', '123456', 'v26.5', 'a 8080'], [], []],
  ])('finds addresses and ports in %j', (texts, links, loopbackPorts) => {
    expect(announcedIn(texts)).toMatchObject({ links, loopbackPorts, openPorts: [] });
  });

  it('finds the ports on which exo accepts peers at any address', () => {
    const words = ['--api-port', '52500', '--zenoh-port', '53000', '--libp2p-port', '80', 'x', '--libp2p-port'];
    expect(announcedIn(words)).toMatchObject({ links: [], loopbackPorts: [52_500, 53_000], openPorts: [53_000] });
  });

  it('finds the ports on which one socket listens at every address', () => {
    expect(announcedIn(['0.0.0.0:7000', '127.0.0.1:9090']).everywherePorts).toEqual([7_000]);
  });
});

describe("a fleet's link tables", () => {
  let folder = '';
  let tables: LinkTables;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mw-links-'));
    for (const node of nodes) await mkdir(join(folder, node));
    tables = createLinkTables(new Map(nodes.map((node) => [node, join(folder, node)])));
    await tables.update(new Map(nodes.map((node) => [node, reachOf(healthy, node)])));
  });
  afterEach(async () => {
    await tables.close();
    await rm(folder, { recursive: true, force: true });
  });
  const read = async (node: string, name = 'link-table'): Promise<ReadonlyMap<string, string>> => {
    const text = await readFile(join(folder, node, '.sim', name), 'utf8');
    return new Map(text.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ') as [string, string]])));
  };

  it('list an announced address only at both ends of its cable, under one port', async () => {
    await tables.announce('studio-1', ['10.77.0.2:51000', '8080']);
    const [one, two, three] = [await read('studio-1'), await read('studio-2'), await read('studio-3')];
    expect(one.get('10.77.0.2:51000')).toMatch(/^127\.0\.0\.1:2\d{4}$|^127\.0\.0\.1:3[0-2]\d{3}$/);
    expect(two.get('10.77.0.2:51000')).toBe(one.get('10.77.0.2:51000'));
    expect([[...one.keys()], [...two.keys()], [...three.keys()]]).toEqual([
      ['10.77.0.2:51000', '127.0.0.1:8080'],
      ['10.77.0.2:51000'],
      [],
    ]);
  });

  it('drop an address at both ends with its cable, and restore it under the same port', async () => {
    await tables.announce('studio-1', ['10.77.0.1:51000', '10.77.0.2:51000']);
    const before = await read('studio-2');
    const fleet = broken(healthy, { fault: 'cable-missing', target: 'studio-1:2' });
    await tables.update(new Map(nodes.map((node) => [node, reachOf(fleet, node)])));
    expect([(await read('studio-1')).size, (await read('studio-2')).size]).toEqual([0, 0]);
    expect([...(await read('studio-2', 'link-names')).values()]).toEqual(['10.77.0.2:51000']);
    await tables.update(new Map(nodes.map((node) => [node, reachOf(healthy, node)])));
    expect(await read('studio-2')).toEqual(before);
  });

  it('list a port that listens everywhere at the names and addresses of its Mac, for every Mac', async () => {
    const named = nodes.map((node) => ({ node, address: `${node}.lan` }));
    await tables.update(new Map(nodes.map((node) => [node, wholeReachOf(healthy, node, named)])));
    await tables.announce('studio-1', ['0.0.0.0:8080', '127.0.0.1:9090']);
    const [one, other] = [await read('studio-1'), await read('studio-4')];
    const real = one.get('127.0.0.1:8080');
    expect([one.get('studio-1.lan:8080'), other.get('studio-1.lan:8080')]).toEqual([real, real]);
    const office = healthy.macs.find(({ name }) => name === 'studio-1')?.lan.address;
    expect(other.get(`${office}:8080`)).toBe(real);
    expect([...other.keys()].filter((address) => /127|studio-4|:9090/.test(address))).toEqual([]);
    expect([...(await read('studio-1', 'link-names')).values()].toSorted()).toEqual([
      '127.0.0.1:8080',
      '127.0.0.1:9090',
    ]);
  });

  it('come with the addresses that a node has and reaches, with and without an announced port', async () => {
    const text = await readFile(join(folder, 'studio-4/.sim/link-reach'), 'utf8');
    const [own, far] = [
      ['10.77.0.10', '10.77.0.18', '10.77.0.22'],
      ['10.77.0.9', '10.77.0.17', '10.77.0.21'],
    ];
    expect(text).toBe([...own.map((one) => `own ${one}\n`), ...far.map((one) => `far ${one}\n`)].join(''));
  });

  it('list an early announced address as soon as a node has it', async () => {
    await tables.update(new Map());
    await tables.announce('studio-1', ['10.77.0.2:51000']);
    expect((await read('studio-2')).size).toBe(0);
    await tables.update(new Map(nodes.map((node) => [node, reachOf(healthy, node)])));
    expect((await read('studio-2')).size).toBe(1);
  });
});

describe('claimed loopback ports', () => {
  it('are free and unique', async () => {
    const [one, other] = [createPortClaims(), createPortClaims()];
    const ports = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).take()));
    expect(new Set(ports).size).toBe(20);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(ports[0], '127.0.0.1', resolve));
    server.close();
    await Promise.all([one.close(), other.close()]);
  });
});

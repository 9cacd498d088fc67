import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePart, fileText, pairFile, writeSources } from '../scenarios/converge-file.ts';
import { assetHost, fakeReleases } from '../servers/fake-releases.ts';
import { type FakeWeb, openFakeWeb } from '../servers/fake-web.ts';
import { endPlace, placeWithFile } from './fleet.ts';
import { meshwright } from './meshwright.ts';
import type { Place } from './place.ts';

const [owner, name] = ['acme/reference', 'reference.tar.gz'];
let web: FakeWeb;
let place: Place;

const run = (...words: readonly string[]) =>
  meshwright(place, words, {
    env: { NODE_EXTRA_CA_CERTS: join(place.home, 'ca.pem'), MESHWRIGHT_TRUST: `host=${new URL(web.origin).host}` },
  });

/** The folders of the simulated Macs' disks. */
const disks = (): readonly string[] =>
  readdirSync(place.state, { recursive: true, withFileTypes: true })
    .filter((one) => one.isDirectory() && one.name === 'roots')
    .flatMap((one) => readdirSync(join(one.parentPath, 'roots')).map((node) => join(one.parentPath, 'roots', node)));

const writeTrust = (): void => {
  writeFileSync(join(place.home, 'ca.pem'), web.ca);
  for (const disk of disks()) {
    writeFileSync(join(disk, '.sim/ca'), web.ca);
    writeFileSync(join(disk, '.sim/web'), web.lines);
  }
};

beforeAll(async () => {
  place = await placeWithFile(fileText(pairFile()), writeSources);
  const archive = readFileSync(join(place.folder, 'dist/reference.tar.gz'));
  web = await openFakeWeb(fakeReleases({ github: { [`${owner}@v1`]: { [name]: archive } } }).sites);
  const file = pairFile((value) => {
    filePart(value, 'runtimes', 'reference')['archive'] = `https://github.com/${owner}/releases/download/v1/${name}`;
    value['downloads'] = { mirror: web.origin };
  });
  place.write('cluster.yaml', fileText(file));
  writeTrust();
});
afterAll(async () => {
  await endPlace(place);
  await web.close();
});

describe('a runtime from a release server', () => {
  // The second test repeats what the first one applied, so it does not run alone.
  it('is hashed once on this computer, then fetched from the mirror, verified and started on each node', async () => {
    const planned = await run('plan', '--sim');
    expect(planned.stdout).toContain('runtime/reference');
    web.reset();
    // The first node's download breaks off and is resumed.
    web.fault({ kind: 'truncated', afterBytes: 200 }, { host: assetHost, after: 1, times: 1 });
    const applied = await run('apply', '--sim', '--yes');
    expect([applied.code, applied.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    const asked = web.requests.filter(({ host }) => host === assetHost).map(({ range }) => range);
    expect(asked.toSorted()).toEqual(['bytes=200-', undefined, undefined, undefined]);
    expect(readFileSync(join(disks()[0] ?? '', '../../cluster.lock'), 'utf8')).toContain(
      `releases:\n  "reference": "https://github.com/${owner}/releases/download/v1/${name}"`,
    );
  });

  it('is neither resolved nor downloaded again', async () => {
    web.reset();
    const again = await run('apply', '--sim', '--yes');
    expect([again.code, web.count({})]).toEqual([0, 0]);
  });
});

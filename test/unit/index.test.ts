import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { utils } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import { nodeSubject } from '../../src/model/subject.ts';

/** A loopback port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const address = server.address();
  await new Promise((settle) => server.close(settle));
  return address !== null && typeof address === 'object' ? address.port : 1;
}

describe('the library', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'meshwright-library-'));
    writeFileSync(join(folder, 'key'), utils.generateKeyPairSync('ecdsa', { bits: 256 }).private, { mode: 0o600 });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('offers these names and no more', () => {
    expect(Object.keys(library).sort()).toEqual([
      'FleetError',
      'codes',
      'createReachResolver',
      'diagnoseFleet',
      'loadCluster',
      'localReachEnv',
      'observeFleet',
      'parseLock',
      'plainText',
      'proseText',
      'readFact',
      'renderDiagnostics',
      'subjectText',
    ]);
  });

  it('goes from the text of a file to what is wrong, as its example says', async () => {
    const way = `host: 127.0.0.1, port: ${await closedPort()}, user: nobody, identityFile: "${join(folder, 'key')}"`;
    const text = `schema: 1\nname: rack\nnodes:\n  one: { ${way} }\n`;
    const { fleet } = library.loadCluster(text, 'cluster.yaml');
    const { lock } = library.parseLock('lock: 1\n', 'cluster.lock');
    const resolver = library.createReachResolver(library.localReachEnv());
    const ways = await Promise.all(
      (fleet?.nodes ?? []).map(async ({ name, ...node }) => {
        const reach = await resolver.resolve({ label: name, ...node });
        const trust = await resolver.trust(reach, lock);
        return { node: name, way: { kind: 'way', target: reach.target, trust } } as const;
      }),
    );
    const newToken = (): string => randomBytes(16).toString('hex');
    const observation = await library.observeFleet(ways, { parallel: 16, deadlineMs: 10_000, newToken });
    const findings = fleet === undefined ? [] : library.diagnoseFleet(fleet, observation);
    const refused = { code: 'ssh/refused', subject: nodeSubject('one') };
    expect(observation.failures['one']).toMatchObject([refused]);
    expect(findings).toMatchObject([refused]);
    expect(
      library.renderDiagnostics(findings, { sources: new Map(), columns: 80, color: false, isSimulated: false }),
    ).toContain('ssh/refused');
  });

  it('returns every problem of a wrong file instead of a fleet', () => {
    const { fleet, diagnostics } = library.loadCluster('schema: 1\nnames: rack\n', 'cluster.yaml');
    expect(fleet).toBeUndefined();
    expect(diagnostics.map((one) => one.code)).toContain('schema/unknown-key');
  });
});

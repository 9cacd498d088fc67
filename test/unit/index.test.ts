import { createServer } from 'node:net';
import { utils } from 'ssh2';
import { describe, expect, it, vi } from 'vitest';
import * as library from '../../src/index.ts';
import { nodeSubject } from '../../src/model/subject.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { problemsOf } from './problems-of.ts';

/** A loopback port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
  const address = server.address();
  await new Promise((settle) => server.close(settle));
  return address !== null && typeof address === 'object' ? address.port : 1;
}

describe('the library', () => {
  const { write } = temporaryFolder();
  const key = write('key', utils.generateKeyPairSync('ecdsa', { bits: 256 }).private);

  it('exports exactly these values', () => {
    expect(Object.keys(library).sort()).toEqual([
      'FleetError',
      'codes',
      'fnvOfFile',
      'loadCluster',
      'openCluster',
      'plainText',
      'probeVerbs',
      'proseText',
      'readFact',
      'renderDiagnostics',
      'startSimulatedRack',
      'subjectText',
    ]);
  });

  it('reports why a node was not reached, and prints nothing', async () => {
    const node = `host: 127.0.0.1, port: ${await closedPort()}, user: mesh, identityFile: "${key}"`;
    const file = write('cluster.yaml', `schema: 1\nname: rack\nnodes:\n  one: { ${node} }\n`);
    const written = vi.spyOn(process.stdout, 'write');
    const errors = vi.spyOn(process.stderr, 'write');
    const cluster = library.openCluster({ file, trust: [`file=${key}`, 'host=127.0.0.1'] });
    const observation = await cluster.observe();
    const findings = cluster.diagnose(observation);
    expect([written, errors].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    vi.restoreAllMocks();
    const refused = { code: 'ssh/refused', subject: nodeSubject('one') };
    expect(observation.failures['one']).toMatchObject([refused]);
    expect(findings).toMatchObject([refused]);
    expect(
      library.renderDiagnostics(findings, { sources: new Map(), columns: 80, color: false, isSimulated: false }),
    ).toContain('ssh/refused');
  });

  it('rejects an invalid file, and lists all of its errors', () => {
    const file = write('wrong.yaml', 'schema: 1\nnames: rack\nnodes: {}\n');
    const found = problemsOf(() => library.openCluster({ file })).map(({ code }) => code);
    expect(found).toContain('schema/unknown-key');
    expect(found.length).toBeGreaterThan(1);
  });

  it('returns every problem with an invalid text instead of a fleet', () => {
    const { fleet, diagnostics } = library.loadCluster('schema: 1\nnames: rack\n', 'cluster.yaml');
    expect(fleet).toBeUndefined();
    expect(diagnostics.map((one) => one.code)).toContain('schema/unknown-key');
  });
});

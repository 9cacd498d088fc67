import { describe, expect, it } from 'vitest';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const file = (apiKey: string): string => `schema: 1
name: rack
nodes:
  studio-1: { host: studio-1.lan, hardware: { model: "Mac15,14" } }
runtimes:
  reference: { driver: command, archive: ./reference.tar.gz, command: ["{runtime}/bin/rank"] }
models:
  tiny: { source: ./tiny }
gateway: { node: ./node-v22.22.0-darwin-arm64.tar.gz }
placements:
  chat:
    model: tiny
    runtime: reference
    nodes: [studio-1]
    transport: tcp
    context: 4k
    endpoint: { listen: lan, ${apiKey} }
`;

describe('an API key written in the file itself', () => {
  it.each([
    'apiKey: sk-never-shown-012345',
    'apiKey: { env: sk-never-shown-012345 }',
    'apiKey: [sk-never-shown-012345]',
    'apiKey: [{ env: KEY }, sk-never-shown-012345]',
    'apiKey: [{ env: KEY }, { env: KEY, file: sk-never-shown-012345 }]',
  ])('is rejected and never printed: %s', (line) => {
    const { fleet, diagnostics } = loadCluster(file(line), 'cluster.yaml');
    expect(fleet).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toContain('secret/not-a-source');
    expect(JSON.stringify(diagnostics)).not.toContain('never-shown');
  });
});

describe('the API key sources of an endpoint', () => {
  const sourcesOf = (line: string) =>
    loadCluster(file(line), 'cluster.yaml').fleet?.placements[0]?.publication?.apiKeys;

  it('can be one or several, in file order', () => {
    expect(sourcesOf('apiKey: { env: ANA }')).toEqual([{ kind: 'env', name: 'ANA' }]);
    expect(sourcesOf('apiKey: [{ env: ANA }, { file: ben }]')).toEqual([
      { kind: 'env', name: 'ANA' },
      { kind: 'file', path: 'ben' },
    ]);
    expect(sourcesOf('access: anybody')).toBeUndefined();
  });

  it('cannot be an empty list, which would admit no client', () => {
    const { fleet, diagnostics } = loadCluster(file('apiKey: []'), 'cluster.yaml');
    expect(fleet).toBeUndefined();
    expect(diagnostics.map(({ code }) => code)).toEqual(['secret/not-a-source']);
  });
});

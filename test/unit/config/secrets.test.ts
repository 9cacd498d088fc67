import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/diagnostics/render.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const plain = 'schema: 1\nname: rack\nnodes: { studio-1: { host: a.lan } }\n';

function shown(text: string): string {
  const { diagnostics } = loadCluster(text, 'cluster.yaml');
  const rendered = renderDiagnostics(diagnostics, {
    sources: new Map([['cluster.yaml', text]]),
    columns: 100,
    color: false,
    isSimulated: false,
  });
  return `${rendered}\n${JSON.stringify(diagnostics)}`;
}

/** Files that contain the password itself, in every likely place and form. */
const literals: Readonly<Record<string, string>> = {
  plain: `${plain}ssh:\n  password: hunter2-long\n`,
  quoted: `${plain}ssh:\n  password: "hunter2-long"\n`,
  commented: `${plain}ssh:\n  password: 'hunter2-long' # mine\n`,
  'in braces with another mistake': `${plain}ssh: { user: mesh, password: hunter2-long, prot: 22 }\n`,
  block: `${plain}ssh:\n  password: |\n    hunter2-long\n  prot: 22\n`,
  'on the next line': `${plain}ssh:\n  password:\n    hunter2-long\n`,
  'as a list': `${plain}ssh:\n  password:\n    - hunter2-long\n`,
  'as a value of its own key': `${plain}ssh:\n  password: { value: hunter2-long }\n`,
  'as the name of a variable': `${plain}ssh:\n  password: { env: "hunter2-long!" }\n`,
  'as a key': `${plain}ssh:\n  password: { hunter2-long: true }\n`,
  'of a node': 'schema: 1\nname: rack\nnodes:\n  studio-1:\n    host: a.lan\n    password: hunter2-long\n',
  misspelled: `${plain}ssh:\n  passwrod: hunter2-long\n`,
  'glued to its key': `${plain}ssh:\n  password:hunter2-long\n`,
  'glued next to a different key': `${plain}ssh:\n  user: mesh\n  password:hunter2-long\n`,
  'with an open quote': `${plain}ssh:\n  password: "hunter2-long\n`,
  'as an octal number': `${plain}ssh:\n  password: 0o7777\n`,
  'with a tag': `${plain}ssh:\n  password: !secret hunter2-long\n`,
};

describe('a password in the file', () => {
  it.each(Object.entries(literals))('is rejected and never printed: %s', (_name, text) => {
    const loaded = loadCluster(text, 'cluster.yaml');
    expect(loaded.fleet).toBeUndefined();
    expect(shown(text)).not.toMatch(/hunter2|0o7777/u);
  });

  it('leads to a hint that lists the valid forms of a source', () => {
    const [problem] = loadCluster(literals['plain'] ?? '', 'cluster.yaml').diagnostics;
    expect(problem).toMatchObject({ code: 'secret/not-a-source', where: { line: 5, pointer: '/ssh/password' } });
    expect(problem?.hint).toContain('password: { env: MESH_PASSWORD }');
  });

  it("is read as a source, and the node's own source takes precedence", () => {
    const text = [
      'schema: 1',
      'name: rack',
      'ssh: { password: { env: MESH_PASSWORD } }',
      'nodes:',
      '  a: { host: a.lan }',
      '  b: { host: b.lan, password: { file: ~/b } }',
      '  c: { host: c.lan, password: { command: [security, -w] } }',
      '  d: { host: d.lan, password: { prompt: true } }',
      '',
    ].join('\n');
    const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
    expect(diagnostics).toEqual([]);
    expect(fleet?.nodes.map((node) => node.password)).toEqual([
      { kind: 'env', name: 'MESH_PASSWORD' },
      { kind: 'file', path: '~/b' },
      { kind: 'command', argv: ['security', '-w'], hidden: ['MESH_PASSWORD'] },
      { kind: 'prompt' },
    ]);
  });

  it('is not a valid source with two keys, no key, or a prompt other than true', () => {
    for (const form of ['{ env: A, file: b }', '{}', '{ prompt: false }', '{ command: [] }', 'null']) {
      const { diagnostics } = loadCluster(`${plain}ssh:\n  password: ${form}\n`, 'cluster.yaml');
      expect(diagnostics.map((one) => one.code)).toEqual(['secret/not-a-source']);
    }
  });

  it('leaves sources readable in the excerpt for a different mistake', () => {
    const text = `${plain}ssh: { password: { env: MESH_PASSWORD }, prot: 22 }\n`;
    expect(shown(text)).toContain('{ password: { env: MESH_PASSWORD }, prot: 22 }');
  });
});

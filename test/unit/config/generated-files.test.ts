import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { validateCluster } from '../../../src/config/validators.generated.ts';

describe('generated files', () => {
  it('are not in git, since every script creates missing or stale ones', () => {
    const inGit = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8', timeout: 120_000 });
    expect(inGit.split('\n').filter((path) => path.includes('.generated.'))).toEqual([]);
  });

  it('do not need a schema compiler at run time', () => {
    expect(readFileSync('src/config/validators.generated.ts', 'utf8')).not.toMatch(/\bimport\b|\brequire\(/);
  });

  it('validate like the schema itself', () => {
    const schema: object = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
    const compiled = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
    const spec = (node: object) => ({ schema: 1, name: 'rack', nodes: { a: node } });
    const values = [
      spec({ host: 'a.lan' }),
      spec({ host: '-o' }),
      spec({}),
      spec({ host: 'a', port: 0 }),
      {},
      [],
      null,
    ];
    expect(values.map((value) => validateCluster(value))).toEqual(values.map((value) => compiled(value)));
    expect(values.filter((value) => validateCluster(value))).toHaveLength(1);
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { validateCluster } from '../../../src/config/validators.generated.ts';

describe('generated files', () => {
  it.each(['scripts/generate-types.mjs', 'scripts/generate-validators.mjs'])('of %s are fresh', (script) => {
    expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe', timeout: 60_000 })).not.toThrow();
  });

  it('need no schema compiler when they run', () => {
    expect(readFileSync('src/config/validators.generated.ts', 'utf8')).not.toMatch(/\bimport\b|\brequire\(/);
  });

  it('judge as the schema itself does', () => {
    const schema: object = JSON.parse(readFileSync('schemas/cluster.schema.json', 'utf8'));
    const judge = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
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
    expect(values.map((value) => validateCluster(value))).toEqual(values.map((value) => judge(value)));
    expect(values.filter((value) => validateCluster(value))).toHaveLength(1);
  });
});

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { countText, type Diagnostic, hasErrors } from '../../../src/diagnostics/diagnostic.ts';
import { diagnosticJson as diagnosticJsonFor } from '../../../src/diagnostics/json.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const schema: object = JSON.parse(readFileSync('schemas/diagnostics.schema.json', 'utf8'));
const diagnosticJson = (one: Diagnostic) => diagnosticJsonFor(one, { isSimulated: false });
const validate = new Ajv2020({ strict: true }).compile(schema);

describe("a diagnostic's JSON", () => {
  const text = 'schema: 1\nname: rack\nnodes:\n  a: { host: a.lan }\n  b: { host: a.lan, hots: no }\n';
  const { diagnostics } = loadCluster(text, 'cluster.yaml');

  it('follows the published schema', () => {
    expect(validate({ diagnostics: diagnostics.map(diagnosticJson) })).toBe(true);
    expect(validate({ diagnostics: [diagnosticJson(diagnose('ssh/unreachable', { detail: 'Silence.' }))] })).toBe(true);
    expect(validate({ diagnostics: [{ code: 'schema/bad-form' }] })).toBe(false);
  });

  it('has the place, summary, reason and hint', () => {
    expect(diagnostics.map(diagnosticJson)[0]).toEqual({
      code: 'topology/duplicate-address',
      severity: 'error',
      summary: 'Two nodes have the same address.',
      detail: 'b and a would both be reached at a.lan.',
      hint: 'Correct the host of one of the two nodes.',
      where: { file: 'cluster.yaml', line: 5, column: 14 },
      subject: 'node b',
      related: [expect.objectContaining({ where: { file: 'cluster.yaml', line: 4, column: 14 } })],
    });
  });
});

describe('a count of diagnostics', () => {
  const error = diagnose('schema/bad-form', { detail: 'No.' });
  const warning = diagnose('yaml/ambiguous-text', { detail: 'Hm.' });

  it('names each severity once', () => {
    expect(countText([warning, error, error])).toBe('2 errors, 1 warning');
    expect(countText([])).toBe('no problems');
  });

  it('detects errors that stop the run', () => {
    expect(hasErrors([warning])).toBe(false);
    expect(hasErrors([warning, error])).toBe(true);
  });
});

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allProbes,
  factNames,
  factsJson,
  factsWithoutAnswer,
  parseFacts,
  registry,
} from '../../../../src/engine/observe/facts.ts';
import type { Answer } from '../../../../src/model/probe.ts';
import { answer, asked, asServiceRecord, loadFactCases } from './fact-cases.ts';

const schema = JSON.parse(readFileSync('schemas/facts.schema.json', 'utf8')) as {
  readonly $defs: { readonly node: { readonly properties: object } };
};
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

const document = (facts: ReturnType<typeof parseFacts>) => ({
  formatVersion: 1,
  cluster: 'rack',
  simulated: true,
  nodes: { 'studio-1': factsJson(facts) },
  diagnostics: [{ code: 'ssh/unreachable', severity: 'error', summary: 's', detail: 'd', hint: 'h' }],
});

/** A complete node: the answer of each probe comes from the first case that has a value. */
function wholeNode(): readonly Answer[] {
  const cases = loadFactCases()
    .filter(({ expected }) => expected.value !== undefined)
    // Several facts read a node's records; the cases with jobs come first.
    .sort((a, b) => Number(b.fact === 'jobs') - Number(a.fact === 'jobs'));
  const read = cases.flatMap((one) =>
    [...one.printed].map(([probe, printed]) =>
      answer(probe, one.label === undefined ? printed : asServiceRecord(one.label, printed)),
    ),
  );
  return read.filter(({ probe }, at) => read.findIndex((other) => other.probe === probe) === at);
}

describe('the fact registry', () => {
  it('has every fact under its own name, exactly as in the schema', () => {
    expect(factNames.map((name) => registry[name].name)).toEqual(factNames);
    expect(Object.keys(schema.$defs.node.properties).sort()).toEqual([...factNames].sort());
  });

  it('has each probe once, under its own name', () => {
    const names = allProbes().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(15);
  });

  it('runs only tools with an absolute path', () => {
    for (const { ask } of allProbes()) {
      expect(ask[0]).toMatchObject({ kind: 'node-path', path: expect.stringMatching(/^\/(usr\/)?s?bin\//) });
    }
  });
});

describe('facts --json', () => {
  it('is valid for an unreachable node, with every fact unknown', () => {
    const facts = factsWithoutAnswer('unreachable', 'The node did not answer.');
    expect(Object.keys(facts)).toEqual(factNames);
    expect(validate(document(facts))).toBe(true);
    expect(factsJson(facts).clock).toEqual({ unknown: 'unreachable', detail: 'The node did not answer.' });
  });

  it('is valid for published outputs, with most facts known', () => {
    const facts = parseFacts(wholeNode(), asked);
    expect(validate(document(facts)), JSON.stringify(validate.errors)).toBe(true);
    expect(factNames.filter((name) => facts[name].kind === 'known').length).toBeGreaterThan(15);
    expect(factsJson(facts).jobs).toMatchObject({ value: [{ fields: { name: 'fetch-model' } }, {}, {}, {}] });
  });

  it('is invalid for a fact with an extra field', () => {
    const facts = factsJson(factsWithoutAnswer('empty', 'd'));
    const nodes = { 'studio-1': { ...facts, power: { value: { sleepMinutes: 0, color: 'blue' } } } };
    expect(validate({ ...document(factsWithoutAnswer('empty', 'd')), nodes })).toBe(false);
  });
});

describe('parseFacts', () => {
  it('makes only the facts of unanswered probes unknown', () => {
    const facts = parseFacts([answer('rdma-ctl', { stdout: 'enabled\n' })], asked);
    expect(facts['rdma-state']).toEqual({ kind: 'known', value: 'enabled' });
    expect(facts.power).toMatchObject({ kind: 'unknown', reason: 'not-asked' });
  });

  it('returns facts that match the schema for any tool output', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.json(), fc.constantFrom('', '{}\n', '[]\n'));
    const answers = fc.record({ stdout: text, stderr: text, code: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(fc.array(answers, { minLength: 1, maxLength: 4 }), (printed) => {
        const all = allProbes().map(({ name }, at) => answer(name, printed[at % printed.length] ?? {}));
        expect(validate(document(parseFacts(all, asked)))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

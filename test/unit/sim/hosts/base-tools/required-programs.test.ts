import { describe, expect, it } from 'vitest';
import { requirePrograms } from '../../../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { problemsOf } from '../../../problems-of.ts';

/** The codes and details of the refusal on a machine without these programs. */
const refusals = (...missing: readonly string[]): readonly string[] =>
  problemsOf(() => requirePrograms((name) => (missing.includes(name) ? undefined : `/usr/bin/${name}`))).map(
    ({ code, detail }) => `${code}: ${detail}`,
  );

describe('the programs required for simulated Macs', () => {
  it('are named if this machine lacks them', () => {
    expect(refusals('ps', 'curl')).toEqual(['sim/missing-programs: Not found: curl, ps.']);
    expect(refusals('sh', 'perl')).toEqual(['sim/missing-programs: Not found: perl, sh.']);
  });

  it('exclude programs that simulated tools do not call, and a tool that older Macs lack', () => {
    expect(refusals('gcc', 'python3', 'none', 'sha256sum')).toEqual([]);
  });

  it('all exist on this machine', () => {
    expect(() => requirePrograms()).not.toThrow();
  });
});

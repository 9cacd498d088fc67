import { describe, expect, it } from 'vitest';
import { FleetError } from '../../../../../src/diagnostics/diagnostic.ts';
import { requirePrograms } from '../../../../../src/sim/hosts/base-tools/all-base-tools.ts';

/** The codes and details that a machine without these programs is refused with. */
function refusals(...missing: readonly string[]): readonly string[] {
  try {
    requirePrograms((name) => (missing.includes(name) ? undefined : `/usr/bin/${name}`));
    return [];
  } catch (error) {
    if (error instanceof FleetError) return error.diagnostics.map(({ code, detail }) => `${code}: ${detail}`);
    throw error;
  }
}

describe('the programs that simulated Macs are made of', () => {
  it('are named where this machine lacks them', () => {
    expect(refusals('ps', 'curl')).toEqual(['sim/missing-programs: Not found: curl, ps.']);
    expect(refusals('sh', 'perl')).toEqual(['sim/missing-programs: Not found: perl, sh.']);
  });

  it('are no more than what a tool of a Mac calls', () => {
    expect(refusals('gcc', 'python3', 'none')).toEqual([]);
  });

  it('are all on this machine', () => {
    expect(() => requirePrograms()).not.toThrow();
  });
});

import { describe, expect, it } from 'vitest';
import { FleetError } from '../../../../../src/diagnostics/diagnostic.ts';
import { requirePrograms } from '../../../../../src/sim/hosts/base-tools/all-base-tools.ts';

/** The codes and details of the refusal on a machine without these programs. */
function refusals(...missing: readonly string[]): readonly string[] {
  try {
    requirePrograms((name) => (missing.includes(name) ? undefined : `/usr/bin/${name}`));
    return [];
  } catch (error) {
    if (error instanceof FleetError) return error.diagnostics.map(({ code, detail }) => `${code}: ${detail}`);
    throw error;
  }
}

describe('the programs required for simulated Macs', () => {
  it('are named if this machine lacks them', () => {
    expect(refusals('ps', 'curl')).toEqual(['sim/missing-programs: Not found: curl, ps.']);
    expect(refusals('sh', 'perl')).toEqual(['sim/missing-programs: Not found: perl, sh.']);
  });

  it('exclude programs that simulated tools do not call', () => {
    expect(refusals('gcc', 'python3', 'none')).toEqual([]);
  });

  it('exclude a tool that older Macs lack', () => {
    expect(refusals('sha256sum')).toEqual([]);
  });

  it('all exist on this machine', () => {
    expect(() => requirePrograms()).not.toThrow();
  });
});

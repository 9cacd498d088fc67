import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { isHandsWork } from '../../../src/diagnostics/diagnostic.ts';
import { codes } from '../../../src/engine/diagnose/rules.ts';

describe('a manual step', () => {
  it('is required for work at the rack or a console', () => {
    const work = ['cabling/missing', 'cabling/slow', 'cabling/through-hub', 'rdma/disabled'] as const;
    expect(work.filter((code) => !isHandsWork(diagnose(codes[code], { detail: '' })))).toEqual([]);
    expect(isHandsWork(diagnose('ssh/locked-at-filevault', { detail: '' }))).toBe(true);
  });

  it('is not required for work in the file or over SSH', () => {
    const others = ['cabling/no-receptacle', 'cabling/unidentified-mac', 'bridge/active', 'power/settings'] as const;
    expect(others.filter((code) => isHandsWork(diagnose(codes[code], { detail: '' })))).toEqual([]);
  });
});

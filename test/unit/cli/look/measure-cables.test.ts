import { describe, expect, it } from 'vitest';
import { requireProgram } from '../../../../src/cli/look/measure-cables.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';

describe('requireProgram', () => {
  it('finds the program for Macs, and for simulated Macs the one for this computer', () => {
    const asked: string[] = [];
    const find = (...target: readonly string[]): string => {
      asked.push(target.join(' '));
      return import.meta.filename;
    };
    expect(requireProgram(false, find).toString()).toContain('requireProgram');
    requireProgram(true, find);
    expect(asked).toEqual(['darwin arm64', `${process.platform} ${process.arch}`]);
  });

  it('reports a missing program', () => {
    const codes = (): readonly string[] => {
      try {
        requireProgram(false, () => undefined);
      } catch (error) {
        if (error instanceof FleetError) return error.diagnostics.map(({ code }) => code);
      }
      return [];
    };
    expect(codes()).toEqual(['cables/no-program']);
  });
});

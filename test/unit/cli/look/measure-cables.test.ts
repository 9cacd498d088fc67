import { describe, expect, it } from 'vitest';
import { requireProgram } from '../../../../src/cli/look/measure-cables.ts';
import { problemsOf } from '../../problems-of.ts';

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
    const found = problemsOf(() => requireProgram(false, () => undefined));
    expect(found.map(({ code }) => code)).toEqual(['cables/no-program']);
  });
});

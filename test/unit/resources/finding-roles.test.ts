import { describe, expect, it } from 'vitest';
import { doctorCodes } from '../../../src/diagnostics/codes/rack/codes-doctor.ts';
import { codes } from '../../../src/engine/codes.ts';
import { findingRoles, roleOf } from '../../../src/engine/diagnose/finding-roles.ts';
import { definedCodes } from '../../../src/engine/diagnose/rules.ts';
import { resources } from '../../../src/engine/plan/resources.ts';

describe('roles of findings', () => {
  it('follow from their rule for codes that a rule defines, all of which are in the list of codes', () => {
    const defined = Object.values(definedCodes);
    expect(defined.length).toBeGreaterThan(1);
    expect(defined.filter(({ code }) => !Object.hasOwn(codes, code))).toEqual([]);
    expect(defined.map(({ code }) => roleOf(code))).toEqual(defined.map(({ role }) => role));
  });

  it('are given to every code of the doctor, and to no other', () => {
    expect(Object.keys(findingRoles).sort()).toEqual(Object.keys(doctorCodes).sort());
  });

  it('block only kinds of things that are kept', () => {
    const blocked = Object.values(findingRoles).flatMap((role) => (typeof role === 'string' ? [] : [role.blocks]));
    const kinds = resources.map(({ kind }) => kind);
    expect(blocked.filter((kind) => !kinds.includes(kind))).toEqual([]);
  });

  it('let errors of the doctor be told only where apply or a condition answers for them', () => {
    const errors = Object.entries(doctorCodes).filter(([, { severity }]) => severity === 'error');
    const told = errors.flatMap(([code]) => (findingRoles[code as keyof typeof doctorCodes] === 'told' ? [code] : []));
    expect(told).toEqual([]);
  });

  it('take failures to observe a node as told, but for a locked FileVault', () => {
    const failures = Object.keys(codes).filter((code) => code.startsWith('ssh/')) as (keyof typeof codes)[];
    expect(failures.filter((code) => roleOf(code) !== 'told')).toEqual(['ssh/locked-at-filevault']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/diagnostics/code-entry.ts';
import { codes, definedCodes, roleOf } from '../../../src/engine/diagnose/rules.ts';
import { isFactName } from '../../../src/engine/observe/facts.ts';
import { resources } from '../../../src/engine/plan/resources.ts';
import type { RuleCode } from '../../../src/rack/define-rule.ts';

const defined = Object.values<RuleCode & Code>(definedCodes);

describe('roles of findings', () => {
  it('follow from their rule, and all their codes are in the list of codes', () => {
    expect(defined.length).toBeGreaterThan(1);
    expect(defined.filter(({ code }) => !Object.hasOwn(codes, code))).toEqual([]);
    expect(defined.map(({ code }) => roleOf(code))).toEqual(defined.map(({ role }) => role));
  });

  it('rest on facts that observations have', () => {
    const names = defined.flatMap(({ facts }) => facts.map(({ name }) => name));
    expect(names.filter((name) => !isFactName(name))).toEqual([]);
  });

  it('block only kinds of things that are kept', () => {
    const blocked = defined.flatMap(({ role }) => (typeof role === 'string' ? [] : [role.blocks]));
    const kinds = resources.map(({ kind }) => kind);
    expect(blocked.filter((kind) => !kinds.includes(kind))).toEqual([]);
  });

  it('let errors of the doctor be told only where apply or a condition answers for them', () => {
    expect(defined.filter(({ severity, role }) => severity === 'error' && role === 'told')).toEqual([]);
  });

  it('take failures to observe a node as told, but for a locked FileVault', () => {
    const failures = Object.keys(codes).filter((code) => code.startsWith('ssh/')) as (keyof typeof codes)[];
    expect(failures.filter((code) => roleOf(code) !== 'told')).toEqual(['ssh/locked-at-filevault']);
  });
});

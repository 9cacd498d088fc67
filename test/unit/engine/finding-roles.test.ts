import { describe, expect, it } from 'vitest';
import type { Code } from '../../../src/diagnostics/code-entry.ts';
import { codes, definedCodes, roleOf } from '../../../src/engine/diagnose/rules.ts';
import { isFactName } from '../../../src/engine/observe/facts.ts';
import { resources } from '../../../src/engine/resources.ts';
import type { RuleCode } from '../../../src/rack/define-rule.ts';

const defined = Object.values<RuleCode & Code>(definedCodes);

describe('finding roles', () => {
  it('match golden/finding-roles.txt, as do the facts that the findings need', async () => {
    const lines = defined.map(({ code, role, facts }) =>
      [code, JSON.stringify(role), ...facts.map(({ name }) => name)].join(' '),
    );
    await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot('golden/finding-roles.txt');
  });

  it('come from their rules, whose codes are all listed', () => {
    expect(defined.filter(({ code }) => !Object.hasOwn(codes, code))).toEqual([]);
    expect(defined.map(({ code }) => roleOf(code))).toEqual(defined.map(({ role }) => role));
  });

  it('depend only on facts that an observation contains', () => {
    const names = defined.flatMap(({ facts }) => facts.map(({ name }) => name));
    expect(names.filter((name) => !isFactName(name))).toEqual([]);
  });

  it('block only kinds of resources that exist', () => {
    const blocked = defined.flatMap(({ role }) => (typeof role === 'string' ? [] : [role.blocks]));
    const kinds = resources.map(({ kind }) => kind);
    expect(blocked.filter((kind) => !kinds.includes(kind))).toEqual([]);
  });

  it('allow no error with the role "reported"', () => {
    expect(defined.filter(({ severity, role }) => severity === 'error' && role === 'reported')).toEqual([]);
  });

  it('are "reported" for every failure to observe a node, except for a Mac locked at FileVault', () => {
    const failures = Object.keys(codes).filter((code) => code.startsWith('ssh/')) as (keyof typeof codes)[];
    expect(failures.filter((code) => roleOf(code) !== 'reported')).toEqual(['ssh/locked-at-filevault']);
  });
});

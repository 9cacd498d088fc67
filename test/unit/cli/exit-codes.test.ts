import { describe, expect, it } from 'vitest';
import { codeForEnrolled } from '../../../src/cli/enroll/enroll.ts';
import { codeFor, codeForNodes, exitCode, firstOf } from '../../../src/cli/exit-codes.ts';
import { codes, type DiagnosticCode } from '../../../src/engine/diagnose/rules.ts';

describe('the exit code', () => {
  it('is the first that applies of 130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0', () => {
    const order = [130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0] as const;
    expect([...order].sort()).toEqual(Object.values(exitCode).sort());
    for (const [at, code] of order.entries()) {
      expect(firstOf(order.slice(at).toReversed())).toBe(code);
    }
    expect(firstOf([])).toBe(0);
  });

  it.each([
    [['fine', 'fine'], 0],
    [[], 0],
    [['fine', 'hands'], 3],
    [['hands', 'hands'], 3],
    [['fine', 'wrong'], 4],
    [['hands', 'unjudged'], 1],
    [['hands', 'wrong', 'hands', 'hands'], 1],
    [['fine', 'hands', 'wrong'], 4],
    [['wrong', 'unjudged'], 1],
    [['unjudged'], 1],
  ] as const)('follows from nodes that are %j: %s', (verdicts, code) => {
    expect(codeForNodes(verdicts)).toBe(code);
  });

  it.each([
    [[0, 0], 0],
    [[0, 3], 3],
    [[5, 5], 5],
    [[1, 1], 1],
    [[1, 5], 5],
    [[0, 5], 4],
    [[3, 1], 4],
  ] as const)('follows from enrolled nodes with the codes %j: %s', (each, code) => {
    expect(codeForEnrolled(each)).toBe(code);
  });

  it.each([
    ['cli/usage', 64],
    ['cli/no-cluster-file', 64],
    ['select/unknown-node', 64],
    ['select/nothing', 64],
    ['sim/unknown-fault', 64],
    ['enroll/no-such-node', 64],
    ['yaml/syntax', 65],
    ['schema/unknown-key', 65],
    ['topology/unknown-node', 65],
    ['lock/bad-host-key', 65],
    ['cli/cannot-read', 65],
    ['cli/file-open-to-others', 65],
    ['lock/unresolved', 65],
    ['plan/unreadable', 65],
    ['playbook/unknown-node', 65],
    ['select/unknown-placement', 64],
    ['internal/bug', 70],
    ['lease/held', 75],
    ['plan/stale', 5],
    ['plan/not-allowed', 5],
    ['cli/needs-yes', 5],
    ['cli/cannot-write', 1],
    ['sim/not-running', 1],
    ['ssh/unreachable', 1],
  ] as const)('follows from %s: %s', (code, exit) => {
    expect(codeFor({ code })).toBe(exit);
  });

  it('is 65 for every problem in the file', () => {
    const names = Object.keys(codes) as readonly DiagnosticCode[];
    const ofFile = names.filter((name) => /^(yaml|schema|topology|version|lock|placement)\//.test(name));
    expect(ofFile.filter((code) => codeFor({ code }) !== 65)).toEqual([]);
    expect(ofFile.length).toBeGreaterThan(20);
  });
});

import { describe, expect, it } from 'vitest';
import { codeForEnrolled } from '../../../src/cli/enroll/enroll.ts';
import { codeFor, codeForNodes, exitCode, firstOf, verdictOf } from '../../../src/cli/exit-codes.ts';
import { fileCodes } from '../../../src/diagnostics/codes/codes-file.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { codes, type DiagnosticCode } from '../../../src/engine/diagnose/rules.ts';

describe('the exit code', () => {
  it('is the first of these that applies: 130, 143, 64, 65, 70, 75, 5, 1, 4, 3, 2, 0', () => {
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
    [[], 'fine'],
    [['ssh/locked-at-filevault', 'ssh/locked-at-filevault'], 'hands'],
    [['ssh/locked-at-filevault', 'ssh/refused'], 'unjudged'],
  ] as const)('follows from a node with the failures %j: %s', (found, verdict) => {
    expect(verdictOf(found.map((code) => diagnose(code, { detail: 'x' })))).toBe(verdict);
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

  it('is 1 for every problem except those in the file and these', () => {
    const names = Object.keys(codes) as readonly DiagnosticCode[];
    const ofFile = names.filter(
      (code) => !code.startsWith('select/') && (code.startsWith('placement/') || Object.hasOwn(fileCodes, code)),
    );
    expect(ofFile.filter((code) => codeFor(codes[code]) !== 65)).toEqual([]);
    const others = names.filter((code) => !ofFile.includes(code));
    const withExit = (exit: number) => others.filter((code) => codeFor(codes[code]) === exit).sort();
    expect(Object.fromEntries([5, 64, 65, 70, 75].map((exit) => [exit, withExit(exit)]))).toEqual({
      5: [
        ...['in-use', 'kernel-unseen', 'no-program', 'no-reserve', 'probe-differs', 'unfit'].map(
          (one) => `cables/${one}`,
        ),
        'cli/needs-yes',
        ...['account', 'held', 'hold-unseen', 'reboot-first', 'reboot-unseen'].map((one) => `launch/${one}`),
        ...['plan/not-allowed', 'plan/not-reviewed', 'plan/stale', 'trust/declined', 'trust/needed'],
        ...['newer', 'no-password', 'not-offered', 'unknown'].map((one) => `upgrade/${one}`),
      ],
      64: [
        ...['cli/no-cluster-file', 'cli/usage', 'endpoint/nothing-to-close', 'enroll/no-such-node'],
        ...others.filter((code) => code.startsWith('select/')).sort(),
        ...['sim/bad-fault-target', 'sim/unknown-fault'],
      ],
      65: [
        ...['cli/cannot-read', 'cli/file-open-to-others', 'lock/unresolved', 'plan/unreadable'],
        ...[
          'divides-unit',
          'leaves-stopped',
          'no-node-chosen',
          'not-published',
          'unknown-field',
          'unknown-node',
          'unknown-placement',
          'unknown-runtime',
          'unknown-zone',
        ].map((one) => `playbook/${one}`),
      ],
      70: ['internal/bug'],
      75: ['lease/held'],
    });
    expect(new Set(others.map((code) => codeFor(codes[code])))).toEqual(new Set([1, 5, 64, 65, 70, 75]));
  });
});

import { describe, expect, it } from 'vitest';
import type { Released } from '../../../../src/apply/lease/lease-keeper.ts';
import { freedBy, leaseOwnerText } from '../../../../src/cli/look/leases.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { asText } from '../../as-text.ts';

const holder = { run: 'run-a', owner: 'ana@desk', verb: 'apply', phase: 'studio-1/power/set', since: '2026-11-20' };
const node = nodeName('studio-1');

describe('releasing a lease', () => {
  it.each([
    ['released', true, true, []],
    ['free', true, false, []],
    ['not-this-run', false, false, ['lease/other-run']],
    ['unheard', false, false, ['lease/not-released']],
    ['interrupted', false, false, []],
  ] as const)('reports whether the node is free: %s', (kind, isFree, isReleased, codes) => {
    const freed = freedBy(node, holder, { kind });
    expect(freed).toMatchObject({ node, isFree, isReleased });
    expect(freed.diagnostics.map(({ code }) => code)).toEqual(codes);
  });

  it('names a run that is alive, and how to release its lease anyway', () => {
    const released: Released = { kind: 'alive', holder };
    const [problem] = freedBy(node, holder, released).diagnostics;
    expect(problem && asText(problem)).toMatchObject({
      code: 'lease/alive',
      hint: expect.stringContaining('meshwright lease release studio-1 --run run-a'),
    });
  });

  it('describes the run, even if it died while taking the lease', () => {
    expect(leaseOwnerText(holder)).toBe('apply by ana@desk since 2026-11-20, at studio-1/power/set (run run-a)');
    const elsewhere = leaseOwnerText({ ...holder, since: '2026-11-20T08:00:00.123Z' }, 'studio-2');
    expect(elsewhere).toBe('apply by ana@desk since 2026-11-20T08:00:00Z, while studio-1/power/set runs (run run-a)');
    expect(leaseOwnerText(holder, 'studio-1')).toContain(', at studio-1/power/set');
    expect(leaseOwnerText({})).toBe('a run that died while taking the lease');
  });
});

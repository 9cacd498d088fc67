import { describe, expect, it } from 'vitest';
import { freedBy as freed, leaseOwnerText } from '../../../../src/cli/look/leases.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const holder = { run: 'run-a', owner: 'ana@desk', verb: 'apply', phase: 'studio-1/power/set', since: '2026-11-20' };
const node = nodeName('studio-1');
const freedBy = onPage(freed);

describe('releasing a lease', () => {
  it.each([
    ['released', true, true, []],
    ['free', true, false, []],
    ['not-this-run', false, false, ['lease/other-run']],
    ['unheard', false, false, ['lease/not-released']],
    ['interrupted', false, false, []],
  ] as const)('reports whether the node is free: %s', (kind, isFree, isReleased, codes) => {
    const { diagnostics, ...rest } = freedBy(node, holder, { kind });
    expect([rest, diagnostics.map(({ code }) => code)]).toEqual([{ node, isFree, isReleased }, codes]);
  });

  it('names a run that is alive, and how to release its lease anyway', () => {
    expect(freedBy(node, holder, { kind: 'alive', holder }).diagnostics[0]?.code).toBe('lease/alive');
  });

  it('describes the run, even if it died while taking the lease', () => {
    expect(leaseOwnerText(holder)).toBe('apply by ana@desk since 2026-11-20, at studio-1/power/set (run run-a)');
    const elsewhere = leaseOwnerText({ ...holder, since: '2026-11-20T08:00:00.123Z' }, 'studio-2');
    expect(elsewhere).toBe('apply by ana@desk since 2026-11-20T08:00:00Z, while studio-1/power/set runs (run run-a)');
    expect(leaseOwnerText(holder, 'studio-1')).toContain(', at studio-1/power/set');
    expect(leaseOwnerText({})).toBe('a run that died while taking the lease');
  });
});

onOnePage('lease-release');

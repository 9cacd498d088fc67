import { describe, expect, it } from 'vitest';
import { observeFleet } from '../../../../src/apply/reach/observe.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';

const options = { parallel: 4, deadlineMs: 1_000, newBoundary: () => '0'.repeat(32) };

describe('a fleet observation', () => {
  it('has no entry for nodes that were not asked', async () => {
    const problem = diagnose('ssh/no-key', { detail: 'There is no key.' });
    const way = { node: nodeName('b'), way: { kind: 'no-way', diagnostics: [problem] } } as const;
    const observed = await observeFleet([way], options);
    expect(Object.keys(observed.nodes)).toEqual(['b']);
    expect(observed.failures['b']).toEqual([problem]);
    expect(observed.nodes['constructor']).toBeUndefined();
    expect(observed.failures['constructor']).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { createProcessGroups } from '../../../../src/sim/hosts/processes.ts';

/** More than any process number of a machine of these days. */
const nobody = 2 ** 30;

describe('the process groups of a fleet', () => {
  it('count a command from when it is about to be started, so that no fleet looks idle in front of it', () => {
    const none = { pid: 0, guard: () => undefined, release: () => undefined, close: () => Promise.resolve() };
    const groups = createProcessGroups(none);
    const [first, second] = [groups.expect('studio-1'), groups.expect('studio-1')];
    expect(groups.count()).toBe(2);
    first.started(nobody);
    expect(groups.count()).toBe(2);
    second.failed();
    expect(groups.count()).toBe(1);
    groups.leaderEnded(nobody);
    expect(groups.count()).toBe(0);
    groups.killAll();
  });
});

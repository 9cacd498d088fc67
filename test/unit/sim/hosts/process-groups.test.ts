import { describe, expect, it } from 'vitest';
import { createProcessGroups } from '../../../../src/sim/hosts/processes.ts';

/** Higher than any PID of a current machine. */
const unusedPid = 2 ** 30;

describe("a fleet's process groups", () => {
  it('count a command from before its start, so that the fleet never appears idle', () => {
    const none = { pid: 0, guard: () => undefined, release: () => undefined, close: () => Promise.resolve() };
    const groups = createProcessGroups(none);
    const [first, second] = [groups.expect('studio-1'), groups.expect('studio-1')];
    expect(groups.count()).toBe(2);
    first.started(unusedPid);
    expect(groups.count()).toBe(2);
    second.failed();
    expect(groups.count()).toBe(1);
    groups.leaderEnded(unusedPid);
    expect(groups.count()).toBe(0);
    groups.killAll();
  });
});

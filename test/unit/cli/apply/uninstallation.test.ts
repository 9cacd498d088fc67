import { describe, expect, it } from 'vitest';
import { goneBefore, type Uninstallation } from '../../../../src/cli/apply/uninstall.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { FleetObservation } from '../../../../src/rack/examination.ts';

const node = nodeName('studio-1');
const refused: FleetObservation = {
  nodes: {},
  failures: { [node]: [diagnose('ssh/authentication-failed', { detail: '' })] },
};
const about = (lock: Partial<ClusterLock>): Uninstallation =>
  ({ cluster: { lock: { ...emptyLock('x'), ...lock } }, goal: { nodes: [node] } }) as unknown as Uninstallation;

describe('a node that refuses the login', () => {
  it('has nothing of us any more only where the way in was being taken away', () => {
    expect(goneBefore(about({}), refused)).toEqual([]);
    expect(goneBefore(about({ nodes: [node] }), refused)).toEqual([]);
    expect(goneBefore(about({ nodes: [node], withdrawing: [node] }), refused)).toEqual([node]);
  });

  it('is gone only where it was refused, and not where nobody answered', () => {
    const silent: FleetObservation = { nodes: {}, failures: { [node]: [diagnose('ssh/timed-out', { detail: '' })] } };
    expect(goneBefore(about({ withdrawing: [node] }), silent)).toEqual([]);
  });
});

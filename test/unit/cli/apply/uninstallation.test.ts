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

describe('a node without a login', () => {
  it('counts as uninstalled only if its access was being removed', () => {
    expect(goneBefore(about({}), refused)).toEqual([]);
    expect(goneBefore(about({ nodes: [node] }), refused)).toEqual([]);
    expect(goneBefore(about({ nodes: [node], withdrawing: [node] }), refused)).toEqual([node]);
  });

  it('does not count as uninstalled if it did not answer', () => {
    const silent: FleetObservation = { nodes: {}, failures: { [node]: [diagnose('ssh/timed-out', { detail: '' })] } };
    expect(goneBefore(about({ withdrawing: [node] }), silent)).toEqual([]);
  });
});

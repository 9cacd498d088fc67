import { describe, expect, it } from 'vitest';
import { isWaiting } from '../../../../src/cli/apply/apply.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { nodeSubject } from '../../../../src/model/subject.ts';
import { makePlan } from '../../../rack/plans.ts';
import { desiredFleet, observedFleet, type RackChanges, unknownNode } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

const node = nodeName('studio-2');

/** True if apply --wait-for-hands waits after a run with this last observation. */
function waitsAfter(rack: RackChanges, visited: readonly string[], away: Parameters<typeof unknownNode>[1] = 'empty') {
  const observation = observedFleet(rack);
  const { failures } = observation;
  const nodes = { ...observation.nodes, ...(failures[node] && { [node]: unknownNode(node, away) }) };
  const desired = desiredFleet();
  const targets = desired.nodes.map(({ name }) => name);
  const seen = { nodes, failures };
  const plan = makePlan({ goal: { kind: 'converge' }, desired, observation: seen, targets });
  const report = { works: [], nodes: targets, isStopped: false, isDeclined: false, isInterrupted: false, refusal: [] };
  const aboutNode = plan.waiting.filter((one) => one.node === node && one.resource !== 'thunderbolt-link');
  return {
    isWaiting: isWaiting({ last: { plan, observation: seen }, report }, new Set(visited.map(nodeName))),
    aboutNode,
  };
}

describe('apply --wait-for-hands', () => {
  it('waits while a manual step remains, but not on a healthy rack', () => {
    const off = { 'studio-2': { 'rdma-state': 'disabled' as const, 'rdma-devices': [], 'rdma-ports': [] } };
    expect(waitsAfter({ values: off }, []).isWaiting).toBe(true);
    expect(waitsAfter({}, [node]).isWaiting).toBe(false);
  });

  it.each(['ssh/dropped', 'ssh/unreachable'] as const)(
    'waits for a Mac with a manual step after %s, and lists only its cables',
    (code) => {
      const failures = { [node]: [diagnose(code, { detail: 'It went down.', subject: nodeSubject(node) })] };
      const away = code === 'ssh/dropped' ? 'truncated' : 'unreachable';
      expect(waitsAfter({ failures }, [node], away)).toEqual({ isWaiting: true, aboutNode: [] });
      expect(waitsAfter({ failures }, [], away).isWaiting).toBe(false);
    },
  );
});

onOnePage('apply-round');

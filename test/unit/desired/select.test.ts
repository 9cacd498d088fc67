import { describe, expect, it } from 'vitest';
import { resolveFleet } from '../../../src/desired/resolve.ts';
import { type NodeSelector, selectNodes } from '../../../src/desired/select.ts';
import { keysByDriver } from '../../../src/drivers/registry.ts';
import type { ClusterSpec } from '../../../src/model/cluster-spec.generated.ts';

const spec: ClusterSpec = {
  schema: 1,
  name: 'rack',
  nodes: {
    'studio-1': { host: 'a.lan', labels: { role: 'leader', shelf: 'upper' } },
    'studio-2': { host: 'b.lan', labels: { role: 'worker', shelf: 'upper' } },
    'studio-3': { host: 'c.lan', labels: { role: 'worker', shelf: 'lower' } },
    mini: { host: 'd.lan' },
  },
};
const fleet = resolveFleet(spec, keysByDriver);

const select = (selector: Partial<NodeSelector>) => selectNodes(fleet, { names: [], labels: [], ...selector });
const chosen = (selector: Partial<NodeSelector>) => select(selector).nodes.map((node) => node.name);

describe('node selection', () => {
  it('contains every node if no selector is given', () => {
    expect(chosen({})).toEqual(['mini', 'studio-1', 'studio-2', 'studio-3']);
  });

  it('follows names, labels, or both together', () => {
    expect(chosen({ names: ['studio-3', 'mini', 'mini'] })).toEqual(['mini', 'studio-3']);
    expect(chosen({ labels: ['role=worker'] })).toEqual(['studio-2', 'studio-3']);
    expect(chosen({ labels: ['role=worker,shelf=upper'] })).toEqual(['studio-2']);
    expect(chosen({ labels: ['role=worker', 'shelf=upper'] })).toEqual(['studio-2']);
    expect(chosen({ labels: ['role!=worker'] })).toEqual(['mini', 'studio-1']);
    expect(chosen({ names: ['studio-1', 'studio-2'], labels: ['role=worker'] })).toEqual(['studio-2']);
  });

  it('refuses every unknown name and suggests a similar one', () => {
    const { nodes, diagnostics } = select({ names: ['mimi', 'studio-1', 'rack-7', 'mimi'] });
    expect(nodes).toEqual([]);
    expect(diagnostics.map((one) => [one.code, one.hint])).toEqual([
      ['select/unknown-node', 'Did you mean `mini`?'],
      ['select/unknown-node', 'The nodes are mini, studio-1, studio-2 and studio-3.'],
    ]);
  });

  it('reports that no node matches', () => {
    const { nodes, diagnostics } = select({ labels: ['role=wroker'] });
    expect(nodes).toEqual([]);
    expect(diagnostics.map((one) => [one.code, one.detail, one.hint])).toEqual([
      [
        'select/nothing',
        'No node matches role=wroker.',
        'Did you mean role=worker? The labels are role=leader, role=worker, shelf=lower and shelf=upper.',
      ],
    ]);
    expect(select({ names: ['mini', 'studio-1'], labels: ['constructor=a', 'role=a'] }).diagnostics[0]?.detail).toBe(
      'No node among mini and studio-1 matches constructor=a,role=a.',
    );
    const ofMini = { names: ['mini'], labels: ['role=worker'] };
    expect(select(ofMini).diagnostics[0]?.hint).toMatch(/^The labels are role=leader, /);
    expect(selectNodes({ nodes: fleet.nodes.slice(0, 1) }, ofMini).diagnostics[0]?.hint).toBe(
      'No node in the file has a label.',
    );
  });

  it.each(['role', 'role=', '=worker', 'role==worker', 'role=a b', '', 'role=worker,'])(
    'refuses the selector %j',
    (text) => {
      expect(select({ labels: [text] }).diagnostics.map((one) => one.code)).toEqual(['select/bad-label']);
    },
  );
});

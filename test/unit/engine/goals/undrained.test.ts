import { describe, expect, it } from 'vitest';
import { withUndrained } from '../../../../src/engine/goals/drain.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';

const nodes = (...numbers: readonly number[]) => numbers.map((number) => nodeName(`studio-${number}`));
const desired = meshFleet({ placement: { fallback: { nodes: nodes(4, 1), contextTokens: 2_048 } } });
const observedOf = (...numbers: readonly number[]) =>
  Object.fromEntries(nodes(...numbers).map((name) => [name, { bootSession: null, hash: digestOf('seen') }]));
const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined']) });
const fleet = { desired, observation, observed: observedOf(1, 4) };
const drain = { kind: 'drain', placements: ['kimi'], waitMs: 1 } as const;

describe('withUndrained', () => {
  it('adds every node of both layouts if either leader was not drained', () => {
    expect([...withUndrained(nodes(1), drain, fleet)].sort()).toEqual(nodes(1, 2, 3, 4));
    expect([...withUndrained(nodes(4), drain, fleet)].sort()).toEqual(nodes(1, 2, 3, 4));
  });

  it('adds nothing for other nodes, placements or goals', () => {
    expect(withUndrained(nodes(2), drain, fleet)).toEqual(nodes(2));
    expect(withUndrained(nodes(4), { ...drain, placements: ['qwen'] }, fleet)).toEqual(nodes(4));
    expect(withUndrained(nodes(4), { kind: 'stop', placements: ['kimi'] }, fleet)).toEqual(nodes(4));
  });

  it('adds every node of both layouts if a leader was not observed', () => {
    for (const leader of [1, 4]) {
      expect([...withUndrained([], drain, { ...fleet, observed: observedOf(leader) })].sort()).toEqual(
        nodes(1, 2, 3, 4),
      );
    }
    expect(withUndrained([], drain, fleet)).toEqual([]);
  });

  it('adds every node if a gateway from an earlier file is undrained or may be on an unreachable node', () => {
    const service = (behind?: readonly string[]): FactValues['services'] => [
      { label: 'dev.meshwright.gateway.8080', state: 'running', pid: 7, ...(behind === undefined ? {} : { behind }) },
    ];
    const of = (behind: readonly string[] | undefined, ranks: MeshRack['ranks'] = {}) => ({
      ...fleet,
      observation: observeMesh(desired, { ranks, values: { 'studio-2': { services: service(behind) } } }),
      observed: observedOf(1, 2, 4),
    });
    const all = nodes(1, 2, 3, 4);
    expect([...withUndrained(nodes(2), drain, of(['kimi']))].sort()).toEqual(all);
    expect(withUndrained(nodes(2), drain, of(['qwen']))).toEqual(nodes(2));
    expect(withUndrained([], drain, of(['kimi']))).toEqual([]);
    const away = observeMesh(desired, { ranks: {}, unreachable: ['studio-3'] });
    expect([...withUndrained([], drain, { ...fleet, observation: away })].sort()).toEqual(all);
  });
});

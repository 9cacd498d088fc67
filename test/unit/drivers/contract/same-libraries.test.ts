import { describe, expect, it } from 'vitest';
import { sameLibraries } from '../../../../src/drivers/contract/checks.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { type Digest, digestOf, shortDigest } from '../../../../src/model/digest.ts';
import type { ObservedTree } from '../../../../src/model/facts/fact-values.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { checkedMac } from '../../../../src/rack/placement/state/seen-names.ts';
import { meshFleet, observeMesh } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

const names = ['studio-1', 'studio-2', 'studio-3'].map(nodeName);
const wanted = digestOf('archive');
const [one, other] = [digestOf('one'), digestOf('other')];

const tree = (libraries: ObservedTree['libraries'], changes: Partial<ObservedTree> = {}): ObservedTree => ({
  kind: 'runtime',
  name: 'reference',
  digest: shortDigest(wanted),
  isCurrent: true,
  state: 'intact',
  ...(libraries === undefined ? {} : { libraries }),
  ...changes,
});

const made = (libmlx: Digest, changes: ObservedTree['libraries'] = {}): ObservedTree =>
  tree({ python: 'cpython-3.12.12', packages: digestOf(libmlx), 'library.mlx.lib.libmlx.dylib': libmlx, ...changes });

/** Three nodes with these trees, in a fleet in which each node installs its runtime itself. */
function observed(trees: readonly (readonly ObservedTree[])[]) {
  const base = meshFleet({ placement: { transport: 'tcp', env: {}, backend: 'ring' } });
  const runtimes: DesiredFleet['runtimes'] = [
    {
      driver: 'mlx',
      name: 'reference',
      archive: '/dist/uv.tar.gz',
      extras: [],
      python: '3.12',
      sha256: wanted,
      digest: wanted,
    },
  ];
  const fleet: DesiredFleet = { ...base, runtimes };
  const values = Object.fromEntries(
    names.map((name, at): [string, Partial<FactValues>] => [name, { trees: trees[at] ?? [] }]),
  );
  return { fleet, observation: observeMesh(fleet, { ranks: {}, values }) };
}

function seen(...trees: readonly (readonly ObservedTree[])[]) {
  const { observation } = observed(trees);
  const members = names.map((node) => {
    const facts = observation.nodes[node]?.facts;
    return { node, mac: checkedMac(facts) };
  });
  return sameLibraries({ name: 'reference', digest: wanted }, members);
}

describe('the libraries of a runtime on several nodes', () => {
  it('are equal if every digest is equal', () => {
    expect(seen([made(one)], [made(one)], [made(one)])).toEqual({ without: [], unwritten: [], differences: [] });
  });

  it('are reported as different, with the nodes listed for each digest', () => {
    expect(seen([made(one)], [made(other)], [made(one)]).differences).toEqual([
      `mlx.lib.libmlx.dylib is ${shortDigest(one)} on studio-1 and studio-3, ${shortDigest(other)} on studio-2`,
    ]);
  });

  it('differ in packages, Python version or a missing library', () => {
    const [first, second] = [made(one, { packages: digestOf('a') }), made(one, { packages: digestOf('b') })];
    expect(seen([first], [second], [first]).differences).toEqual([
      `the installed packages are ${shortDigest(digestOf('a'))} on studio-1 and studio-3, ${shortDigest(digestOf('b'))} on studio-2`,
    ]);
    const python = made(one, { python: 'cpython-3.12.11' });
    expect(seen([made(one)], [made(one)], [python]).differences).toEqual([
      'Python is cpython-3.12.12 on studio-1 and studio-2, cpython-3.12.11 on studio-3',
    ]);
    const without = tree({ python: 'cpython-3.12.12', packages: digestOf(one) });
    expect(seen([made(one)], [without], [made(one)]).differences).toEqual([
      `mlx.lib.libmlx.dylib is ${shortDigest(one)} on studio-1 and studio-3, missing on studio-2`,
    ]);
  });

  it('are unknown for an incomplete tree or for a seal that does not list them', () => {
    const changed = tree(undefined, { state: 'changed' });
    const older = { ...made(other), digest: 'f'.repeat(16) };
    expect(seen([made(one)], [tree(undefined)], [changed, older])).toEqual({
      without: ['studio-3'],
      unwritten: ['studio-2'],
      differences: [],
    });
  });
});

/** The codes of blockers about libraries, and the gates that compare them. */
function planOf(...trees: readonly (readonly ObservedTree[])[]) {
  const { fleet, observation } = observed(trees);
  const targets = fleet.nodes.map(({ name }) => name);
  const { blockers, steps } = makePlan({ goal: { kind: 'converge' }, desired: fleet, observation, targets });
  return {
    codes: blockers.map(({ code }) => code).filter((code) => code.startsWith('mlx/libraries')),
    gates: steps.flatMap(({ id, act }) =>
      id.endsWith('/libraries') && act.kind === 'gate'
        ? act.expect.map(({ node, address, value }) => ({ node, address, value }))
        : [],
    ),
    isStarted: steps.some(({ id }) => id === 'studio-1/placement/kimi/kick'),
  };
}

describe('a plan for a runtime that each node installs itself', () => {
  const equal = [made(one)];

  it('starts the ranks if all nodes have the same libraries', () => {
    expect(planOf(equal, equal, equal)).toEqual({ codes: [], gates: [], isStarted: true });
  });

  it.each([
    ['differ', 'mlx/libraries-differ', [made(other)]],
    ['are unknown', 'mlx/libraries-unknown', [tree(undefined)]],
  ] as const)('does not start a rank if libraries %s', (_, code, third) => {
    expect(planOf(equal, equal, third)).toEqual({ codes: [code], gates: [], isStarted: false });
  });

  it('compares libraries before the start if a node has not installed them yet', () => {
    expect(planOf(equal, equal, [])).toEqual({
      codes: [],
      gates: [{ node: 'studio-1', address: 'libraries/kimi', value: 'equal' }],
      isStarted: true,
    });
  });
});

onOnePage('same-libraries');

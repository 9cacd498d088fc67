import { describe, expect, it } from 'vitest';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { shortDigest } from '../../../../src/model/digest.ts';
import type { ObservedTree } from '../../../../src/model/facts/fact-values.ts';
import type { UnknownReason } from '../../../../src/model/known.ts';
import { meshFleet, observeMesh } from '../../../rack/placements.ts';
import { changed, makePlan, nodes } from '../../../rack/plans.ts';
import { asText } from '../../as-text.ts';
import { onOnePage } from '../../one-page.ts';

const fleet = meshFleet();
const [tiny] = fleet.models;
if (tiny?.digest === undefined) throw new Error('the fleet has no model');
const version = shortDigest(tiny.digest);

const tree = (own: Partial<ObservedTree>): ObservedTree => ({
  ...{ kind: 'model', name: 'old', digest: 'f'.repeat(16), isCurrent: false, state: 'intact', bytes: 5_000_000_000 },
  ...own,
});

const old = tree({});
const replaced = tree({ name: 'tiny', digest: 'a'.repeat(16), bytes: 1_000_000_000 });
const declared = tree({ name: 'tiny', digest: version });

interface Case {
  readonly of?: DesiredFleet;
  readonly names?: readonly string[];
  readonly facts?: Partial<FactValues>;
  readonly unknown?: Readonly<Record<string, UnknownReason>>;
  /** The model in the record of a running rank; null if the record names none. */
  readonly runs?: string | null;
  /** The drafter in this record. */
  readonly drafts?: string;
}

/** The plan for studio-1, which has these trees. */
function plan({ of = fleet, names, facts = {}, unknown = {}, runs, drafts }: Case) {
  const trees = [declared, old, replaced, tree({ kind: 'runtime' }), tree({ name: 'new', state: 'staged' })];
  const record =
    runs === undefined
      ? {}
      : runs === null
        ? { declared: '' }
        : { declared: JSON.stringify({ model: runs, drafter: drafts }) };
  const seen = observeMesh(of, {
    ranks: runs === undefined ? {} : { 'studio-1': [{ state: 'joined', rank: 0 }] },
    values: { 'studio-1': { trees, ...facts } },
    unknown: { 'studio-1': unknown },
  });
  const one = seen.nodes['studio-1'];
  const placements = one?.facts['placements'];
  if (one === undefined || placements?.kind !== 'known') throw new Error('studio-1 was not observed');
  const ranks = (placements.value as readonly object[]).map((rank) => ({ ...rank, ...record }));
  const own = { ...one, facts: { ...one.facts, placements: { ...placements, value: ranks } } } as typeof one;
  const observation = { ...seen, nodes: { ...seen.nodes, 'studio-1': own } };
  const goal = { kind: 'prune', ...(names === undefined ? {} : { names }) } as const;
  return makePlan({ goal, desired: of, observation, targets: nodes(1) });
}

const ofOld = `studio-1 model/old/${old.digest}`;
const ofReplaced = `studio-1 model/tiny/${replaced.digest}`;

describe('models prune', () => {
  it('deletes published versions that are not in the file, and shows their size in bytes', () => {
    const made = plan({});
    expect(changed(made)).toEqual([ofOld, ofReplaced]);
    expect(made.effects).toMatchObject([{ kind: 'delete', nodes: ['studio-1'], bytes: 6_000_000_000 }]);
    expect(made.steps.map(({ act }) => ('args' in act ? act.args : {}))).toEqual([
      { name: 'old', digests: [old.digest] },
      { name: 'tiny', digests: [replaced.digest] },
    ]);
  });

  it('deletes only versions of the named models', () => {
    expect(changed(plan({ names: ['tiny'] }))).toEqual([ofReplaced]);
    expect(changed(plan({ names: ['unheard-of'] }))).toEqual([]);
  });

  it('keeps every version of a model whose file list is not resolved', () => {
    const { digest: _, ...unresolved } = tiny;
    expect(changed(plan({ of: { ...fleet, models: [unresolved] } }))).toEqual([ofOld]);
  });

  it('keeps the version with which a running rank was started', () => {
    const made = plan({ runs: `old ${old.digest}` });
    expect(changed(made)).toEqual([ofReplaced]);
    expect(made.blockers.map((one) => asText(one))).toMatchObject([
      { code: 'model/in-use', node: 'studio-1', blocks: [ofOld] },
    ]);
  });

  it("keeps a running rank's drafter", () => {
    expect(changed(plan({ runs: `tiny ${version}`, drafts: `old ${old.digest}` }))).toEqual([ofReplaced]);
  });

  it('keeps everything on a node where a running rank does not name its model', () => {
    expect(changed(plan({ runs: null }))).toEqual([]);
  });

  it("waits while a node's ranks or models are unknown", () => {
    expect(changed(plan({ unknown: { services: 'failed' }, runs: `old ${old.digest}` }))).toEqual([ofReplaced]);
    const made = plan({ unknown: { trees: 'timed-out' } });
    expect([changed(made), made.steps]).toEqual([[], []]);
    expect(made.waiting).toMatchObject([{ node: 'studio-1', isUnknown: true }]);
  });
});

onOnePage('prune');

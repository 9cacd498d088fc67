import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { resources } from '../../../../src/engine/resources.ts';
import { settings } from '../../../../src/rack/settings/settings.ts';
import { onOnePage } from '../../one-page.ts';
import { planLines, planOf, type ResourceFile } from './resource-file.ts';

const folder = new URL('../../../cases/resources/', import.meta.url);
/** The cases of this resource contain only its steps and have a separate format. */
const ownForm = 'placement';
const kinds = readdirSync(folder).filter((kind) => kind !== ownForm);
const cases = kinds.flatMap((kind) =>
  readdirSync(new URL(`${kind}/`, folder)).map((name) => {
    const one: ResourceFile = parse(readFileSync(new URL(`${kind}/${name}`, folder), 'utf8'));
    return { kind, name, one };
  }),
);

const plans = new Map<ResourceFile, Plan>();
/** The plan of a case, made once. */
function planFor(one: ResourceFile): Plan {
  const plan = plans.get(one) ?? planOf(one);
  plans.set(one, plan);
  return plan;
}

describe('resource cases', () => {
  it('exist for every resource', () => {
    expect([...kinds, ownForm].sort()).toEqual(resources.map(({ kind }) => kind).sort());
  });
});

describe('the resource order', () => {
  it('contains every setting that has a resource', () => {
    const kept = settings.flatMap((one) => ('resource' in one ? [one.resource] : []));
    expect(resources).toEqual(expect.arrayContaining(kept));
  });

  it.each(resources.map(({ kind, after }, at) => ({ kind, after, at })))(
    'puts $kind after every resource that it waits for',
    ({ after, at }) => {
      expect(resources.slice(0, at).map(({ kind }) => kind)).toEqual(expect.arrayContaining([...after]));
    },
  );
});

for (const kind of kinds) {
  describe(`the ${kind} resource`, () => {
    for (const { name, one } of cases.filter((each) => each.kind === kind)) {
      it(`${one.title} (${name})`, () => {
        const { title: _, file, cables, unreachable, seen, unknown, goal, targets, ...wanted } = one;
        const nothing = { changes: [], steps: [], waiting: [], blockers: [], effects: [], reported: [] };
        expect(planLines(planFor(one))).toEqual({ ...nothing, ...wanted });
      });
    }
  });
}

describe('kinds of changes', () => {
  const beginnings = ['missing', 'none', 'not set', 'not loaded', 'never started', 'no rank runs'];
  const ends = [
    'none',
    'gone',
    'removed',
    'removed, no rollback to it',
    'stopped',
    'not loaded',
    'rolled back',
    'no orphaned ranks',
    'nothing left over',
  ];

  it('are "add" for something missing, and "remove" for something unwanted', () => {
    const all = cases.flatMap(({ one }) => planFor(one).changes);
    const expected = all.map(({ id, from, to }) => {
      if (ends.includes(to)) return `remove ${id}: ${from} -> ${to}`;
      return `${beginnings.includes(from) ? 'add' : 'change'} ${id}: ${from} -> ${to}`;
    });
    expect(all.map(({ kind, id, from, to }) => `${kind} ${id}: ${from} -> ${to}`)).toEqual(expected);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['add', 'change', 'remove']));
  });
});

onOnePage('resource-cases');

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { first } from '../scenarios/converge-file.ts';
import { allowedByAdr } from '../yesterday/adr.ts';
import { namesOf } from '../yesterday/names.ts';
import { unpackOldBuild } from '../yesterday/old-build.ts';
import {
  bringToYesterday,
  type Documents,
  diskOf,
  lookers,
  must,
  startYesterdayRack,
  type YesterdayRack,
} from '../yesterday/rack.ts';
import { withoutProse } from '../yesterday/without-prose.ts';
import { codesOf, json, mainFile, type Ran } from './meshwright.ts';

const patience = { timeout: 900_000 };
const namesFile = new URL('../yesterday/names.txt', import.meta.url).pathname;
const allowed = allowedByAdr();

interface OfResource {
  readonly node: string;
  readonly resource: string;
}

interface PlanDocument {
  readonly changes: readonly OfResource[];
  readonly steps: readonly (OfResource & { readonly effect: { readonly kind: string } })[];
  readonly waiting: unknown;
  readonly blockers: unknown;
  readonly effects: readonly { readonly kind: string }[];
}

interface DoctorDocument {
  readonly troubles: readonly { readonly code: string }[];
}

interface StatusDocument {
  readonly placements: Readonly<Record<string, { readonly state: string; readonly standing: string }>>;
}

let rack: YesterdayRack;
let old: string;
let before: unknown;
let documents: Documents;
let names: string;

/** Runs today's command, which must succeed. */
const run = (...words: string[]): Promise<Ran> => must(rack, mainFile, words);

const plan = async (): Promise<PlanDocument> => json(await run('plan', '--json')) as PlanDocument;

/** Arguments of steps that the previous release does not have, and the keys of jobs, which depend on the release. */
const newArguments: readonly string[] = ['prepared', 'jobs'];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Steps without these arguments, and without the account that downloads a model. */
const withoutNew = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, held: unknown) => {
      if (newArguments.includes(key)) return undefined;
      return key === 'source' && isObject(held) ? { ...held, account: undefined } : held;
    }),
  );

/**
 * True for a change that the decision record allows, its steps, their ids, its address, and its line about the lock, and
 * for a finding that it allows.
 */
const isAllowed = (entry: unknown): boolean =>
  (isObject(entry) && allowed.names.includes(String(entry['code']))) ||
  allowed.changes.some((address) => {
    if (isObject(entry)) return entry['resource'] === address || String(entry['id']).includes(`/${address}/`);
    const line = `${address.replace('/', ' ')}: `;
    const text = String(entry);
    return text.includes(`/${address}/`) || text.endsWith(` ${address}`) || text.startsWith(line);
  });
const isCompared = (entry: unknown): boolean => !isAllowed(entry);

/** A document without the changes that the decision record allows. */
const withoutAllowed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, held: unknown) => (Array.isArray(held) ? held.filter(isCompared) : held)));

/** A plan without the changes that the decision record allows, and without details of the observation. */
const compared = ({ changes, steps, waiting, blockers, effects: all }: PlanDocument): unknown => {
  const kinds = new Set(steps.filter(isCompared).map(({ effect }) => effect.kind));
  const effects = all.filter(({ kind }) => kind !== 'interrupt' || kinds.has(kind));
  return withoutProse(withoutAllowed({ changes, steps: withoutNew(steps), waiting, blockers, effects }));
};

/** The changes of today's plan, which must equal those of the previous release and disturb nothing. */
async function changesOfBoth(): Promise<readonly string[]> {
  const yesterday = json(await must(rack, old, ['plan', '--json'])) as PlanDocument;
  const today = await plan();
  expect(compared(today)).toEqual(compared(yesterday));
  const kinds = today.steps.filter(isCompared).map(({ effect }) => effect.kind);
  expect(kinds.filter((kind) => !['none', 'start', 'network'].includes(kind))).toEqual([]);
  return today.changes.filter(isCompared).map(({ node, resource }) => `${node} ${resource}`);
}

interface HistoryDocument {
  readonly runs: readonly { readonly run: string }[];
}

const runsIn = (document: unknown): readonly string[] => (document as HistoryDocument).runs.map(({ run }) => run);

const linesOf = (text: string): readonly string[] => text.split('\n');

beforeAll(async () => {
  rack = await startYesterdayRack();
  old = unpackOldBuild(join(rack.place.root, 'build'));
  before = diskOf(rack);
  documents = await bringToYesterday(rack, old);
  names = namesOf(rack, documents);
}, patience.timeout);
afterAll(() => rack?.remove());

describe('a rack from the previous release', patience, () => {
  it('is described the same way by both releases, with both placements serving', async () => {
    await expect(names).toMatchFileSnapshot(namesFile);
    for (const words of lookers) {
      const today = json(await rack.type(mainFile, [...words.split(' '), '--json']));
      // The history has the old release's sentences, which are stored in its journal.
      const shown = (value: unknown) => (words === 'history' ? value : withoutProse(value));
      expect([words, withoutAllowed(shown(today))]).toEqual([words, withoutAllowed(shown(documents[words]))]);
    }
    const { troubles } = documents['doctor'] as DoctorDocument;
    expect(troubles.map(({ code }) => code)).toEqual(['network/unconfirmed-change', 'mesh/not-serving', 'hold/held']);
    const status = documents['status'] as StatusDocument;
    const serving = Object.entries(status.placements).filter(([, { state }]) => state === 'serving');
    expect(serving.map(([name, { standing }]) => [name, standing])).toEqual([
      ['chat', 'met'],
      ['draft', 'met'],
    ]);
  });

  it('gets the same plan from both releases, on hold or released, without interruption', async () => {
    expect(await changesOfBoth()).toEqual(['studio-4 rollback']);
    await run('release', first, '--yes');
    expect(await changesOfBoth()).toEqual(['studio-1 model/fetched', 'studio-1 placement/next', 'studio-4 rollback']);
  });

  it('has saved plans that the new release refuses as stale', async () => {
    await must(rack, old, ['plan', '--out', 'saved.json']);
    const ran = await rack.type(mainFile, ['apply', 'saved.json', '--yes']);
    // The two releases describe changes in different words, so every change counts as new.
    expect([ran.code, ran.stderr]).toEqual([5, expect.stringMatching(/plan\/stale[\s\S]*new: /)]);
  });

  it('converges from a half-fetched model and an unconfirmed network change', async () => {
    rack.files.release();
    await run('apply', '--yes', '--allow', 'interrupt');
    expect(rack.files.requests).toEqual([...new Set(rack.files.requests)]);
    expect(await plan()).toMatchObject({ changes: [], steps: [], waiting: [], blockers: [], effects: [] });
    await run('ask', 'next', 'Hello?');
    const shown = runsIn(json(await run('history', '--json')));
    expect(shown).toEqual(expect.arrayContaining([...runsIn(documents['history'])]));
  });

  it('can be drained, started and rolled back to a version that the old release kept', async () => {
    await run('drain', 'chat', '--yes');
    await run('start', 'chat', '--yes');
    await run('rollback', 'reference', '--yes');
    await run('ask', 'chat', 'Hello?');
    const ran = await run('plan', '--json');
    expect([(json(ran) as PlanDocument).steps, codesOf(json(ran))]).toEqual([[], ['runtime/taken-back']]);
  });

  it('has no trace of either release after uninstall', async () => {
    await run('uninstall', '--all', '--restore', '--models', '--yes');
    expect(diskOf(rack)).toEqual(before);
  });
});

describe('a rack from the new release', patience, () => {
  it("uses the previous release's names, except those listed in decision 16", async () => {
    const other = await startYesterdayRack();
    try {
      const was = linesOf(names);
      const is = linesOf(namesOf(other, await bringToYesterday(other, mainFile)));
      const changed = [
        ...was.filter((line) => !is.includes(line)).map((line) => `gone: ${line}`),
        ...is.filter((line) => !was.includes(line)).map((line) => `new: ${line}`),
      ];
      expect(changed.filter((line) => !allowed.names.some((name) => line.includes(name)))).toEqual([]);
    } finally {
      await other.remove();
    }
  });
});

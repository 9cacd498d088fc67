import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { inTurn } from '../in-turn.ts';
import { filePart, fileText, pairFile } from '../scenarios/converge-file.ts';
import { codesOf, expectGolden, json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { holdLease } from './talking.ts';

const { place } = pairPlace(pairFile());

const run = (...words: string[]) => meshwright(place, [...words, '--sim']);
const apply = () => run('apply', '--yes', '--update-lock', '--allow', 'interrupt', '--json');

/** Each archive has its program in a different folder, like builds from source. */
const useArchive = (name: string): void => {
  const file = pairFile();
  const reference = filePart(file, 'runtimes', 'reference');
  reference['archive'] = `./dist/${name}.tar.gz`;
  const [, ...words] = Object.values(filePart(file, 'runtimes', 'reference', 'command'));
  reference['command'] = [`{runtime}/${name}/rank`, ...words];
  const content = Buffer.from(doubleText('ranks/rank.pl'));
  const program = tarGz([{ path: `${name}/rank`, mode: 0o755, content }]);
  writeFileSync(join(place.folder, `dist/${name}.tar.gz`), program);
  place.write('cluster.yaml', fileText(file));
};

const version = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(join(place.folder, `dist/${name}.tar.gz`)))
    .digest('hex')
    .slice(0, 16);

interface Trees {
  readonly nodes: Readonly<Record<string, { readonly trees: { readonly value: readonly Tree[] } }>>;
}
interface Tree {
  readonly name: string;
  readonly digest: string;
  readonly isCurrent: boolean;
}

/** The simulated fleet's lock is in the fleet's folder. */
function lockPath(): string {
  const found = readdirSync(place.root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('/cluster.lock'),
  );
  expect(found).toHaveLength(1);
  return join(place.root, found[0] ?? '');
}

const lock = (): string => readFileSync(lockPath(), 'utf8');

/** The version in use on each node. */
async function inUse(): Promise<readonly string[]> {
  const { nodes } = json(await run('facts', '--fact', 'trees', '--json')) as Trees;
  return Object.values(nodes).flatMap(({ trees }) =>
    trees.value.filter(({ isCurrent }) => isCurrent).map(({ digest }) => digest),
  );
}

const isLockWritten = (ran: Ran): boolean =>
  (json(ran) as { readonly lock: { readonly written: boolean } }).lock.written;

const pending = async (): Promise<unknown> => (json(await run('plan', '--json')) as { readonly steps: unknown }).steps;

describe('rollback', () => {
  it('returns a runtime to the kept version, and the next apply leaves it there', async () => {
    expect((await apply()).code).toBe(0);
    const tooEarly = await run('rollback', 'reference', '--yes', '--json');
    expect([tooEarly.code, codesOf(json(tooEarly))]).toEqual([1, ['rollback/no-version']]);
    expect(tooEarly.stdout).toMatch(/On studio-1,4: [0-9a-f]{16} \(in use\)\. No older version/);

    useArchive('newer');
    expect((await apply()).code).toBe(0);
    const [older, newer] = [version('reference'), version('newer')];
    expect(await inUse()).toEqual([newer, newer]);

    const back = await run('rollback', 'reference', '--yes', '--json');
    expect([back.code, isLockWritten(back)]).toEqual([0, true]);
    expect(await inUse()).toEqual([older, older]);
    expect((await run('ask', 'chat', 'Hello?')).code).toBe(0);

    const twice = await run('rollback', 'reference', '--yes');
    expect([twice.code, twice.stdout.includes('was already rolled back to version')]).toEqual([0, true]);
    expect(isLockWritten(await run('rollback', 'reference', '--yes', '--json'))).toBe(false);
    expect(await inUse()).toEqual([older, older]);

    const again = await apply();
    expect([again.code, codesOf(json(again))]).toEqual([0, ['runtime/rolled-back']]);
    expect([await inUse(), await pending()]).toEqual([[older, older], []]);
  });

  it('restores the newer version with --undo, and changes nothing the second time', async () => {
    const forward = await run('rollback', 'reference', '--undo', '--yes');
    expect([forward.code, forward.stderr]).toEqual([0, '']);
    expect(await inUse()).toEqual([version('newer'), version('newer')]);
    expect((await run('ask', 'chat', 'Hello?')).code).toBe(0);
    expect(await pending()).toEqual([]);
    const twice = await run('rollback', 'reference', '--undo', '--yes');
    expect([twice.code, twice.stdout]).toEqual([0, expect.stringContaining("already has its archive's version")]);
  });

  inTurn(0, 2)('that was interrupted', () => {
    it('completes a rollback that was interrupted right after its entry was added to the lock', async () => {
      const [older, newer] = [version('reference'), version('newer')];
      expect((await run('rollback', 'reference', '--yes')).code).toBe(0);
      const begun = lock();
      expect((await run('rollback', 'reference', '--undo', '--yes')).code).toBe(0);
      expect(await inUse()).toEqual([newer, newer]);
      writeFileSync(lockPath(), begun);
      expect((await run('rollback', 'reference', '--yes')).code).toBe(0);
      expect([await inUse(), lock()]).toEqual([[older, older], begun]);
      expect((await run('rollback', 'reference', '--undo', '--yes')).code).toBe(0);
    });

    it('completes an --undo that was interrupted right after its entry was removed from the lock', async () => {
      const undone = lock();
      expect((await run('rollback', 'reference', '--yes')).code).toBe(0);
      writeFileSync(lockPath(), undone);
      expect((await run('rollback', 'reference', '--undo', '--yes')).code).toBe(0);
      expect([await inUse(), lock()]).toEqual([[version('newer'), version('newer')], undone]);
      expect(await pending()).toEqual([]);
    });
  });

  inTurn(1, 2)('next to other changes', () => {
    it('asks the user to commit the lock if a killed run has already changed every node', async () => {
      const unchanged = lock();
      expect((await run('rollback', 'reference', '--yes')).code).toBe(0);
      const repeated = await run('rollback', 'reference', '--yes');
      expect([repeated.code, repeated.stdout]).toEqual([0, expect.stringMatching(/Commit\s.*cluster\.lock\./)]);
      writeFileSync(lockPath(), unchanged);
      const kept = await run('rollback', 'reference', '--to', version('reference'), '--yes', '--json');
      expect([kept.code, isLockWritten(kept)]).toEqual([0, true]);
      expect((await run('rollback', 'reference', '--undo', '--yes')).code).toBe(0);
    });

    it('leaves the lock unchanged if another run has a lease', async () => {
      const holder = await holdLease(place);
      const before = lock();
      for (const more of [[], ['--to', version('reference')]]) {
        const refused = await run('rollback', 'reference', '--yes', ...more);
        expect([refused.code, lock()]).toEqual([75, before]);
      }
      await holder.interrupt();
      expect(await inUse()).toEqual([version('newer'), version('newer')]);
    });

    it('ends when the file names a different archive', async () => {
      expect((await run('rollback', 'reference', '--yes')).code).toBe(0);
      useArchive('newest');
      expect((await apply()).code).toBe(0);
      expect(await inUse()).toEqual([version('newest'), version('newest')]);
      expect(codesOf(json(await run('plan', '--json')))).toEqual([]);
    });

    it('rejects invalid arguments with a suggestion, and needs --yes', async () => {
      const rans = await Promise.all([
        run('rollback'),
        run('rollback', 'refrence'),
        run('rollback', 'reference', '--to', 'v1'),
        run('rollback', 'reference', '--to', 'abcd', '--undo'),
      ]);
      expect(rans.map(({ code, stdout }) => [code, stdout])).toEqual(rans.map(() => [64, '']));
      await expectGolden('rollback-usage', place, rans);
      const unasked = await run('rollback', 'reference', '--json');
      expect([unasked.code, codesOf(json(unasked))]).toEqual([5, ['cli/needs-yes']]);
    });
  });
});

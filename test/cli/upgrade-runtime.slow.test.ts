import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReportDocument } from '../../src/model/documents.generated.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { fileText, second } from '../scenarios/converge-file.ts';
import { codesOf, json, meshwright, type Ran } from './meshwright.ts';
import { pairPlace } from './pair.ts';
import { schemaCheck } from './schema-check.ts';
import { listenTo } from './talking.ts';
import { twoUnits } from './two-units.ts';

const { place } = pairPlace(twoUnits());
const run = (...words: string[]): Promise<Ran> => meshwright(place, [...words, '--sim']);
const upgrade = (...words: string[]): Promise<Ran> => run('upgrade', 'runtime', 'reference', ...words);
const report = (ran: Ran): ReportDocument => {
  const document = json(ran);
  expect(schemaCheck('report')(document)).toEqual([]);
  return document as ReportDocument;
};
const flat = (text: string): string => text.replace(/\s+/g, ' ');
const useArchive = (name: string): void => {
  place.write('cluster.yaml', fileText(twoUnits(name)));
};

/** An archive whose program is this text, or the rank's double with a remark. */
function writeArchive(name: string, program = `${doubleText('ranks/rank.pl')}# ${name}\n`): void {
  const archive = tarGz([{ path: 'bin/rank', mode: 0o755, content: Buffer.from(program) }]);
  writeFileSync(join(place.folder, `dist/${name}.tar.gz`), archive);
}

const version = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(join(place.folder, `dist/${name}.tar.gz`)))
    .digest('hex')
    .slice(0, 16);

/** The versions on each Mac, the one in use first. */
async function versions(): Promise<readonly (readonly string[])[]> {
  interface Tree {
    readonly name: string;
    readonly digest: string;
    readonly isCurrent: boolean;
  }
  const { nodes } = json(await run('facts', '--fact', 'trees', '--json')) as {
    readonly nodes: Readonly<Record<string, { readonly trees: { readonly value: readonly Tree[] } }>>;
  };
  return Object.values(nodes).map(({ trees }) =>
    trees.value
      .filter(({ name }) => name === 'reference')
      .toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent))
      .map(({ digest }) => digest),
  );
}

const inUse = async (): Promise<readonly (string | undefined)[]> => (await versions()).map(([one]) => one);

function lock(): string {
  const [found = ''] = readdirSync(place.root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('/cluster.lock'),
  );
  return readFileSync(join(place.root, found), 'utf8');
}

const rolledBack = (): boolean => /^rolledBack:/m.test(lock());

/** The positions of the steps about each placement. */
function spans({ steps }: ReportDocument) {
  const at = (name: string) => steps.flatMap(({ id }, index) => (id.includes(`/placement/${name}/`) ? [index] : []));
  return { left: at('left'), right: at('right') };
}

const stops = ({ steps }: ReportDocument): readonly string[] =>
  steps.flatMap(({ id }) => (id.endsWith('/stop') ? [id] : []));

const isConverged = async (): Promise<void> => {
  const plan = await run('plan', '--detailed-exitcode');
  expect([plan.code, (await run('status')).code]).toEqual([0, 0]);
};

beforeAll(async () => {
  expect((await run('apply', '--yes')).code).toBe(0);
  writeArchive('broken', '#!/usr/bin/perl\nexit 3;\n');
});

describe('upgrade runtime', () => {
  it('says within one observation that there is nothing to do', async () => {
    const ran = await upgrade('--yes', '--record', 'sent.ndjson');
    expect([ran.code, flat(ran.stdout)]).toEqual([
      0,
      `Nothing to do: studio-1,4 already have reference ${version('reference')}. `,
    ]);
    const sent = readFileSync(join(place.folder, 'sent.ndjson'), 'utf8').trim().split('\n');
    expect(sent).toHaveLength(2);
  });

  it('shows the units with --check, and changes nothing', async () => {
    useArchive('newer');
    const before = lock();
    const ran = await upgrade('--check');
    expect(ran.code).toBe(2);
    const text = flat(ran.stdout);
    expect(text).toContain(`reference ${version('reference')} -> ${version('newer')}, unit by unit:`);
    expect(text).toContain('1. studio-1: restarts left.');
    expect(text).toContain('The first unit is the canary.');
    expect(text).toContain('interrupts left, right');
    const document = report(await upgrade('--check', '--json'));
    expect(document).toMatchObject({ exit: 2, steps: [] });
    expect([await versions(), lock()]).toEqual([[[version('reference')], [version('reference')]], before]);
  });

  it('refuses a runtime that it does not know, and needs a yes', async () => {
    expect((await run('upgrade', 'runtime')).code).toBe(64);
    const wrong = await run('upgrade', 'runtime', 'refrence', '--json');
    expect([wrong.code, wrong.stdout]).toEqual([64, expect.stringContaining('Did you mean `reference`?')]);
    const unasked = await upgrade('--json');
    expect([unasked.code, codesOf(json(unasked))]).toEqual([5, ['cli/needs-yes']]);
  });

  it('installs everywhere first, and restarts one unit after another', async () => {
    const document = report(await upgrade('--yes', '--json'));
    expect([document.exit, document.lock.written]).toEqual([0, true]);
    const { left, right } = spans(document);
    const installed = document.steps.findLastIndex(({ id }) => id.includes('/runtime/reference/installed/'));
    expect(installed).toBeLessThan(Math.min(...left));
    expect(Math.max(...left)).toBeLessThan(Math.min(...right));
    const kept = [version('newer'), version('reference')];
    expect(await versions()).toEqual([kept, kept]);
    await isConverged();
    const again = report(await upgrade('--yes', '--json'));
    expect([again.exit, again.steps]).toEqual([0, []]);
  });

  it('rolls back a canary that does not answer, and leaves the other unit alone', async () => {
    useArchive('broken');
    const document = report(await upgrade('--yes', '--json'));
    expect([document.exit, document.diagnostics.map(({ code }) => code)]).toEqual([
      1,
      expect.arrayContaining(['upgrade/rolled-back']),
    ]);
    expect(stops(document)).not.toContain(`${second}/placement/right/stop`);
    expect([await inUse(), rolledBack()]).toEqual([[version('newer'), version('newer')], true]);
    await isConverged();
    const again = report(await upgrade('--yes', '--json'));
    expect([again.exit, again.steps, again.diagnostics.map(({ code }) => code)]).toEqual([
      5,
      [],
      expect.arrayContaining(['upgrade/rolled-back']),
    ]);
  });

  it('tries the version again only with --again', async () => {
    const ran = await upgrade('--yes', '--again');
    expect(ran.code).toBe(1);
    const text = flat(ran.stdout + ran.stderr);
    expect(text).toContain(`studio-1 did not serve with reference ${version('broken')}`);
    expect(text).toContain('meshwright upgrade runtime reference --again');
    expect(await inUse()).toEqual([version('newer'), version('newer')]);
    await isConverged();
  });

  it('returns the units before one that fails to the old version, too', async () => {
    // The program fails only on the second Mac.
    const [head = '', ...rest] = doubleText('ranks/rank.pl').split('\n');
    writeArchive('half', [head, `exit 3 if $0 =~ m{/roots/${second}/};`, ...rest].join('\n'));
    useArchive('half');
    const document = report(await upgrade('--yes', '--json'));
    expect([document.exit, await inUse()]).toEqual([1, [version('newer'), version('newer')]]);
    await isConverged();
  });

  it('finishes the rollback if it was killed in it', async () => {
    useArchive('broken');
    const killed = listenTo(place, ['upgrade', 'runtime', 'reference', '--sim', '--yes']);
    await killed.until('Going back to');
    killed.child.kill('SIGKILL');
    await killed.end;
    const document = report(await upgrade('--yes', '--lease-wait', '60s', '--json'));
    expect([document.exit, rolledBack(), await inUse()]).toEqual([1, true, [version('newer'), version('newer')]]);
    await isConverged();
  });

  it('says so if a Mac is lost in the rollback, and finishes it when the Mac is back', async () => {
    useArchive('half');
    const lost = listenTo(place, ['upgrade', 'runtime', 'reference', '--sim', '--yes', '--again']);
    await lost.until('Going back to');
    expect((await run('sim', 'fault', 'power-cut', second)).code).toBe(0);
    const { code, stderr } = await lost.end;
    expect([code, stderr]).toEqual([1, expect.stringContaining('upgrade/not-rolled-back')]);
    expect((await run('sim', 'fault', '--clear', 'power-cut')).code).toBe(0);
    expect((await run('sim', 'power-on', second)).code).toBe(0);
    expect((await upgrade('--yes', '--json', '--lease-wait', '60s')).code).toBe(1);
    expect([rolledBack(), await inUse()]).toEqual([true, [version('newer'), version('newer')]]);
    await isConverged();
  });

  it('continues after it was killed while the canary restarted', async () => {
    writeArchive('later');
    useArchive('later');
    const killed = listenTo(place, ['upgrade', 'runtime', 'reference', '--sim', '--yes']);
    await killed.until('left');
    killed.child.kill('SIGKILL');
    await killed.end;
    const ran = await upgrade('--yes', '--lease-wait', '60s', '--json');
    expect([report(ran).exit, await inUse()]).toEqual([0, [version('later'), version('later')]]);
    await isConverged();
  });
});

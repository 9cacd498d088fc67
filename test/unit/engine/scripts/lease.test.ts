import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type LeaseAnswer,
  readLeaseAnswer,
  releaseLeaseScript,
  renewLeaseScript,
  type SeenLease,
  stealLeaseScript,
  takeLeaseScript,
} from '../../../../src/engine/scripts/lease.ts';
import { bootSession, type MacEnd, type MacRoot, makeMacRoot, ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleClaim } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newMac = removedAfter(makeMacRoot);
/** A node that never had a lease. */
const newRoot = async (shell: Shell): Promise<MacRoot> => {
  const root = newMac(shell);
  await root.run(`/bin/rm -r '${root.folder.replaceAll("'", "'\\''")}/Library'`);
  return root;
};

const answerOf = ({ code, stdout, stderr }: MacEnd): LeaseAnswer =>
  readLeaseAnswer({ exit: { kind: 'exited', code: code ?? -1 }, stdout, stderr });
const take = async (root: MacRoot, run: string) =>
  answerOf(await root.run(takeLeaseScript(root.folder, exampleClaim(run))));
const steal = async (root: MacRoot, run: string, seen: SeenLease) =>
  answerOf(await root.run(stealLeaseScript(root.folder, exampleClaim(run), seen)));
const heldBy = async (root: MacRoot): Promise<SeenLease> => {
  const answer = await take(root, 'r-reader');
  if (answer.kind !== 'held') throw new Error(JSON.stringify(answer));
  return answer.lease;
};
const leftovers = (root: MacRoot): readonly string[] =>
  root.tree().filter((line) => /meshwright\/(?:lease\.|fence\.|lease\/(?:owner|heartbeat)\.)/.test(line));

it('a lease is taken only if its script succeeds and names the token', () => {
  const ended = (code: number, stdout: string, stderr = '') => answerOf({ code, stdout, stderr } as MacEnd);
  const ends = [ended(0, '@taken x B\n'), ended(1, '@taken 3 B\n', 'a\nfull\n'), ended(1, '@held\n', '\n')];
  expect(ends).toEqual(['no message', 'full', 'no message'].map((text) => ({ kind: 'failed', text })));
});

describe.each(scriptShells)('a lease in $name', (shell) => {
  it('is taken by one run, shown to the next, and free after release', async () => {
    const root = await newRoot(shell);
    expect(await take(root, 'r-1')).toEqual({ kind: 'taken', token: 1, bootSession });
    expect(await take(root, 'r-2')).toEqual({
      kind: 'held',
      lease: { run: 'r-1', token: 1, heartbeat: 0, fields: { ...exampleClaim('r-1'), pid: '7', token: '1' } },
    });
    expect((await root.run(releaseLeaseScript(root.folder, { run: 'r-1', token: 1 }))).code).toBe(0);
    expect(root.has(`${ours}/lease`)).toBe(false);
    expect(await take(root, 'r-2')).toMatchObject({ kind: 'taken', token: 2 });
    expect(leftovers(root)).toEqual([]);
  });

  it('is renewed and released only with its own run and token', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    for (const fence of [
      { run: 'r-1', token: 2 },
      { run: 'r-2', token: 1 },
    ]) {
      expect((await root.run(renewLeaseScript(root.folder, fence))).code).toBe(75);
      expect((await root.run(releaseLeaseScript(root.folder, fence))).code).toBe(75);
    }
    const fence = { run: 'r-1', token: 1 };
    expect(await heldBy(root)).toMatchObject({ heartbeat: 0, fields: { phase: 'observe' } });
    expect((await root.run(renewLeaseScript(root.folder, fence))).stdout).toBe('@renewed\n');
    await root.run(renewLeaseScript(root.folder, fence, 'change\nrun=evil\\'));
    expect(await heldBy(root)).toMatchObject({ run: 'r-1', heartbeat: 2, fields: { phase: 'change run=evil\\' } });
    expect(leftovers(root)).toEqual([]);
  });

  it('is restored if another run took it just before the theft', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    // Between the read and the rename of a takeover, the lease is released and r-9 takes the lease.
    const owner = `"$R/${ours}/lease/owner"`;
    const swap = `/usr/bin/sed -e 's/^run=.*/run=r-9/' -e 's/^token=.*/token=9/' ${owner} >"$R/owner" && /bin/cat "$R/owner" >${owner}`;
    root.tool('bin/mv', `case $1 in */lease) ${swap} ;; esac\nexec /bin/mv "$@"`);
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'held', lease: { run: 'r-9', token: 9 } });
    expect(leftovers(root)).toEqual([]);
  });

  // trust H3.
  it('is restored if a script from its run started just before the theft', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    root.tool('bin/ps', 'printf "/bin/sh -s\\n"');
    root.tool('bin/mv', `case $1 in */lease) >"$1/busy.4711" ;; esac\nexec /bin/mv "$@"`);
    expect(await steal(root, 'r-2', seen)).toMatchObject({
      kind: 'held',
      lease: { run: 'r-1', token: 1, heartbeat: 0 },
    });
    expect([root.has(`${ours}/lease/busy.4711`), leftovers(root)]).toEqual([true, []]);
    root.tool('bin/ps', 'exit 1');
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'taken', token: 2 });
    expect(leftovers(root)).toEqual([]);
  });

  it('is not released if a script has just started', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    root.tool('bin/ps', 'printf "/bin/sh -s\\n"');
    root.tool('bin/mv', `case $1 in */lease) >"$1/busy.4711" ;; esac\nexec /bin/mv "$@"`);
    expect((await root.run(releaseLeaseScript(root.folder, { run: 'r-1', token: 1 }))).code).toBe(73);
    expect(await heldBy(root)).toMatchObject({ run: 'r-1', token: 1 });
  });

  it('is not taken while scripts from a stolen lease are still running', async () => {
    const root = await newRoot(shell);
    root.file(`${ours}/lease.stolen.77/busy.4711`, '');
    root.tool('bin/ps', 'printf "/bin/sh -s\\n"');
    expect(await take(root, 'r-1')).toMatchObject({ kind: 'held' });
    expect(root.has(`${ours}/lease`)).toBe(false);
    root.tool('bin/ps', 'exit 1');
    expect(await take(root, 'r-1')).toMatchObject({ kind: 'taken', token: 1 });
    expect(leftovers(root)).toEqual([]);
  });

  // trust L9.
  it('is stolen despite the mark of a script whose PID was reused', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    root.file(`${ours}/lease/busy.4711`, '');
    for (const [words, kind] of [
      ['/bin/sh -s', 'held'],
      ['sh -s', 'held'],
      ['/bin/sh -s /etc/x', 'taken'],
    ]) {
      root.tool('bin/ps', `printf '${words}\\n'`);
      expect([words, (await steal(root, 'r-2', seen)).kind]).toEqual([words, kind]);
    }
    root.file(`${ours}/lease/busy.4712`, '');
    root.tool('bin/ps', "printf 'ssh -s desk sftp\\n'");
    expect((await steal(root, 'r-3', await heldBy(root))).kind).toBe('taken');
  });

  it('is stolen only if unchanged since it was read', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    await root.run(renewLeaseScript(root.folder, { run: 'r-1', token: 1 }));
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'held', lease: { run: 'r-1', heartbeat: 1 } });
    expect(await steal(root, 'r-2', { ...seen, heartbeat: 1, run: 'r-0' })).toMatchObject({ kind: 'held' });
    expect(await steal(root, 'r-2', { ...seen, heartbeat: 1, token: 9 })).toMatchObject({ kind: 'held' });
    expect((await root.run(renewLeaseScript(root.folder, { run: 'r-1', token: 1 }))).code).toBe(0);
    expect(await steal(root, 'r-2', { ...seen, heartbeat: 2 })).toMatchObject({ kind: 'taken', token: 2 });
    expect((await root.run(renewLeaseScript(root.folder, { run: 'r-1', token: 1 }))).code).toBe(75);
    expect((await root.run(releaseLeaseScript(root.folder, { run: 'r-1', token: 1 }))).code).toBe(75);
    expect(await heldBy(root)).toMatchObject({ run: 'r-2', token: 2 });
    expect(leftovers(root)).toEqual([]);
  });

  it('can be stolen before it is signed or after it was released', async () => {
    const root = await newRoot(shell);
    root.file(`${ours}/lease/owner.77`, 'run=half');
    const seen = await heldBy(root);
    expect(seen).toEqual({ heartbeat: 0, fields: {} });
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'taken', token: 1 });
    await root.run(releaseLeaseScript(root.folder, { run: 'r-2', token: 1 }));
    expect(await steal(root, 'r-3', seen)).toMatchObject({ kind: 'taken', token: 2 });
  });

  it('is not stolen during another theft, unless that theft was interrupted long ago', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    const guard = join(root.folder, ours, 'lease.steal');
    mkdirSync(guard);
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'held', lease: { run: 'r-1' } });
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(guard, longAgo, longAgo);
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'held', lease: { run: 'r-1' } });
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'taken', token: 2 });
    expect(leftovers(root)).toEqual([]);
  });

  it.each([
    ['ahead', 10],
    ['behind', -10],
  ])('is stolen despite a theft interrupted while the clock was ten years %s', async (_, years) => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    const seen = await heldBy(root);
    const guard = join(root.folder, ours, 'lease.steal');
    mkdirSync(guard);
    const then = new Date(Date.now() + years * 31_536_000_000);
    utimesSync(guard, then, then);
    await steal(root, 'r-2', seen);
    expect(await steal(root, 'r-2', seen)).toMatchObject({ kind: 'taken', token: 2 });
  });

  it('is taken if its owner releases it during the attempt', async () => {
    const root = await newRoot(shell);
    await take(root, 'r-1');
    // The folder exists at the first `mkdir`, and is removed before the next command.
    root.tool('bin/mkdir', `[ ! -d "$1" ] || { /bin/rm -r "$1"; exit 1; }\nexec /bin/mkdir "$@"\n`);
    expect(await take(root, 'r-2')).toMatchObject({ kind: 'taken', token: 2 });
  });

  it('has one winner when many runs take or steal it in parallel', async () => {
    const root = await newRoot(shell);
    const runs = Array.from({ length: 12 }, (_, at) => `r-${at}`);
    const takers = await Promise.all(runs.map((run) => take(root, run)));
    const winner = takers.findIndex(({ kind }) => kind === 'taken');
    expect(takers.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
    const seen = await heldBy(root);
    expect(seen.run).toBe(`r-${winner}`);
    const thieves = await Promise.all(runs.map((run) => steal(root, `thief-${run}`, seen)));
    const owner = await heldBy(root);
    const won = runs.filter((_, at) => thieves[at]?.kind === 'taken');
    expect(won.map((run) => `thief-${run}`)).toEqual([owner.run]);
    expect(leftovers(root)).toEqual([]);
  });
});

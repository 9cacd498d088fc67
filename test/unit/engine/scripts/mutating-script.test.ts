import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  mutatingCommand,
  mutatingScript,
  parseHistory,
  readScriptResult,
  saysDiskFull,
  transactionPendingExit,
} from '../../../../src/node/root-script.ts';
import { type MacEnd, makeMacRoot, ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleFence, inScript } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

const note = { step: 'studio-1/transaction/settle', verb: 'apply', by: 'ana@desk', config: 'cafe' };
const exampleScript = (rootPrefix: string) => ({ rootPrefix, fence: exampleFence, note, body: 'changed' });

describe.each(scriptShells)('a mutating script in $name', (shell) => {
  it('runs its body and adds one line to the history', async () => {
    const root = newRoot(shell);
    const { result, stderr } = await root.runBody('printf "ended=clean\\n"\nchanged');
    expect([result, stderr]).toEqual([{ kind: 'done', isChanged: true, said: ['ended=clean'] }, '']);
    const [entry, ...more] = parseHistory(root.read(`${ours}/log/history`));
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      run: 'r-1',
      token: 7,
      step: 'studio-1 power',
      verb: 'apply',
      by: "ana@o'hara",
      config: 'cafe',
      result: 'changed',
    });
    expect(entry?.atEpochSeconds).toBeGreaterThan(1_700_000_000);
  });

  it('does nothing without a lease for its own run and token', async () => {
    for (const owner of ['run=r-1\ntoken=8\n', 'run=r-2\ntoken=7\n', 'run=r-1\n', '', 'token=7\nxrun=r-1\n']) {
      const root = newRoot(shell);
      root.file(`${ours}/lease/owner`, owner);
      const { result, code } = await root.runBody('printf x >"$R/touched"\nchanged');
      expect([owner, result, code, root.has('touched')]).toEqual([owner, { kind: 'lease-lost' }, 75, false]);
      expect(root.has(`${ours}/log/history`)).toBe(false);
    }
    const root = newRoot(shell);
    root.tool('bin/rm', 'exec /bin/rm "$@"');
    await root.run(`R='${root.folder.replaceAll("'", "'\\''")}'\n/bin/rm -r "$R/${ours}/lease"\n`);
    expect((await root.runBody('changed')).result).toEqual({ kind: 'lease-lost' });
  });

  it('only settles a pending network change from another run or token', async () => {
    const strange = ['run=r-2\ntoken=7\n', 'run=r-1\ntoken=6\n', 'run=r-1\n', ''];
    for (const [folder, about] of ['pending', 'rolling'].flatMap((one) => strange.map((two) => [one, two] as const))) {
      const root = newRoot(shell);
      root.file(`${ours}/transaction/${folder}/about`, about);
      const { result, code } = await root.runBody('printf x >"$R/touched"\nchanged');
      expect([result, code]).toEqual([
        { kind: 'failed', slug: 'transaction-pending', text: expect.any(String) },
        transactionPendingExit,
      ]);
      expect([root.has('touched'), root.has(`${ours}/log/history`)]).toEqual([false, false]);
      const settling = mutatingScript({ ...exampleScript(root.folder), isSettling: true });
      expect((await root.run(settling)).result).toMatchObject({ kind: 'done' });
    }
    const root = newRoot(shell);
    root.file(`${ours}/transaction/pending/about`, 'run=r-1\ntoken=7\n');
    expect((await root.runBody('changed')).result).toMatchObject({ kind: 'done' });
  });

  it('reports a failure by its slug and the first line of tool output', async () => {
    const root = newRoot(shell);
    root.tool('fake/tool', 'printf "no, %s\\nmore\\n" "$1" >&2; exit 3');
    root.tool('fake/mute', 'exit 3');
    root.tool('fake/full', 'printf "tool: x: No space left on device\\n"; exit 1');
    const failures = ['"$R/fake/tool" never', '"$R/fake/mute"', '"$R/fake/full"'];
    const results = [];
    for (const one of failures) results.push((await root.runBody(`must tool-slug ${one}\nchanged`)).result);
    expect(results).toEqual([
      { kind: 'failed', slug: 'tool-slug', text: 'no, never' },
      { kind: 'failed', slug: 'tool-slug', text: 'mute ended with 3' },
      { kind: 'failed', slug: 'disk-full', text: 'tool: x: No space left on device' },
    ]);
    expect(parseHistory(root.read(`${ours}/log/history`)).map((one) => one.result)).toEqual([
      'failed',
      'failed',
      'failed',
    ]);
  });

  // macOS has no such device.
  it.runIf(existsSync('/dev/full'))('keeps the old file if the new text does not fit on the disk', async () => {
    const root = newRoot(shell);
    root.file('kept', 'as it was');
    const { result } = await root.runBody('"$R/bin/ln" -s /dev/full "$R/kept.$$"\nwrite "$R/kept" new\nchanged');
    expect(result.kind).toBe('failed');
    expect(root.read('kept')).toBe('as it was');
  });

  it('treats a missing result as unknown, and exit code 75 from its body as a failure', async () => {
    const root = newRoot(shell);
    expect((await root.runBody(':')).result.kind).toBe('unknown');
    expect((await root.runBody('exit 75')).result).toMatchObject({ kind: 'failed', slug: 'unexpected-exit' });
    expect((await root.runBody('changed\nprintf late')).result).toMatchObject({ kind: 'done' });
  });

  it('waits while an earlier attempt is running, and does nothing once a later attempt has run', async () => {
    const root = newRoot(shell);
    // The ps shows the command line of /bin/sh on a Mac, whatever the name of this shell.
    root.tool('bin/ps', 'kill -0 "$5" 2>/dev/null && printf "sh -s\\n"');
    const send = (key: string, attempt: number, body: string): Promise<MacEnd> =>
      root.run(mutatingScript({ ...exampleScript(root.folder), sending: { key, attempt }, body }));
    const isThere = (mark: string): boolean => root.tree().some((line) => line.includes(`lease/${mark}`));
    const writes = (what: string): string => `printf ${what} >>"$R/order"\nchanged`;
    const first = send('ab', 1, `until [ -e "$R/go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done\n${writes('1')}`);
    await expect.poll(() => isThere('busy.ab.1.')).toBe(true);
    const second = send('ab', 2, writes('2'));
    await expect.poll(() => isThere('busy.ab.2.')).toBe(true);
    expect((await send('cd', 1, writes('x'))).result).toMatchObject({ kind: 'done' });
    root.file('go', '');
    expect((await Promise.all([first, second])).map(({ result }) => result.kind)).toEqual(['done', 'done']);
    expect((await send('ab', 1, writes('late'))).code).toBe(75);
    expect([root.read('order'), isThere('busy.')]).toEqual(['x12', false]);
  });

  it('runs nothing if its text is truncated at any point', async () => {
    const root = newRoot(shell);
    const text = inScript('printf x >"$R/touched"\nchanged', root.folder);
    const whole = text.lastIndexOf('}') + 1;
    for (let bytes = 0; bytes < whole; bytes += 29) await root.run(text.slice(0, bytes));
    expect(root.started()).toEqual([]);
    expect(root.has('touched')).toBe(false);
    await root.run(text);
    expect(root.has('touched')).toBe(true);
  });

  it('does not pass its own text to tools on standard input', async () => {
    const root = newRoot(shell);
    const { result } = await root.runBody('x=$(/bin/cat)\n[ -z "$x" ] || failed read "$x"\nunchanged');
    expect(result).toEqual({ kind: 'done', isChanged: false, said: [] });
  });
});

describe("a mutating script's result", () => {
  const exited = (code: number) => ({ kind: 'exited', code }) as const;

  it('is unknown if the connection dropped', () => {
    const exit = { kind: 'unknown', reason: 'the connection dropped' } as const;
    expect(readScriptResult({ exit, stdout: '@changed\n', stderr: '' })).toEqual({
      kind: 'unknown',
      reason: 'exit unknown: the connection dropped',
    });
  });

  it("shows sudo's reason for refusing", () => {
    const stderr = 'sudo: a password is required\n';
    expect(readScriptResult({ exit: exited(1), stdout: '', stderr })).toEqual({
      kind: 'failed',
      slug: 'sudo-needs-password',
      text: 'sudo: a password is required',
    });
  });

  it('recognizes the error message for a full disk', () => {
    expect(saysDiskFull('cat: stdout: No space left on device\n')).toBe(true);
    expect(saysDiskFull('cat: stdout: Broken pipe\n')).toBe(false);
  });
});

describe('the sudo command', () => {
  it('has the form that the sudo rule allows, for any root folder', () => {
    expect(mutatingCommand('')).toBe("export LC_ALL=C; exec '/usr/bin/sudo' -n '/bin/sh' -s");
    expect(mutatingCommand("/srv/it's")).toBe(
      "export LC_ALL=C; exec '/srv/it'\\''s/usr/bin/sudo' -n '/srv/it'\\''s/bin/sh' -s",
    );
  });
});

describe("a node's history", () => {
  it('skips truncated and invalid lines', () => {
    const good = 'at=1 run=r token=1 step=a%20b verb=apply by=ana%40x config=c result=changed';
    expect(
      parseHistory(
        `rubbish\n${good}\n${good.slice(0, 40)}\nat=1 run=%zz token=1 step= verb= by= config= result=failed\n`,
      ),
    ).toEqual([
      {
        atEpochSeconds: 1,
        run: 'r',
        token: 1,
        step: 'a b',
        verb: 'apply',
        by: 'ana@x',
        config: 'c',
        result: 'changed',
      },
    ]);
  });
});

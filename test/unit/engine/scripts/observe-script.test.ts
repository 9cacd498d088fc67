import { describe, expect, it } from 'vitest';
import type { Answer, Probe } from '../../../../src/model/probe.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observationMaxBytes, observeCommand, observeScript } from '../../../../src/node/observe-script.ts';
import { below, nodePath, tool } from '../../../../src/node/paths/node-paths.ts';
import { until } from '../../../until.ts';
import { isAlive, makeNodeRoot, type NodeRoot, removedAfter, startScript } from './node-root.ts';
import { loginShells, type Shell, scriptShells } from './shells.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const fake = (name: string) => nodePath(`/fake/${name}`);
const probe = (name: string, more: Partial<Probe> = {}): Probe => ({
  name,
  ask: [fake(name)],
  deadlineMs: 20_000,
  maxBytes: 4_096,
  ...more,
});

const names = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word}${at}`);

const newRoot = removedAfter(makeNodeRoot);

/** Runs an observation in a folder and gives its answers by probe. */
async function observe(shell: Shell, root: NodeRoot, probes: readonly Probe[]): Promise<ReadonlyMap<string, Answer>> {
  const { end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
  const { stdout } = await end;
  return new Map(parseFrames(stdout, { probes, boundary }).map((answer) => [answer.probe, answer]));
}

/** Waits until every started tool has exited; a killed tool may need a moment. */
const allToolsGone = (root: NodeRoot) => until(() => root.started().every(({ pid }) => !isAlive(pid)));

/** Ends the watchdog's sleep until a deadline of 3 seconds as soon as each tool has written its file in `tmp`. */
function endSleepWhen(root: NodeRoot, ...tools: readonly string[]): void {
  const hasStarted = tools.map((name) => `[ -e "$R/tmp/${name}" ]`).join(' && ');
  const wait = `until ${hasStarted}; do /bin/sleep 0.02; done`;
  root.tool('bin/sleep', `case $1 in (3) ${wait} ;; (1) exec /bin/sleep 0.3 ;; (*) exec /bin/sleep "$1" ;; esac`);
}

describe.concurrent.each(scriptShells)('the observation script in $name', (shell) => {
  it('answers every probe and leaves the node as it was', async () => {
    const root = newRoot(shell);
    root.tool('fake/well', 'printf "fine\\n"');
    root.tool('fake/bad', 'printf "out\\n"; printf "err\\n" >&2; exit 7');
    root.tool('fake/reads', 'cat; printf "eof\\n"');
    root.tool('fake/argv', 'printf "<%s>" "$@"');
    const before = root.tree();
    const argv = ['', ' a  b ', "it's", '$HOME', '`id`', '\\n', '*', '"'];
    const answers = await observe(shell, root, [
      probe('well'),
      probe('bad'),
      probe('absent'),
      probe('reads'),
      probe('argv', { ask: [fake('argv'), ...argv, below(tool.sh, 'x')] }),
    ]);
    expect(answers.get('well')).toMatchObject({ exit: { kind: 'exited', code: 0 }, stdout: 'fine\n', stderr: '' });
    expect(answers.get('bad')).toMatchObject({ exit: { kind: 'exited', code: 7 }, stdout: 'out\n', stderr: 'err\n' });
    expect(answers.get('absent')).toMatchObject({ exit: { kind: 'exited', code: 127 }, stdout: '' });
    expect(answers.get('reads')).toMatchObject({ stdout: 'eof\n' });
    expect(answers.get('argv')?.stdout).toBe([...argv, `${root.folder}/bin/sh/x`].map((one) => `<${one}>`).join(''));
    expect(root.tree()).toEqual(before);
    await allToolsGone(root);
  });

  it('runs one process per probe and at most five other tools', async () => {
    const root = newRoot(shell);
    const asked = names('t', 30);
    for (const name of asked) root.tool(`fake/${name}`, 'printf "x\\n"');
    await observe(
      shell,
      root,
      asked.map((name) => probe(name)),
    );
    // The probe can end before the watchdog's sleep begins.
    const started = root.started().map((one) => one.tool);
    expect(started.filter((one) => one === 'bin/sleep').length).toBeLessThanOrEqual(1);
    const own = ['bin/cat', 'bin/rm', 'usr/bin/mktemp', 'usr/bin/wc'];
    expect(started.filter((one) => one !== 'bin/sleep').sort()).toEqual(
      [...own, ...asked.map((name) => `fake/${name}`)].sort(),
    );
  });

  it('answers every time when its tools exit before the watchdog starts', async () => {
    const strand = async (): Promise<void> => {
      const root = newRoot(shell);
      root.tool('fake/well', 'printf "fine\\n"');
      const before = root.tree();
      for (let run = 0; run < 10; run += 1) {
        const answer = (await observe(shell, root, [probe('well')])).get('well');
        expect(answer).toMatchObject({ exit: { kind: 'exited', code: 0 }, isLate: false, stdout: 'fine\n' });
        expect(root.tree()).toEqual(before);
      }
      await allToolsGone(root);
    };
    await Promise.all([strand(), strand(), strand(), strand()]);
  });

  it('works in a folder with shell characters in its name', async () => {
    const root = newRoot(shell, 'o\'dd $(exit 9) `x` \\n "q"; & *');
    root.tool('fake/well', 'printf "%s" "$R"');
    const before = root.tree();
    const answers = await observe(shell, root, [probe('well')]);
    expect(answers.get('well')?.stdout).toBe(root.folder);
    expect(root.tree()).toEqual(before);
  });

  it('stops hanging probes at their deadline while others answer', async () => {
    const root = newRoot(shell);
    root.tool('fake/hangs', 'printf "half"; : >"$R/tmp/hangs"; exec "$R/bin/sleep" 600');
    root.tool('fake/ignores', 'trap \'\' ALRM TERM HUP INT; : >"$R/tmp/ignores"; exec "$R/bin/sleep" 600');
    endSleepWhen(root, 'hangs', 'ignores');
    root.tool('fake/well', 'printf "fine\\n"');
    const answers = await observe(shell, root, [
      probe('hangs', { deadlineMs: 3_000 }),
      probe('ignores', { deadlineMs: 3_000 }),
      probe('well'),
    ]);
    expect(answers.get('hangs')).toMatchObject({
      isLate: true,
      exit: { kind: 'signalled', signal: 'ALRM' },
      stdout: 'half',
    });
    expect(answers.get('ignores')).toMatchObject({ isLate: true, exit: { kind: 'signalled', signal: 'KILL' } });
    expect(answers.get('well')).toMatchObject({ isLate: false, stdout: 'fine\n' });
    await allToolsGone(root);
    expect(root.tree().some((line) => line.includes('meshwright'))).toBe(false);
  });

  it('marks a probe that exits with 0 at its deadline as late', async () => {
    const root = newRoot(shell);
    root.tool('fake/obeys', 'trap \'kill $!; exit 0\' ALRM; printf half; "$R/bin/sleep" 600 & : >"$R/tmp/obeys"; wait');
    endSleepWhen(root, 'obeys');
    const answers = await observe(shell, root, [probe('obeys', { deadlineMs: 3_000 })]);
    expect(answers.get('obeys')).toMatchObject({ isLate: true, exit: { kind: 'exited', code: 0 } });
    await allToolsGone(root);
  });

  it("limits each tool's output on stdout and stderr", async () => {
    const root = newRoot(shell);
    root.tool('fake/mad', 'exec /usr/bin/head -c 10000000 /dev/zero');
    root.tool('fake/loud', 'exec /usr/bin/head -c 10000000 /dev/zero >&2');
    root.tool('fake/well', 'printf "fine\\n"');
    const probes = [probe('mad'), probe('loud', { maxBytes: 100 }), probe('well', { maxBytes: 5 })];
    const { end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
    const { stdout } = await end;
    expect(stdout.length).toBeLessThan(observationMaxBytes(probes));
    const [mad, loud, well] = parseFrames(stdout, { probes, boundary });
    expect(mad).toMatchObject({ isTruncated: true, isLate: false });
    expect(mad?.stdout).toHaveLength(4_096);
    expect(loud).toMatchObject({ isTruncated: true });
    expect(loud?.stderr).toHaveLength(100);
    expect(well).toMatchObject({ isTruncated: false, stdout: 'fine\n' });
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('stops all its processes on %s', async (signal) => {
    const root = newRoot(shell);
    root.tool('fake/hangs', 'exec "$R/bin/sleep" 600');
    root.tool('fake/ignores', 'trap \'\' ALRM TERM; exec "$R/bin/sleep" 600');
    const before = root.tree();
    const probes = [probe('hangs'), probe('ignores')];
    const { child, end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
    // Both tools and the watchdog have started their sleeps.
    await until(() => root.started().filter((one) => one.tool === 'bin/sleep').length === 3);
    child.kill(signal);
    expect((await end).code).toBe(signal === 'SIGTERM' ? 143 : 129);
    await allToolsGone(root);
    expect(root.tree()).toEqual(before);
  });

  it('leaves nothing behind when its output is closed', async () => {
    const root = newRoot(shell);
    root.tool('fake/much', 'exec /usr/bin/head -c 900000 /dev/zero');
    const before = root.tree();
    const probes = [probe('much', { maxBytes: 1_000_000 })];
    const { child, end } = startScript(shell, observeScript({ probes, boundary, rootPrefix: root.folder }));
    child.stdout?.destroy();
    expect((await end).code).not.toBe(0);
    await allToolsGone(root);
    expect(root.tree()).toEqual(before);
  });

  it('reports that it could not create its folder', async () => {
    const root = newRoot(shell);
    root.tool('usr/bin/mktemp', 'exit 1');
    root.tool('fake/well', 'printf "fine\\n"');
    expect((await observe(shell, root, [probe('well')])).get('well')?.missing).toBe('not-asked');
    expect(root.started().map((one) => one.tool)).toEqual(['usr/bin/mktemp']);
  });

  it('never removes a folder that it did not create', async () => {
    const root = newRoot(shell);
    root.file('precious/file', 'x');
    root.tool('usr/bin/mktemp', 'printf "%s\\n" "$R/precious"');
    expect((await observe(shell, root, [probe('well')])).get('well')?.missing).toBe('truncated');
    expect(root.tree()).toContainEqual(expect.stringMatching(/^precious\/file .* x$/));
  });
});

describe('the observation command line', () => {
  it.each(loginShells)('is passed on unchanged by $name', async (login) => {
    const root = newRoot();
    const odd = 'a\nb\\ \'\\\' "$R" `x` !! ~ \\\\';
    root.tool('fake/argv', 'printf "<%s>" "$@"');
    const probes = [probe('argv', { ask: [fake('argv'), odd] })];
    const { end } = startScript(login, observeCommand({ probes, boundary, rootPrefix: root.folder }));
    expect(parseFrames((await end).stdout, { probes, boundary })[0]).toMatchObject({ stdout: `<${odd}>` });
  });
});

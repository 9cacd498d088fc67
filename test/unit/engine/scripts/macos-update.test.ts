import { describe, expect, it } from 'vitest';
import { launchBody } from '../../../../src/engine/scripts/job.ts';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { restartBody } from '../../../../src/rack/boot/restart-script.ts';
import { onceInSession, refuseOrder } from '../../../../src/rack/macos/update-scripts.ts';
import { bootSession, changed, type MacRoot, ours, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, key, makeJobRoot, runJob } from './run-job.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);
const label = 'macOS Tahoe 26.7-25G229';
const secret = `it's "a" \\ $secret`;
const install: JobCall = { name: 'install-macos', args: { label, user: 'mesh' } };
const launching = (from = bootSession, run = 'first'): string =>
  onceInSession(key, from, run) + launchBody(key, install, { token: secret });
const restarting = restartBody({ intent: 'reboot-1', from: bootSession, to: 'up', delaySeconds: 9 });

/** A Mac whose softwareupdate does this; it keeps what it reads from standard input. */
function withTool(body: string): MacRoot {
  const root = newRoot(shell);
  root.recorded('usr/sbin/softwareupdate', body);
  return root;
}

const calls = (root: MacRoot): readonly string[] =>
  root.calls().filter((line) => line.startsWith('softwareupdate --install'));

describe('the installation of a macOS update', () => {
  it('gets the password on standard input, and in no argument and no file of the job', async () => {
    const root = withTool('/bin/cat >"$R/stdin"');
    expect((await root.runBody(launching())).result).toMatchObject({ isChanged: true });
    expect(await ended(root)).toEqual({ state: 'ended', exit: 0 });
    expect(root.read('stdin')).toBe(`${secret}\n`);
    expect(calls(root)).toEqual([`softwareupdate --install ${label} --restart --user mesh --stdinpass`]);
    expect(root.tree().filter((line) => line.includes(secret) && !line.includes('stdin'))).toEqual([]);
  });

  it('is started only once in a boot session, whatever its exit code says', async () => {
    const root = withTool('exit 0');
    await root.runBody(launching());
    await ended(root);
    expect((await root.runBody(launching(bootSession, 'second'))).result).toEqual(unchanged);
    expect((await root.runBody(launching('ANOTHER-SESSION', 'second'))).result).toEqual(unchanged);
    // A script that is sent again after a lost connection finds its own launch.
    expect((await root.runBody(launching())).result).toEqual(changed);
    expect(calls(root)).toHaveLength(1);
  });

  it('is started again after the tool has refused the password', async () => {
    const root = withTool('echo "Failed to authenticate" >&2; exit 1');
    await root.runBody(launching());
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'update-refused' } });
    expect((await root.runBody(launching())).result).toMatchObject({ isChanged: true });
    await ended(root);
    expect(calls(root)).toHaveLength(2);
  });

  it.each([
    ['a failure with exit code 0', 'echo "Error downloading updates."'],
    ['an exit code without a text', 'exit 3'],
  ])('fails for %s', async (_, body) => {
    const root = withTool(body);
    await root.runBody(launching());
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'update-failed' } });
  });

  it('keeps other scripts from restarting the Mac until the tool has failed', async () => {
    const root = withTool('exit 0');
    await root.runBody(launching());
    await ended(root);
    expect((await root.runBody(restarting)).result).toMatchObject({ kind: 'failed', slug: 'updating' });
    root.file(`${ours}/ops/${key}/failure`, 'update-failed x\n');
    expect((await root.runBody(restarting)).result).toEqual(changed);
  });
});

describe('a macOS update that a program on the controller orders', () => {
  const ordering = (run: string): string =>
    onceInSession(key, bootSession, run) + launchBody(key, { name: 'install-macos', args: { label } });

  it('is recorded once in a boot session, and blocks other restarts, until the program refuses it', async () => {
    const root = withTool('exit 0');
    expect((await root.runBody(ordering('first'))).result).toMatchObject({ isChanged: true });
    expect((await root.runBody(ordering('second'))).result).toEqual(unchanged);
    expect((await root.runBody(restarting)).result).toMatchObject({ kind: 'failed', slug: 'updating' });
    expect((await root.runBody(refuseOrder(key, "it's full"))).result).toEqual(changed);
    expect(await ended(root)).toMatchObject({ exit: 1, failure: { slug: 'update-failed', text: "it's full" } });
    expect(calls(root)).toEqual([]);
    expect((await root.runBody(ordering('second'))).result).toMatchObject({ isChanged: true });
    await root.runBody(refuseOrder(key, 'the end of the test'));
  });

  it('is not refused without a record', async () => {
    expect((await withTool('exit 0').runBody(refuseOrder(key, 'x'))).result).toEqual(unchanged);
  });
});

describe('the download of a macOS update', () => {
  it('reports the share of the size in the list', async () => {
    const list = `* Label: Safari-1\\n\\tTitle: Safari, Version: 1, Size: 9KiB,\\n* Label: ${label}\\n\\tTitle: macOS, Version: 26.7, Size: 2000KiB, Recommended: YES,\\n`;
    const root = withTool(
      `case $1 in (--list) printf '${list}' ;; (*) printf 'Downloading: 12.50%%\\rDownloading: 50.00%%\\r'; /bin/sleep 3; echo Downloaded ;; esac`,
    );
    const ran = runJob(root, { name: 'download-macos', args: { label } });
    expect(await ran).toEqual({ state: 'ended', exit: 0, done: 2_048_000, total: 2_048_000 });
  });

  it('fails with the text of the tool', async () => {
    const root = withTool('case $1 in (--download) echo "Error downloading updates." >&2; exit 1 ;; esac');
    expect(await runJob(root, { name: 'download-macos', args: { label } })).toMatchObject({
      failure: { slug: 'update-failed', text: 'Error downloading updates.' },
    });
  });
});

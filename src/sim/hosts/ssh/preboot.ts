import type { Connection, ServerChannel } from 'ssh2';

/**
 * What the sshd of a Mac that waits for its FileVault password says before it asks for one: three lines, as captured
 * from `ssh host` against a locked macOS 26 and published in the README of avm, a tool for macOS virtual machines.
 *
 * @see apple_ssh_and_filevault(7): password only, no keys, wired network only
 */
export const prebootBanner =
  'This system is locked. To unlock it, use a local account\nname and password. Once successfully\nunlocked, you will be able to connect normally.';

/** What it says once the password was right, from the same capture; then the connection ends. */
export const unlockedText = 'System successfully unlocked.\n';

/** A client that asks for no session is dropped as well. */
const patienceMs = 1_000;

/** Serves a client whose password was right: says so in whatever session it opens, and drops the connection. */
export function servePreboot(connection: Connection, unlock: () => void): void {
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    connection.end();
    unlock();
  };
  const timer = setTimeout(end, patienceMs);
  const say = (channel: ServerChannel): void => {
    channel.on('error', () => undefined);
    channel.write(unlockedText);
    channel.exit(0);
    channel.end();
    setTimeout(end, patienceMs / 20);
  };
  connection.on('session', (accept) => {
    const session = accept();
    session.on('pty', (acceptPty) => acceptPty?.());
    session.on('shell', (acceptShell) => say(acceptShell()));
    session.on('exec', (acceptExec) => say(acceptExec()));
  });
  connection.once('close', end);
}

/** A Mac takes one attempt in so many of its seconds without complaint; whoever comes sooner is counted. */
export const attemptPauseMs = 15_000;

import { spawn } from 'node:child_process';

/** Runs a command line as sshd does, and returns its output. */
export function run(command: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
  const out: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  return new Promise((resolve) => {
    child.on('close', () => resolve(Buffer.concat(out).toString('utf8')));
  });
}

import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** The exit code and the output of a process that gets this input, while this process continues serving. */
export async function finished(child: ChildProcessWithoutNullStreams, input: string) {
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, ...text };
}

import { execFileSync } from 'node:child_process';

/** The lines of a log that match a pattern in awk, as an observation reads them. */
export function keptByAwk(pattern: string, lines: readonly string[]): readonly string[] {
  const out = execFileSync('awk', ['BEGIN { p = ENVIRON["P"] } $0 ~ p'], {
    input: lines.join('\n'),
    env: { ...process.env, P: pattern },
  });
  return out.toString().trim().split('\n');
}

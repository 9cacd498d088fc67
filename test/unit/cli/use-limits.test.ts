import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useLimits } from '../../../src/cli/use-limits.ts';
import type { Run } from '../../../src/cli/verb.ts';
import { readSecrets } from '../../../src/diagnostics/hide-secrets.ts';
import { given } from '../../../src/model/given.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { problemsOf } from '../problems-of.ts';

const { path: folder, at, write } = temporaryFolder();

/** Records one command, as with `--record NAME`. */
function record(name: string, script?: string): void {
  const secrets = readSecrets();
  secrets.add('hf_abc');
  const run = { folder, options: { record: name, deadline: 1_000, verbose: false }, secrets } as unknown as Run;
  useLimits(run).onRemote?.({ kind: 'sent', node: 'studio-1', name: 'test', command: 'uname', ...given({ script }) });
}

// trust L6.
describe('the record of sent commands', () => {
  it('is appended to a file that only its owner can read', () => {
    record('new.ndjson');
    record('new.ndjson');
    const created = at('new.ndjson');
    const line = '{"node":"studio-1","command":"uname"}\n';
    expect([readFileSync(created, 'utf8'), statSync(created).mode & 0o777]).toEqual([line + line, 0o600]);
    const old = write('old.ndjson', 'before\n', 0o644);
    record('old.ndjson');
    expect([readFileSync(old, 'utf8'), statSync(old).mode & 0o777]).toEqual([`before\n${line}`, 0o600]);
  });

  it('contains none of the secrets that the command has read', () => {
    record('secret.ndjson', "launch 'hf_abc'");
    expect(readFileSync(at('secret.ndjson'), 'utf8')).toContain(`"launch '********'"`);
  });

  it('does not follow links or wait for a reader of a pipe', () => {
    const mine = write('mine', 'mine');
    symlinkSync('mine', at('link.ndjson'));
    execFileSync('mkfifo', [at('pipe.ndjson')]);
    for (const name of ['link.ndjson', 'pipe.ndjson']) {
      expect(problemsOf(() => record(name))).toMatchObject([{ code: 'cli/cannot-write' }]);
    }
    expect(readFileSync(mine, 'utf8')).toBe('mine');
    expect(problemsOf(() => record('/dev/null'))).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { useLimits } from '../../../src/cli/use-limits.ts';
import type { Run } from '../../../src/cli/verb.ts';
import { FleetError } from '../../../src/diagnostics/diagnostic.ts';
import { readSecrets } from '../../../src/diagnostics/hide-secrets.ts';
import { given } from '../../../src/model/given.ts';

const folder = mkdtempSync(join(tmpdir(), 'mw-record-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Records one command, as with `--record NAME`. */
function record(name: string, script?: string): void {
  const secrets = readSecrets();
  secrets.add('hf_abc');
  const run = { folder, options: { record: name, deadline: 1_000, verbose: false }, secrets } as unknown as Run;
  useLimits(run).onRemote?.({ kind: 'sent', node: 'studio-1', name: 'test', command: 'uname', ...given({ script }) });
}

function codeOf(act: () => void): string {
  try {
    act();
    return 'none';
  } catch (error) {
    return error instanceof FleetError ? error.diagnostics[0].code : String(error);
  }
}

// trust L6.
describe('the record of sent commands', () => {
  it('is appended to a file that only its owner can read', () => {
    record('new.ndjson');
    record('new.ndjson');
    const at = join(folder, 'new.ndjson');
    const line = '{"node":"studio-1","command":"uname"}\n';
    expect([readFileSync(at, 'utf8'), statSync(at).mode & 0o777]).toEqual([line + line, 0o600]);
    const old = join(folder, 'old.ndjson');
    writeFileSync(old, 'before\n', { mode: 0o644 });
    record('old.ndjson');
    expect([readFileSync(old, 'utf8'), statSync(old).mode & 0o777]).toEqual([`before\n${line}`, 0o600]);
  });

  it('has no secret that the command has read', () => {
    record('secret.ndjson', "launch 'hf_abc'");
    expect(readFileSync(join(folder, 'secret.ndjson'), 'utf8')).toContain(`"launch '********'"`);
  });

  it('does not follow links or wait for a reader of a pipe', () => {
    writeFileSync(join(folder, 'mine'), 'mine');
    symlinkSync('mine', join(folder, 'link.ndjson'));
    execFileSync('mkfifo', [join(folder, 'pipe.ndjson')]);
    expect(['link.ndjson', 'pipe.ndjson'].map((name) => codeOf(() => record(name)))).toEqual([
      'cli/cannot-write',
      'cli/cannot-write',
    ]);
    expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('mine');
    expect(codeOf(() => record('/dev/null'))).toBe('none');
  });
});

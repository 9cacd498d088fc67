import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAboutTrust, needTrust } from '../../../../src/cli/cluster/trust.ts';
import { isInside } from '../../../../src/cli/files/places.ts';
import { FleetError } from '../../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { TrustRequest } from '../../../../src/model/trust.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { fakeRun } from '../console-of.ts';

const { path: folder, at, write } = temporaryFolder();
const outside = temporaryFolder();
write('cluster.yaml', 'schema: 1\n');

const request = (kind: TrustRequest['kind'], value: string): TrustRequest => ({ kind, value, use: 'a test' });

async function need(requests: readonly TrustRequest[], trust: readonly string[] = [], lines = ''): Promise<string> {
  const { run } = fakeRun({
    folder,
    env: { MESHWRIGHT_TRUST: lines },
    options: { parallel: 1, deadline: 1, color: false, trust },
  });
  try {
    await needTrust(run, requests);
    return 'allowed';
  } catch (error) {
    return error instanceof FleetError && isAboutTrust(error) ? plainText(error.diagnostics[0].hint) : String(error);
  }
}

describe('a file or program that a cluster file asks for', () => {
  it("is allowed if it is in the cluster file's folder, even if a link leads into the folder", async () => {
    mkdirSync(at('models'));
    symlinkSync(folder, outside.at('way'));
    for (const path of [at('models/tiny'), at('later/none'), outside.at('way/models')])
      expect(await need([request('file', path)])).toBe('allowed');
  });

  it("is refused if it is outside the file's folder, even if a link in the folder leads to it", async () => {
    symlinkSync(outside.path, at('elsewhere'));
    for (const path of [outside.at('x'), at('../x'), at('elsewhere/x'), `${folder}-other/x`])
      expect(await need([request('file', path)])).toContain(`--trust file=${path}`);
    expect(isInside('/', '/etc/hosts')).toBe(true);
  });

  it("is allowed outside the file's folder only by the caller's exact arguments", async () => {
    const program = request('program', "sh -c 'op read x'");
    expect(await need([program, request('env', 'HF_TOKEN')])).toBe(
      `Check the file. If you agree, add:\n  --trust 'program=sh -c '\\''op read x'\\''' --trust env=HF_TOKEN`,
    );
    expect(await need([program], ['program=sh -c'])).toContain('--trust');
    expect(await need([program, request('env', 'HF_TOKEN')], ["program=sh -c 'op read x'"], 'env=HF_TOKEN\n')).toBe(
      'allowed',
    );
    expect(await need([request('host', 'evil.lan')], ['token-host=evil.lan'])).toContain('--trust host=evil.lan');
  });

  it.each(['all', 'everything=x', 'env='])('is not allowed by %j, which is a usage error', async (word) => {
    expect(await need([request('env', 'A')], [word])).toContain('is not something to trust');
  });
});

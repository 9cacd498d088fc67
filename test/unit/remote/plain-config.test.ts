import { describe, expect, it } from 'vitest';
import { isPlainConfig, readIfThere } from '../../../src/remote/resolve-reach.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const { path: folder, at, write } = temporaryFolder();
const put = (name: string, ...lines: readonly string[]): string => write(name, lines.join('\n'));
const includeFolder = at('ssh');
const isPlain = (...lines: readonly string[]): Promise<boolean> =>
  isPlainConfig({ file: put('config', ...lines), includeFolder });

put('ssh/plain.conf', 'Host *', '  Compression yes');
put('ssh/port.conf', 'Port 22');
put('ssh/port.txt', 'Port 22');
put('ssh/d/plain.conf', '# nothing');
put('a1/plain.conf', '');
// Each file includes the previous file; the first is empty.
for (let n = 0; n < 9; n += 1) put(`ssh/chain-${n}`, n === 0 ? '' : `Include chain-${n - 1}`);

describe('an ssh_config', () => {
  it('is read as undefined if missing, but throws other read errors', async () => {
    expect(await readIfThere(put('text', 'as it is'))).toBe('as it is');
    for (const name of ['nowhere', 'text/below-a-file']) expect(await readIfThere(at(name))).toBeUndefined();
    await expect(readIfThere(folder)).rejects.toThrow('EISDIR');
  });

  it('counts as plain if missing, but not if unreadable', async () => {
    expect(await isPlainConfig({ file: at('nowhere'), includeFolder })).toBe(true);
    expect(await isPlainConfig({ file: folder, includeFolder })).toBe(false);
  });

  it.each([
    [['']],
    [['# comment', 'Host *', 'SendEnv LANG']],
    [['Include plain.conf']],
    [['Include nowhere.conf', 'Include nowhere/*']],
    [['Include pl*.conf']],
    [['Include plai?.conf nowhere']],
    [['Include d/*']],
    [['Include chain-7']],
  ])('counts as plain with %j', async (lines) => {
    expect(await isPlain(...lines)).toBe(true);
  });

  it.each([
    [['Port 22']],
    [['Host *', 'User mesh']],
    [['Include port.conf']],
    [['Include plain.conf port.conf']],
    [['Include plain.conf', 'Include po*']],
    [['Include p*.conf']],
    [['Include p?rt.txt']],
    // ssh would also take several folders, or a set of letters.
    [[`Include ${folder}/a?/plain.conf`]],
    [[`Include ${folder}/*/nowhere`]],
    [[`Include ${folder}/a[1]/plain.conf`]],
    [['Include plai[n].conf']],
    [['Include chain-8']],
    [['Include config', `Include ${folder}/config`]],
  ])('does not count as plain with %j', async (lines) => {
    expect(await isPlain(...lines)).toBe(false);
  });
});

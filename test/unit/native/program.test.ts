import { arch, platform } from 'node:process';
import { describe, expect, it } from 'vitest';
import { nativeFile, nativeProgram } from '../../../src/native/program.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('a native file', () => {
  const here = { platform, arch };
  const { at, write } = temporaryFolder();

  it('is absent if nothing is compiled', () => {
    expect(nativeFile('one', here, at('nothing'))).toBeUndefined();
    expect(nativeProgram('plan9', 'mips')).toBeUndefined();
  });

  it('is taken from the package rather than from the local build', () => {
    const built = write('both/build/one', '');
    expect(nativeFile('one', here, at('both'))).toBe(built);
    const prebuilt = write(`both/prebuilds/${platform}-${arch}/one`, '');
    expect(nativeFile('one', here, at('both'))).toBe(prebuilt);
  });

  it('is taken from the build only for this platform and architecture', () => {
    write('other/build/one', '');
    for (const target of [
      { platform, arch: 'other' },
      { platform: 'other', arch },
    ]) {
      expect(nativeFile('one', target, at('other'))).toBeUndefined();
    }
    const other = write('other/prebuilds/other-one/one', '');
    expect(nativeFile('one', { platform: 'other', arch: 'one' }, at('other'))).toBe(other);
  });
});

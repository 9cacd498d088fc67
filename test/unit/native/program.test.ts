import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { arch, platform } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nativeFile, nativeProgram } from '../../../src/native/program.ts';

describe('a native file', () => {
  const here = { platform, arch };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'native-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (path: string): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    return file;
  };

  it('is absent if nothing is compiled', () => {
    expect(nativeFile('one', here, folder)).toBeUndefined();
    expect(nativeProgram('plan9', 'mips')).toBeUndefined();
  });

  it('is taken from the package before it is taken from the build', () => {
    const built = write('build/one');
    expect(nativeFile('one', here, folder)).toBe(built);
    const prebuilt = write(`prebuilds/${platform}-${arch}/one`);
    expect(nativeFile('one', here, folder)).toBe(prebuilt);
  });

  it('is taken from the build only for this platform and architecture', () => {
    write('build/one');
    expect(nativeFile('one', { platform, arch: 'other' }, folder)).toBeUndefined();
    expect(nativeFile('one', { platform: 'other', arch }, folder)).toBeUndefined();
    const other = write('prebuilds/other-one/one');
    expect(nativeFile('one', { platform: 'other', arch: 'one' }, folder)).toBe(other);
  });
});

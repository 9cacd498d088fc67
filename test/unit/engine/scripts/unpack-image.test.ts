import { describe, expect, it } from 'vitest';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { stagedArchive, stagedTree } from '../../../../src/node/paths/own-paths.ts';
import { removedAfter } from './node-root.ts';
import { isVerified, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleRuntime } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);

describe.each(scriptShells)('unpack-runtime of a disk image in $name', (shell) => {
  it('copies the image without its links and unmounts it', async () => {
    const root = newRoot(shell);
    const image = stagedArchive(exampleRuntime, 'dmg').path;
    root.file(image, 'an image');
    const call: JobCall = {
      name: 'unpack-runtime',
      args: { tree: exampleRuntime, archive: 'dmg', sha256: sha256('an image'), extras: [] },
    };
    root.recorded(
      'usr/bin/hdiutil',
      `case $1 in (attach) [ -d "$6" ] && [ -f "$7" ] || exit 1; /bin/mkdir -p "$6/EXO.app/bin"; printf x >"$6/EXO.app/bin/exo"; /bin/ln -s /Applications "$6/Applications" ;;
(detach) [ -d "$2/EXO.app" ] || exit 1; /bin/rm -r "$2/EXO.app" "$2/Applications" ;; esac`,
    );
    root.recorded('usr/bin/ditto', '/bin/cp -pR "$1" "$2"');
    expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    const staged = stagedTree(exampleRuntime).path;
    const seen = root.tree().filter((line) => line.startsWith(`${staged.slice(1)}/`));
    expect(seen.map((line) => line.split(' ')[0]).filter((path) => !path?.endsWith('/'))).toEqual([
      `${staged.slice(1)}/EXO.app/bin/exo`,
    ]);
    const mount = `${root.folder}${staged}.image`;
    expect(root.calls().filter((line) => line.startsWith('hdiutil'))).toEqual([
      `hdiutil detach ${mount} -force`,
      `hdiutil attach -nobrowse -readonly -noautoopen -mountpoint ${mount} ${root.folder}${image}`,
      `hdiutil detach ${mount} -force`,
    ]);
    expect(root.has(`${staged}.image`)).toBe(false);
  });

  it('unmounts an image that cannot be copied', async () => {
    const root = newRoot(shell);
    root.file(stagedArchive(exampleRuntime, 'dmg').path, 'an image');
    root.recorded('usr/bin/hdiutil', 'case $1 in (attach) : >"$6/EXO.app" ;; (detach) /bin/rm -f "$2/EXO.app" ;; esac');
    root.recorded('usr/bin/ditto', 'echo "ditto: EXO.app: No space left on device" >&2; exit 1');
    const args = { tree: exampleRuntime, archive: 'dmg', sha256: sha256('an image'), extras: [] } as const;
    expect(await runJob(root, { name: 'unpack-runtime', args })).toMatchObject({ failure: { slug: 'disk-full' } });
    expect(root.calls().filter((line) => line.startsWith('hdiutil detach'))).toHaveLength(2);
    expect(isVerified(root, exampleRuntime)).toBe(false);
  });
});

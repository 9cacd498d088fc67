import { describe, expect, it } from 'vitest';
import { shared } from '../../../../rack/kept-running.ts';
import { bareNode } from '../bare-node.ts';

const node = shared(bareNode);

describe("a simulated node's disk images", () => {
  const attach = 'hdiutil attach -nobrowse -readonly -noautoopen -mountpoint';

  it('can be attached at a folder, copied from and detached', async () => {
    const ran = await node.sh(`mkdir -p tree/EXO.app/bin image copy; printf x >tree/EXO.app/bin/exo
tar -czf exo.dmg -C tree EXO.app; ${attach} image exo.dmg | cut -f 3
ditto image/EXO.app copy/EXO.app; hdiutil detach image -force; find copy image -type f; hdiutil detach image -force`);
    expect(ran).toEqual({
      code: 1,
      out: '\nimage\n"disk4" ejected.\ncopy/EXO.app/bin/exo\n',
      err: 'hdiutil: detach failed - No such file or directory\n',
      unknown: '',
    });
  });

  it('are rejected if invalid or with other options', async () => {
    expect(await node.sh(`mkdir -p there; printf x >no.dmg; ${attach} there no.dmg`)).toMatchObject({
      code: 1,
      err: 'hdiutil: attach failed - image not recognized\n',
    });
    expect((await node.sh('hdiutil attach exo.dmg')).unknown).toBe('/usr/bin/hdiutil 2:attach exo.dmg');
    expect((await node.sh('hdiutil info')).unknown).toContain('/usr/bin/hdiutil 1:info');
    expect((await node.sh('ditto -x -k a b')).unknown).toContain('/usr/bin/ditto 4:-x -k a b');
    expect(await node.sh('ditto nothing target')).toMatchObject({ code: 1, unknown: expect.anything() });
  });
});

import { describe, expect, it } from 'vitest';
import { openToOthers } from '../../../../src/cli/files/read-file.ts';
import { type ConsoleTraits, consoleCapabilities, pageFor } from '../../../../src/cli/terminal/console.ts';

const terminal: ConsoleTraits = {
  env: { TERM: 'xterm', LANG: 'en_GB.UTF-8' },
  noColor: false,
  isOutTty: true,
  isErrTty: true,
  terminalColumns: 120,
};

describe("a console's appearance", () => {
  it("has color, Unicode and the terminal's width", () => {
    expect(consoleCapabilities(terminal)).toEqual({
      columns: 120,
      canRewrite: true,
      hasColor: true,
      hasErrColor: true,
      hasUnicode: true,
    });
  });

  it.each([
    ['--no-color', { noColor: true }],
    ['NO_COLOR', { env: { NO_COLOR: '1' } }],
    ['TERM=dumb', { env: { TERM: 'dumb' } }],
  ] as const)('has no color with %s', (_name, change) => {
    expect(consoleCapabilities({ ...terminal, ...change })).toMatchObject({ hasColor: false, hasErrColor: false });
  });

  it('decides on color separately for each stream', () => {
    expect(consoleCapabilities({ ...terminal, isOutTty: false })).toMatchObject({ hasColor: false, hasErrColor: true });
    expect(consoleCapabilities({ ...terminal, isErrTty: false })).toMatchObject({ hasColor: true, hasErrColor: false });
  });

  it.each([
    [{ LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, false],
    [{ LC_ALL: '', LC_CTYPE: 'C.utf8' }, true],
    [{ LANG: 'C' }, false],
    [{}, false],
    [{ LANG: 'de_DE.UTF-8', TERM: 'dumb' }, false],
  ])('has Unicode with %j: %s', (env, hasUnicode) => {
    expect(consoleCapabilities({ ...terminal, env })).toMatchObject({ hasUnicode });
  });

  it.each([
    [0, undefined, 80],
    [-1, undefined, 80],
    [Number.NaN, undefined, 80],
    [undefined, '100', 100],
    [0, '100', 100],
    [60, '100', 60],
    [undefined, '0', 80],
    [undefined, '-5', 80],
    [undefined, '1e9', 80],
    [undefined, 'w100', 80],
    [undefined, '100w', 80],
    [undefined, '9999', 9_999],
    [undefined, '10000', 80],
  ])('has a width from %s terminal columns and COLUMNS=%s: %s', (terminalColumns, variable, columns) => {
    expect(consoleCapabilities({ ...terminal, terminalColumns, env: { COLUMNS: variable } })).toMatchObject({
      columns,
    });
  });

  it.each([
    [1, 20],
    [20, 20],
    [200, 200],
  ])('gives a terminal of %i columns a page of %i columns', (columns, width) => {
    expect(pageFor({ columns, hasUnicode: true, hasColor: false, isSimulated: false }).columns).toBe(width);
  });

  it('ignores the width of a terminal that it does not write to', () => {
    expect(consoleCapabilities({ ...terminal, isOutTty: false, env: {} })).toMatchObject({ columns: 80 });
  });
});

const regular = 0o100000;

describe('the permission check for a file', () => {
  const check = (mode: number, uid: number, reader: { uid: number; env?: Record<string, string> }): readonly string[] =>
    openToOthers('cluster.yaml', { mode: regular | mode, uid, gid: uid, folders: [] }, { env: {}, ...reader }).map(
      (one) => `${one.severity} ${one.code}`,
    );
  const warning = 'warning cli/file-open-to-others';

  it.each([
    ['owned by the reader', 0o644, 501, { uid: 501 }, []],
    ['owned by root', 0o644, 0, { uid: 501 }, []],
    ['writable by a group of only the reader', 0o664, 501, { uid: 501 }, []],
    ['writable by everyone', 0o646, 501, { uid: 501 }, [warning]],
    ['owned by a different user', 0o600, 502, { uid: 501 }, [warning]],
    ['owned by a different user and writable by everyone', 0o666, 502, { uid: 501 }, [warning, warning]],
    ['owned by a user and read by root', 0o644, 501, { uid: 0 }, [warning]],
    ['owned by the user who became root', 0o644, 501, { uid: 0, env: { SUDO_UID: '501' } }, []],
    ['not owned by the user who became root', 0o644, 502, { uid: 0, env: { SUDO_UID: '501' } }, [warning]],
    ['owned by a user that only SUDO_UID names', 0o644, 502, { uid: 501, env: { SUDO_UID: '502' } }, [warning]],
    ['writable by everyone, in CI', 0o646, 501, { uid: 501, env: { CI: 'true' } }, ['error cli/file-open-to-others']],
  ] as const)('gives the right result if the file is %s', (_name, mode, uid, reader, found) => {
    expect(check(mode, uid, reader)).toEqual(found);
  });

  it('ignores pipes and devices', () => {
    const pipe = { mode: 0o010666, uid: 7, gid: 7, folders: [] };
    expect(openToOthers('/dev/stdin', pipe, { uid: 501, env: {} })).toEqual([]);
  });

  const details = (gid: number, mode: number, folders: readonly (readonly [string, number, number, number])[]) =>
    openToOthers(
      'cluster.yaml',
      {
        mode: regular | mode,
        uid: 501,
        gid,
        folders: folders.map(([path, bits, uid, group]) => ({ path, mode: 0o040000 | bits, uid, gid: group })),
      },
      { uid: 501, env: {} },
    ).map(({ detail, hint }) => [detail, hint]);

  it("includes the file's group", () => {
    expect(details(20, 0o664, [])).toEqual([
      ['Every member of group 20 can change cluster.yaml.', 'Remove their permission: chmod go-w cluster.yaml'],
    ]);
    expect(details(0, 0o664, [])).toEqual([]);
  });

  it('includes the folders above the file, because anyone who can write to them can replace the file', () => {
    const replaced = (who: string, folder: string, hint: string) => [
      [`${who} can replace cluster.yaml, because they can write to the folder ${folder}.`, hint],
    ];
    const [home, root] = [['/srv/a', 0o755, 501, 501] as const, ['/', 0o755, 0, 0] as const];
    expect(details(501, 0o644, [home, ['/srv', 0o777, 0, 0], root])).toEqual(
      replaced('Every user on this computer', '/srv', 'Remove their permission: chmod go-w /srv'),
    );
    expect(details(501, 0o644, [home, ['/srv', 0o1777, 0, 0], root])).toEqual([]);
    // A container volume that belongs to root and to the group whose number is that of the user.
    expect(details(501, 0o664, [home, ['/srv', 0o2775, 0, 501], root])).toEqual([]);
    expect(details(501, 0o644, [home, ['/srv', 0o2775, 0, 50], root])).toEqual(
      replaced('Every member of group 50', '/srv', 'Remove their permission: chmod go-w /srv'),
    );
    expect(details(501, 0o644, [home, ['/srv', 0o755, 502, 502], root])).toEqual(
      replaced('User 502', '/srv', 'Move the file to a folder of your own.'),
    );
  });
});

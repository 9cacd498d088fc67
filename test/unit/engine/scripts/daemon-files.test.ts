import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { place } from '../../../../src/node/paths/node-paths.ts';
import { quote } from '../../../../src/node/quote.ts';
import { sh } from '../../../../src/node/shell/scripts.generated.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const program = 'Library/Fans/fand';
const spaced = 'Library/Application Support/fan/fand';
const daemon = 'Library/LaunchDaemons/org.fan.plist';

const plist = (inner: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>Label</key><string>org.fan</string>${inner}</dict></plist>
`;
const words = (...all: string[]): string =>
  `<key>ProgramArguments</key><array>${all.map((word) => `<string>${word}</string>`).join('')}</array>`;

const newRoot = removedAfter(makeMacRoot);

describe.each(scriptShells)('the check for writable root daemon files in $name', (shell) => {
  /** Creates a Mac with one daemon, changed by `change`. */
  const mac = (text: string, change: (root: MacRoot) => void = () => undefined): MacRoot => {
    const root = newRoot(shell);
    root.file(program, '');
    root.file(daemon, text);
    change(root);
    return root;
  };
  const mode = (root: MacRoot, path: string, bits: number): void => chmodSync(join(root.folder, path), bits);
  const link = (root: MacRoot, path: string, to: string): void => {
    mkdirSync(dirname(join(root.folder, path)), { recursive: true });
    symlinkSync(to, join(root.folder, path));
  };
  /** The files of the daemon that the account `mesh` can write; `mesh` has groups 20 and 12, and owns nothing. */
  const writable = async (root: MacRoot): Promise<readonly string[] | 'unknown'> => {
    const text = `R=${quote(root.folder)}\nexport R\n${sh.daemonFiles({ launch_daemons: place.launchDaemons })}\nwritable_daemon_file mesh "$("$R/usr/bin/id" -u mesh)" "$("$R/usr/bin/id" -Gn mesh)"\n`;
    const { stdout, stderr, code } = await root.run(text);
    expect(stderr).toBe('');
    if (code !== 0) return 'unknown';
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(root.folder.length + 1)]));
  };
  const fan = plist(words(`/${program}`, '-v'));
  const opened = (path: string) => (root: MacRoot) => mode(root, path, 0o757);

  it('finds none on a healthy Mac or on a Mac without daemons', async () => {
    expect(await writable(mac(fan))).toEqual([]);
    expect(await writable(mac(fan, (root) => rmSync(join(root.folder, daemon))))).toEqual([]);
    expect(await writable(mac(fan, (root) => rmSync(join(root.folder, 'Library'), { recursive: true })))).toEqual([]);
  });

  it.each([
    ['the property list', daemon],
    ['the program', program],
    ["the program's folder", 'Library/Fans'],
    ['a parent folder', 'Library'],
    ['the property list folder', 'Library/LaunchDaemons'],
  ])('finds %s if others may write there', async (_, path) => {
    expect(await writable(mac(fan, opened(path)))).toEqual([path]);
  });

  it('finds a program that its owner or group may write to', async () => {
    const ofGroup = mac(fan, (root) => mode(root, program, 0o770));
    ofGroup.tool(
      'usr/bin/id',
      `case $1 in (-u) printf '4501\\n' ;; (-G) printf '4501 ${process.getgid?.()}\\n' ;; esac`,
    );
    expect(await writable(ofGroup)).toEqual([program]);
    const ofOwner = mac(fan);
    ofOwner.tool('usr/bin/id', `case $1 in (-u) printf '${process.getuid?.()}\\n' ;; (-G) printf '4501\\n' ;; esac`);
    expect(await writable(ofOwner)).toContain(program);
  });

  it.each([
    ['a folder with the sticky bit', 'Library/Fans', 0o1777],
    ['a program with a foreign group', program, 0o770],
  ])('ignores %s', async (_, path, bits) => {
    const root = mac(fan, (one) => mode(one, path, bits));
    root.tool('usr/bin/id', "case $1 in (-u) printf '4501\\n' ;; (-G) printf '4501\\n' ;; esac");
    expect(await writable(root)).toEqual([]);
  });

  const running: readonly (readonly [string, string, string?])[] = [
    ['the Program key', plist(`<key>Program</key><string>/${program}</string>`)],
    ['interpreter arguments', plist(words('/usr/bin/perl', `/${program}`))],
    ['a shell command', plist(words('/bin/sh', '-c', `cd /tmp; "/${program}" &gt;/dev/null`))],
    ['a quoted path with a space', plist(words('/bin/sh', '-c', `exec '/${spaced}' &amp;`)), spaced],
    ["an option's value", plist(words('/bin/sh', `--file=/${program}`))],
    ['a daemon with root as its user', plist(`<key>UserName</key><string>root</string>${words(`/${program}`)}`)],
    [
      'a daemon with a user name in a comment',
      plist(`<!-- <key>UserName</key><string>ana</string> -->${words(`/${program}`)}`),
    ],
    ['a property list with one line per tag', plist(words(`/${program}`)).replaceAll('><', '>\n\t<')],
    [
      'a daemon whose environment names a user',
      plist(
        `${words(`/${program}`)}<key>EnvironmentVariables</key><dict><key>UserName</key><string>ana</string></dict>`,
      ),
    ],
  ];
  const rows = running.map(([what, text, path = program]) => [what, text, path] as const);
  it.each(rows)('finds the program in %s', async (_, text, path) => {
    const root = mac(text, (one) => {
      one.file(path, '');
      mode(one, path, 0o757);
    });
    expect(await writable(root)).toEqual([path]);
  });

  it('finds a program whose name is escaped in XML', async () => {
    const odd = "Library/Fans/a & b's <fan>";
    const text = plist(words('/Library/Fans/a &amp; b&apos;s &lt;fan&gt;'));
    expect(
      await writable(
        mac(text, (root) => {
          root.file(odd, '');
          mode(root, odd, 0o757);
        }),
      ),
    ).toEqual([odd]);
  });

  it.each([
    [
      'a program whose daemon does not run as root',
      plist(`<key>UserName</key><string>ana</string>${words(`/${program}`)}`),
    ],
    ["a daemon's log", plist(`<key>StandardOutPath</key><string>/${program}</string>`)],
    ['a program in an XML comment', plist(`<!-- ${words(`/${program}`)} -->`)],
  ])('ignores %s', async (_, text) => {
    expect(await writable(mac(text, opened(program)))).toEqual([]);
  });

  it('finds every daemon after a truncated property list', async () => {
    const root = mac(fan, (one) => {
      one.file('Library/LaunchDaemons/a.plist', '<plist><!-- <key>UserName</key><string>ana</string>');
      mode(one, program, 0o757);
    });
    expect(await writable(root)).toEqual([program]);
  });

  it('checks link targets and their parent folders', async () => {
    const through = (to: (root: MacRoot) => string) =>
      mac(plist(words('/opt/fan/bin/fand')), (root) => {
        link(root, 'opt/fan', to(root));
        root.file('Cellar/fan/bin/fand', '');
        mode(root, 'Cellar', 0o757);
      });
    expect(await writable(through(({ folder }) => `${folder}/Cellar/fan`))).toEqual(['Cellar']);
    expect(await writable(through(() => '../Cellar/fan'))).toEqual(['opt/../Cellar']);
    // A link to itself does not cause a loop.
    expect(await writable(mac(plist(words('/opt/fan/x')), (root) => link(root, 'opt/fan', 'fan')))).toEqual([]);
  });

  it('finds the program in a binary property list', async () => {
    const binary = mac('bplist00x', opened(program));
    binary.tool('usr/bin/plutil', `[ "$*" = "-convert xml1 -o - $R/${daemon}" ] && printf '%s' ${quote(fan)}`);
    expect(await writable(binary)).toEqual([program]);
    // launchd cannot read such a property list either.
    const broken = mac('bplist00x', opened(program));
    broken.tool('usr/bin/plutil', 'exit 1');
    expect(await writable(broken)).toEqual([]);
  });

  it('follows access control lists', async () => {
    const listed = 'Library/Fans/fand.acl';
    const withList = (entries: string, code = 0): MacRoot => {
      const root = mac(plist(words(`/${listed}`)), (one) => one.file(listed, ''));
      root.tool(
        'usr/bin/id',
        "case $1 in (-u) printf '4501\\n' ;; (-G) printf '20\\n' ;; (-Gn) printf 'staff rack\\n' ;; esac",
      );
      root.tool(
        'bin/ls',
        `[ "$1 $2" = "-lde $R/${listed}" ] || exit 64\nprintf -- '-rw-r--r--+ 1 root  wheel  0 Nov 23 12:00 x\\n${entries}'\nexit ${code}`,
      );
      return root;
    };
    for (const entry of [
      ' 0: user:mesh allow write,append',
      ' 0: group:rack inherited allow delete_child',
      ' 0: group:everyone deny delete\\n 1: group:everyone allow chown',
    ]) {
      expect([entry, await writable(withList(`${entry}\\n`))]).toEqual([entry, [listed]]);
    }
    for (const entry of [' 0: user:ana allow write', ' 0: user:mesh allow read', ' 0: user:mesh deny write']) {
      expect([entry, await writable(withList(`${entry}\\n`))]).toEqual([entry, []]);
    }
    expect(await writable(withList('', 1))).toBe('unknown');
  });

  it('checks the parent folder of a missing program', async () => {
    const without = (change: (root: MacRoot) => void) =>
      mac(fan, (root) => {
        rmSync(join(root.folder, program));
        mode(root, 'Library/Fans', 0o757);
        change(root);
      });
    expect(await writable(without(() => undefined))).toEqual(['Library/Fans']);
    expect(await writable(without((root) => mkdirSync(join(root.folder, program))))).toEqual(['Library/Fans']);
    expect(await writable(without((root) => link(root, program, 'nowhere')))).toEqual(['Library/Fans']);
    // The contents of a folder among the arguments are only data.
    const data = mac(plist(words('/bin/fand', '/Library/Fans')), (root) => mode(root, 'Library/Fans', 0o757));
    expect(await writable(data)).toEqual([]);
  });

  it.each(['usr/bin/awk', 'usr/bin/find', 'usr/bin/id'])('has an unknown result if %s fails', async (path) => {
    const root = mac(fan);
    root.tool(path, 'exit 1');
    expect(await writable(root)).toBe('unknown');
  });
});

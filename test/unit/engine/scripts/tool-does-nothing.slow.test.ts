import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import type { JobCall, ScriptCall } from '../../../../src/model/node-script.ts';
import { tool } from '../../../../src/node/paths/node-paths.ts';
import { baselineValues } from '../../../../src/rack/uninstall/baseline-setting.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, launch } from './run-job.ts';
import { everyText, scriptCalls } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';
import { type Lie, rows, saved } from './tool-lies.ts';

const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);
const newRoot = removedAfter(makeMacRoot);

/**
 * Texts that are not checked here: those composed of others, the one whose example has only one of its keys, and those
 * that run without sudo.
 */
const composed =
  /^(?:script restore-value|third attempt|change of|confirmation|launch of|rank of|stop before|take|steal|renew|release|poll|history|log of|parts of|bytes of|report of|progress of|ask|install|rule of|size|prefix|append)/;

/** Tool calls that only read, tools that only read, and `sync`, whose effect cannot be seen. */
const reading =
  /^(?:networksetup (?:-get|-list)|networksetup$|launchctl print|sudo -l|pmset -g|defaults read|scutil --get|dscl -(?:list|read)|sysctl -n|mdutil -s|socketfilterfw(?: --get|$)|PlistBuddy Print|ifconfig$|plutil -(?:convert|extract)|fdesetup supportsauthrestart|softwareupdate --list|(?:awk|base64|cat|ibv_devices|ibv_devinfo|ioclasscount|ioreg|netstat|sw_vers|cksum|curl|date|df|find|head|id|ls|lsof|perl|pgrep|ps|readlink|sh|sha256sum|shasum|sleep|stat|sync|tail|vmStat|vm_stat|wc)\b)/;
/**
 * `must` checks these calls; without `must`, they only clean up, or move something that another process may also move.
 */
const onFiles = /^(?:rm|rmdir|mv|mkdir|ln|cp|chmod (?:[0-7]|\$))/;
const tools = new Set(Object.values(tool).map(({ path }) => path));

/** Every write in a text, as tool and action, without the two functions that all scripts share. */
function writesOf(body: string): readonly string[] {
  const text = body.replace(/^(?:bootout|net)\(\) \{\n[\s\S]*?\n\}$/gm, '');
  const word = String.raw`(?:"[^"\n]*"|'[^'\n]*'|[^\s;|&<>)"'])+`;
  const calls = text.matchAll(
    new RegExp(String.raw`(?:"\$R(/[\w/]+)"|must (socketfilterfw) "\$f"|must(net))((?: (?!\d?>)${word})*)`, 'g'),
  );
  const seen = [...calls].flatMap(([, path, named, net, rest]) => {
    if (path !== undefined && !tools.has(path as never)) return [];
    const name = named ?? (net === undefined ? path?.replace(/.*\//, '') : 'networksetup') ?? '';
    const words = [...(rest ?? '').matchAll(new RegExp(` (${word})`, 'g'))].map(([, one]) =>
      (one ?? '').replaceAll(/["']/g, ''),
    );
    return [`${name} ${verbOf(name, words)}`.trim()];
  });
  return [...new Set(seen)].filter((one) => !reading.test(one) && !onFiles.test(one)).sort();
}

function verbOf(name: string, words: readonly string[]): string {
  if (name === 'ifconfig') return words[1] ?? '';
  if (name === 'PlistBuddy') return words[1]?.trim() === 'Print' ? 'Print' : (words[1]?.split(' ')[0] ?? '');
  if (name === 'mdutil') return words.includes('-s') ? '-s' : '-i';
  if (name === 'sysctl') return words[0] === '-n' ? '-n' : '';
  if (name === 'dscl') return words[1] === '$@' ? '' : (words[1] ?? '');
  return words[0] === '$@' ? '' : (words[0] ?? '');
}

const valueCalls = baselineValues
  .filter(({ restore }) => restore !== undefined)
  .map(({ key }) => ({ name: 'restore-value', args: { key } }) as const);
const calls: Readonly<Record<string, ScriptCall>> = Object.fromEntries([
  ...scriptCalls.filter(({ name }) => name !== 'restore-value').map((call) => [call.name, call] as const),
  ...valueCalls.map((call) => [`restore-value ${call.args.key}`, call] as const),
]);

/** The message of each failure: most checks of a script fail with the same slug. */
const messages = new Map(
  readFileSync(join(import.meta.dirname, 'golden/tool-does-nothing.txt'), 'utf8')
    .split('\n')
    .map((line) => {
      const at = line.lastIndexOf(' | ');
      return [line.slice(0, at), line.slice(at + 3)];
    }),
);

const lies = Object.entries(rows).flatMap(([script, writes]) =>
  Object.entries(writes).flatMap(([write, row]) => ('slug' in row ? [[script, write, row] as const] : [])),
);

describe('a tool that exits with 0 and does nothing', () => {
  it('has a table row for each write in each script', () => {
    const texts = [
      ...everyText('').filter(([name]) => !composed.test(name)),
      ...valueCalls.map((call) => [`restore-value ${call.args.key}`, scriptBody(call)] as const),
    ];
    const found = new Map<string, Set<string>>();
    for (const [name, text] of texts) {
      const writes = writesOf(text);
      const known = found.get(name.replace('script ', '')) ?? new Set();
      if (writes.length > 0) found.set(name.replace('script ', ''), new Set([...known, ...writes]));
    }
    expect(Object.fromEntries([...found].map(([name, writes]) => [name, [...writes].sort()]))).toEqual(
      Object.fromEntries(Object.entries(rows).map(([name, writes]) => [name, Object.keys(writes).sort()])),
    );
  });

  it.each(lies)('makes %s fail at %s', async (script, write, lie) => {
    const root = newRoot(shell);
    root.tool('bin/sleep', 'exit 0');
    for (const path of liars) root.recorded(path, 'exit 0');
    for (const [path, body] of Object.entries(lie.tools ?? {})) root.recorded(path.replace(/^\//, ''), body);
    for (const [path, text] of Object.entries(lie.files ?? {})) root.file(path, text);
    expect(await endOf(root, script, lie)).toEqual({
      slug: lie.slug,
      text: messages.get(`${script} | ${write}`) ?? '',
    });
    const [name, verb = ''] = write.split(' ');
    const done = root.calls().filter((one) => one.startsWith(`${name} `) && one.includes(verb.replace(/^\$.*/, '')));
    expect(done).not.toEqual([]);
  });

  it.each([
    ['rm -f "$R/a"', 'rm'],
    ['rmdir "$R/d"', 'rmdir'],
    ['mv -f "$R/a" "$R/d/"', 'mv'],
    ['mv -fh "$R/a" "$R/b"', 'mv'],
    ['mkdir -p "$R/d" "$R/e"', 'mkdir'],
    ['ln -s a "$R/b"', 'ln'],
    ['cp -p "$R/a" "$R/b"', 'cp'],
    ['chmod 600 "$R/a"', 'chmod'],
  ])('makes `must` fail at %s', async (words, name) => {
    const root = newRoot(shell);
    root.file('a', '');
    root.file('d/x', '');
    const must = `must tool "$R/bin/${words.replace(' ', '" ')}\nchanged`;
    if (name !== 'rmdir') expect((await root.runBody(must)).result).toMatchObject({ kind: 'done' });
    root.file('a', '');
    await root.run(
      `/bin/rm -rf '${root.folder.replaceAll("'", "'\\''")}/b' '${root.folder.replaceAll("'", "'\\''")}/e'`,
    );
    root.tool(`bin/${name}`, 'exit 0');
    root.tool('usr/bin/stat', "printf '644\\n'");
    const { result } = await root.runBody(must);
    expect(result).toMatchObject({ kind: 'failed', slug: 'tool', text: expect.stringContaining('changed nothing: /') });
  });
});

/** The tools in the rows: each exits with 0 and prints nothing, unless a row replaces it. */
const liars = [
  ...['bin/launchctl', 'sbin/ifconfig', 'usr/bin/defaults', 'usr/bin/ditto', 'usr/bin/hdiutil', 'usr/bin/mdutil'],
  ...['usr/bin/plutil', 'usr/bin/pmset', 'usr/bin/tmutil', 'usr/libexec/PlistBuddy', 'usr/sbin/chown'],
  ...['usr/sbin/networksetup', 'usr/sbin/scutil', tool.socketfilterfw.path.slice(1)],
];

interface Failure {
  readonly slug: string;
  readonly text: string;
}

/** How a script, job or network restore failed; undefined if it succeeded. */
async function endOf(root: MacRoot, script: string, { args = {} }: Lie): Promise<Failure | undefined> {
  if (script.startsWith('job ')) {
    root.tool('bin/ps', 'exec /bin/ps "$@"');
    const call = { name: script.slice(4), args } as JobCall;
    expect(await launch(root, call)).toMatchObject({ kind: 'done' });
    const end = await ended(root);
    // The beginning is the message of this computer's rmdir.
    return end.failure && { ...end.failure, text: end.failure.text.replace(/^.*: (?=Directory not empty)/, '').trim() };
  }
  if (script.startsWith('restoring ')) {
    root.file(`${saved}/restore`, everyText('').find(([name]) => name === script)?.[1] ?? '');
    const folder = root.folder.replaceAll("'", "'\\''");
    const { code } = await root.run(`R='${folder}'\nexport R\n/bin/sh "$R/${saved}/restore"`);
    return { slug: `exit ${code}`, text: '' };
  }
  const call = calls[script] as ScriptCall;
  const { result } = await root.runBody(scriptBody({ ...call, args: { ...call.args, ...args } } as ScriptCall));
  return result.kind === 'failed' ? { slug: result.slug, text: result.text } : undefined;
}

import { spawnSync } from 'node:child_process';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allProbes } from '../../src/engine/observe/facts.ts';
import { jobNames, scriptNames } from '../../src/engine/scripts/registry.ts';
import { observeCommand, observeScript } from '../../src/node/observe-script.ts';
import { tool } from '../../src/node/paths/node-paths.ts';
import { lintNodeScript } from '../lint/node-script-lint.ts';
import { sampleOf } from '../sample.ts';
import { everyText } from '../unit/engine/scripts/script-examples.ts';
import { scriptShells } from '../unit/engine/scripts/shells.ts';
import { filesBelow, textOf } from './sources.ts';

const boundary = '0123456789abcdef0123456789abcdef';

const observation = observeScript({ probes: allProbes(), boundary, rootPrefix: '' });
const probeScripts = allProbes()
  .flatMap(({ name, ask }) => (ask[1] === '-c' ? [[`probe ${name}`, String(ask[2])] as const] : []))
  .map(([name, text]) => [name, text] as const);
const scripts: readonly (readonly [string, string])[] = [
  ['the observation', observation],
  ['an observation in a root folder', observeScript({ probes: allProbes(), boundary, rootPrefix: '/srv/node 1' })],
  ...probeScripts,
  ...everyText('').map(([name, text]) => [name, innerScript(text)] as const),
];

/** The script within the command line of an exec request. */
function innerScript(text: string): string {
  const quoted = /^exec \/bin\/sh -c '([\s\S]*)'$/.exec(text)?.[1];
  return quoted === undefined ? text : quoted.replaceAll(/'(\\.)'/g, (_, escaped: string) => escaped.slice(1));
}

/** The script without its first line and multi-line data, because quoted scripts are checked separately. */
const withoutData = (script: string): string =>
  script
    .replace(/^R='.*'$/m, 'R=')
    .replaceAll(/\\.|"(?:\\[\s\S]|[^"\\])*"|'[^']*'/g, (word) => (/^'[^']*\n/.test(word) ? "''" : word));

const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
const isShellcheckRequired = process.env['MESHWRIGHT_SHELLCHECK'] === 'required';

/**
 * Disabled rules: SC2016 and SC2034 (the script consists of quoted snippets and `eval`), SC2046 (the output of ps is
 * split on purpose), SC2317 (traps), SC2094 (a file is written, waited for and then read), SC3045 (dash and bash both
 * have `ulimit -S`), SC2043 (one probe may have its own deadline).
 */
const disabledRules = 'SC2016,SC2034,SC2043,SC2046,SC2094,SC2317,SC3045';

const files = filesBelow('src').filter((path) => path.endsWith('.sh'));

/** The files that a header names, and the files they use. */
const usedBy = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/^# Uses (\S+)/gm)].flatMap(([, name = '']) => {
    const used = posix.join(posix.dirname(file), name);
    return [...usedBy(used), used];
  });

describe('a .sh file', () => {
  it.skipIf(!hasShellcheck && !isShellcheckRequired).each(files)(
    'passes shellcheck with the values named in its header: %s',
    (file) => {
      const paths = [...new Set(['src/node/shell/write.sh', file].flatMap((one) => [...usedBy(one), one]))];
      const texts = paths.map((path) =>
        path.endsWith('.pl') ? `${posix.basename(path, '.pl')}_program=''\n` : textOf(path),
      );
      const needed = texts.flatMap((text) =>
        [...text.matchAll(/^# Needs (\w+): ./gm)].map(([, name]) => `${name}=''\n`),
      );
      const input = `R='' b='' d=''\n${needed.join('')}${texts.join('')}`;
      const checked = spawnSync('shellcheck', ['-s', 'sh', '-e', disabledRules, '-'], { input, timeout: 120_000 });
      expect([checked.status, checked.stdout?.toString()]).toEqual([0, '']);
    },
  );

  it.each(files)('contains no Mac paths except those of tools: %s', (file) => {
    const tools = Object.values(tool).map(({ path }) => path);
    const named = [...textOf(file).matchAll(/\$R(\/[\w ./-]+)/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !tools.includes(path))).toEqual([]);
  });

  it('is used', () => {
    const used = new Set(files.flatMap(usedBy));
    const code = filesBelow('src').filter((path) => path.endsWith('.ts') && !path.includes('.generated.'));
    const words = new Set(
      code.flatMap((path) => [...textOf(path).matchAll(/\b(?:sh|shared)\.(\w+)\(/g)].map(([, one]) => one)),
    );
    const nameOf = (file: string) =>
      posix.basename(file, '.sh').replaceAll(/-(\w)/g, (one) => one.slice(1).toUpperCase());
    expect(files.filter((file) => !used.has(file) && !words.has(nameOf(file)))).toEqual([]);
  });
});

describe('node scripts', () => {
  it('are all in the generated texts', () => {
    const names = everyText('').map(([name]) => name);
    expect(names.filter((name) => name.startsWith('script ')).sort()).toEqual(
      scriptNames.map((name) => `script ${name}`).sort(),
    );
    expect(new Set(names.filter((name) => name.startsWith('job ')))).toEqual(
      new Set(jobNames.map((name) => `job ${name}`)),
    );
    expect(probeScripts.length).toBe(15);
  });

  it.each(scripts)('contain nothing that a Mac would reject: %s', (_, script) => {
    expect(lintNodeScript(withoutData(script))).toEqual([]);
  });

  it.each(scripts.flatMap(([name, script]) => scriptShells.map((shell) => [name, shell.name, shell, script] as const)))(
    'are valid: %s in %s',
    (_, __, { argv: [command, ...options] }, script) => {
      const read = spawnSync(command, [...options.slice(0, -1), '-n'], { input: script, timeout: 120_000 });
      expect([read.status, read.stderr.toString()]).toEqual([0, '']);
    },
  );

  it.skipIf(!hasShellcheck && !isShellcheckRequired).each(sampleOf(scripts, { few: 1, oneIn: 5 }))(
    'pass shellcheck: %s',
    (_, script) => {
      const checked = spawnSync('shellcheck', ['-s', 'sh', '-e', disabledRules, '-'], {
        input: script,
        timeout: 120_000,
      });
      expect([checked.status, checked.stdout?.toString()]).toEqual([0, '']);
    },
  );

  it("fit in a shell argument and in every SSH server's packet size", () => {
    const command = observeCommand({ probes: allProbes(), boundary, rootPrefix: `/${'x'.repeat(1_000)}` });
    // A payload has 32,768 bytes (RFC 4253, 6.1); the rest is for the request itself.
    expect(Buffer.byteLength(command)).toBeLessThan(31_500);
  });

  it("contain a run's token, but no other value from the run", () => {
    const other = observeScript({ probes: allProbes(), boundary: 'f'.repeat(32), rootPrefix: '' });
    expect(other.replaceAll('f'.repeat(32), boundary)).toBe(observation);
  });
});

describe('the node script linter', () => {
  it.each([
    ['path-without-root', 'cat /etc/hosts'],
    ['path-without-root', 'x="/Library/LaunchDaemons"'],
    ['path-without-root', '"$R/bin/cat" >/tmp/x'],
    ['path-without-root', "exec '/usr/bin/true'"],
    ['path-without-root', 'PATH=$R/usr/bin:/usr/local/bin'],
    ['colon-redirected', '[ -e x ] || : >x'],
    ['echo', 'echo "$x"'],
    ['echo', 'if true; then echo x; fi'],
    ['bare-case-pattern', 'y=$(case $a in a) printf x ;; esac)'],
    ['bare-case-pattern', 'case $a in (a) : ;; b) : ;; esac'],
    ['bare-case-pattern', 'case $a in\n  a | b) : ;;\nesac'],
    ['double-brackets', 'if [[ -n $x ]]; then :; fi'],
    ['local', 'f() { local x; }'],
    ['array', 'x=(1 2)'],
    ['here-string', 'cat <<<"$x"'],
    ['both-streams', 'cmd &>file'],
    ['process-substitution', 'cat <(true)'],
    ['dollar-quote', "printf $'a'"],
    ['brace-range', 'for i in {1..3}; do :; done'],
    ['test-equals', '[ "$a" == b ]'],
    ['substring', 'x=${y:1:2}'],
    ['pipefail', 'set -o pipefail'],
    ['read-option', 'read -t 1 x'],
    ['source', 'source x'],
    ['function-word', 'function f { :; }'],
    ['trap-err', 'trap x ERR'],
    ['printf-q', 'printf %q x'],
    ['case-change', 'x=${y^^}'],
    ['gnu-form:stat', '"$R/usr/bin/stat" -c %s x'],
    ['gnu-form:sed', '"$R/usr/bin/sed" -i s/a/b/ x'],
    ['gnu-form:sed', 'x=$("$R/usr/bin/sed" "s/a/\\n/")'],
    ['gnu-form:date', '"$R/bin/date" -d @0'],
    ['gnu-form:date', '"$R/bin/date" -u +%s%N'],
    ['gnu-form:readlink', '"$R/usr/bin/readlink" -e x'],
    ['gnu-form:base64', '"$R/usr/bin/base64" -w0'],
    ['gnu-form:df', '"$R/bin/df" --output=avail'],
    ['gnu-form:find', '"$R/usr/bin/find" "$d" -printf %p'],
    ['gnu-form:mktemp', 'd=$("$R/usr/bin/mktemp" -d)'],
    ['gnu-form:ps', '"$R/bin/ps" --ppid 1'],
    ['gnu-form:xargs', '"$R/usr/bin/xargs" -d x'],
    ['gnu-form:head', '"$R/usr/bin/head" -n -1'],
    ['gnu-form:cp', '"$R/bin/cp" -t x y'],
    ['gnu-form:du', '"$R/usr/bin/du" -b x'],
    ['gnu-form:ls', '"$R/bin/ls" --time-style=iso'],
    ['gnu-form:sort', '"$R/usr/bin/sort" -V'],
    ['gnu-form:grep', '"$R/usr/bin/grep" -P x'],
    ['gnu-form:tar', '"$R/usr/bin/tar" --zstd -xf x'],
    ['gnu-form:sleep', '"$R/bin/sleep" 1m'],
    ['absent-tool:timeout', 'timeout 5 x'],
    ['absent-tool:sha256sum', 'x | "$R/usr/bin/sha256sum"'],
    ['absent-tool:python3', '"$R/usr/bin/python3" -c pass'],
  ])('reports %s in: %s', (rule, script) => {
    expect(lintNodeScript(`R=''\n${script}\n`).map((one) => one.rule)).toContain(rule);
    expect(lintNodeScript(`R=''\n${script}\n`)[0]?.line).toBe(2);
  });

  it('accepts forms that mean the same on both systems', () => {
    const fine = [
      '"$R/bin/date" -u +%s',
      'd=$("$R/usr/bin/mktemp" -d "$R/tmp/x.XXXXXX")',
      '"$R/bin/ps" -o ppid= -p "$1" 2>/dev/null',
      '"$R/usr/bin/sed" -i \'\' s/a/b/ x',
      'case $a in (a) : ;; (*) : ;; esac',
      '# echo /etc',
      '"$b/ops/"*',
      'x=${y##*/}',
      `"$R"'/odd $ path'`,
      'while IFS= read -r x; do :; done',
    ];
    expect(lintNodeScript(fine.join('\n'))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { inputCheck, objectionsTo } from '../../../../src/sim/hosts/strict-shell.ts';

const root = '/run/roots/studio-1';
const codes = (text: string): readonly number[] => objectionsTo(text, root).map((one) => one.code);
const first = (text: string): string => objectionsTo(text, root)[0]?.text ?? '';
const quoted = (script: string): string => `exec /bin/sh -c '${script.replaceAll("'", "'\\''")}'`;

describe('the strict shell on paths', () => {
  it.each([
    '/usr/bin/stat x',
    'x=1 /bin/ls',
    'true && /bin/ls',
    'if /bin/test -e x; then :; fi',
    'y=$(/usr/bin/id -u)',
    'y="$(/usr/bin/id -u)"',
    'y=`/usr/bin/id -u`',
    "'/usr/bin/stat' x",
    'stat /etc/hosts',
    'stat "/etc/hosts"',
    'echo x >/tmp/file',
    "echo x >'/tmp/file'",
    'cat </etc/passwd',
    'PATH=/usr/bin:/bin',
    "f='/usr/bin/stat'",
    'cat <<EOF && /bin/ls\nbody\nEOF',
    "eval '/bin/ls'",
    "trap '/bin/rm -rf x' EXIT",
    'for f in /etc/*; do :; done',
    '"$R"/bin/sh -c \'/bin/ls\'',
    '/no/such/folder/tool',
    '/run/roots/studio-10/bin/ls',
    'true \r\n/bin/ls\r',
  ])('rejects %s like a Mac without that path', (text) => {
    expect(codes(text)).toContain(127);
    expect(codes(quoted(text))).toContain(127);
  });

  it.each([
    '"$R/usr/bin/stat" x',
    '"$R"/usr/bin/stat x',
    '${R}/usr/bin/stat x',
    '/run/roots/studio-1/usr/bin/stat /run/roots/studio-1/etc/hosts',
    "R='/run/roots/studio-1'",
    'cat </dev/null >/dev/null 2>/dev/stderr',
    "printf '%s\\n' '/usr/bin/stat is a path'",
    "awk '/usr/ { print }' file",
    'sed s/usr/bin/',
    'echo ${x%/usr/*}',
    'cat <<EOF\n/usr/bin/stat\nEOF',
    "cat <<'EOF'\n$(/usr/bin/stat)\nEOF\ntrue",
    'case $x in (/usr/*) : ;; esac',
    '# /usr/bin/stat\ntrue',
    'echo $((4 / 2)) a/b',
  ])('accepts %s', (text) => {
    expect(objectionsTo(text, root)).toEqual([]);
    expect(objectionsTo(quoted(text), root)).toEqual([]);
  });

  it('accepts /bin/sh only as the first command', () => {
    expect(codes("exec /bin/sh -c 'true'")).toEqual([]);
    expect(codes("/bin/sh -c 'true'")).toEqual([]);
    expect(codes("true; exec /bin/sh -c 'true'")).toEqual([127]);
    expect(codes(quoted("/bin/sh -c 'true'"))).toEqual([127]);
  });

  it('reports the missing path and its line', () => {
    expect(first('true\n/usr/bin/stat x')).toMatch(/^sh: line 2: \/usr\/bin\/stat: No such file or directory/);
  });
});

describe('the strict shell on syntax that bash 3.2 rejects', () => {
  it.each([
    'y=$(case a in a) echo 1 ;; esac)',
    'y="$(case a in (b) : ;; a) echo 1 ;; esac)"',
    'y=$(\ncase $x\nin\n  a | b) echo 1 ;;\nesac\n)',
    'y=$( (case a in a) : ;; esac) )',
  ])('rejects an unparenthesized pattern in %j', (text) => {
    expect(first(text)).toMatch(/^sh: -c: line \d: syntax error near unexpected token `;;'$/);
    expect(codes(quoted(text))).toEqual([2]);
  });

  it.each([
    'y=$(case a in (a) echo 1 ;; (b | c) echo 2 ;; esac)',
    'case a in a) echo 1 ;; b) y=$(echo 2) ;; esac',
    'y=`case a in a) echo 1 ;; esac`',
    'f() { case $1 in a) echo 1 ;; esac; }\ny=$(f a)',
    '(case a in a) echo 1 ;; esac)',
  ])('accepts %j', (text) => {
    expect(objectionsTo(text, root)).toEqual([]);
  });

  it.each([
    ['echo ${x^^}', 1],
    ['echo ${x,}', 1],
    ['mapfile -t a', 127],
    ['declare -A m', 2],
    ["printf '%(%s)T' -1", 1],
    ['cat <(echo a)', 2],
    ['a |& b', 2],
    ['case a in (a) : ;& (b) : ;; esac', 2],
  ])('rejects %s with exit code %i', (text, code) => {
    expect(codes(text)).toEqual([code]);
  });
});

describe('the strict shell on incomplete scripts', () => {
  it.each(['', '$(', '`', '<<', ')', ';;', '\\', 'esac)', '((('])('continues with the next line after %j', (text) => {
    expect([codes(text), codes(`/bin/ls\n${text}\n/bin/ls`)]).toEqual([[], [127, 127]]);
  });

  it.each(["'", '"', '${', 'case', 'case x in', '$((', '<<E\n'])('treats all that follows as part of %j', (text) => {
    expect([codes(text), codes(`/bin/ls\n${text}\n/bin/ls`)]).toEqual([[], [127]]);
  });

  it('accepts a long script quickly', () => {
    const script = `y=$(${'case a in (a) echo "$(echo "${x:-1}")" ;; esac; '.repeat(500)})\n`;
    expect(objectionsTo(script, root)).toEqual([]);
  });
});

describe('a script on standard input', () => {
  it('is checked afterwards if a shell reads it', () => {
    const check = inputCheck('"$R/usr/bin/sudo" -n "$R/bin/sh" -s', root);
    expect(check?.('true\n/usr/bin/stat x\n').map((one) => one.code)).toEqual([127]);
  });

  it('is not checked if it is data', () => {
    expect(inputCheck('cat >file', root)).toBeUndefined();
    expect(inputCheck("exec /bin/sh -c 'cat'", root)).toBeUndefined();
  });
});

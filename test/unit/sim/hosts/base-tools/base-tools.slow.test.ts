import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { baseToolFiles, baseTools } from '../../../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { wrapperText } from '../../../../../src/sim/hosts/base-tools/wrapper.ts';
import { accountsText, newDirectory } from '../../../../../src/sim/model/directory.ts';
import { shared } from '../../../../rack/kept-running.ts';
import { bareNode } from '../bare-node.ts';

const node = shared(bareNode);
beforeAll(async () => {
  await node.setState('accounts', accountsText(newDirectory('mesh', [])));
  await node.setState('password', 'simulated\n');
  await state('allowed', 0);
});

async function state(sudo: string, clockOffset: number): Promise<void> {
  await node.setState('sudo', `${sudo}\n`);
  await node.setState('clock-offset', `${clockOffset}\n`);
}

const sh: typeof node.sh = (script, input) => node.sh(script, input);

describe("a simulated node's base tools", () => {
  it.each([
    ['printf "a\\nb\\n" | wc -l', '       2\n'],
    ['printf "a b\\n" | wc', '       1       2       4\n'],
    ['printf x >f1; printf yy >f2; wc -c f1 f2', '       1 f1\n       2 f2\n       3 total\n'],
    ['printf hello | cut -c 1-2', 'he\n'],
    ['printf "b\\na\\n" | sort', 'a\nb\n'],
    ['printf "1\\n2\\n3\\n" | head -n 2', '1\n2\n'],
    ['printf "1\\n2\\n3\\n" | tail -n +3', '3\n'],
    ['printf "axb\\n" | sed -e "s/x/-/"', 'a-b\n'],
    ['printf "ab\\n" | sed -E "s/(a)(b)/\\2\\1/"', 'ba\n'],
    ['printf "a 1\\n" | awk "{ print \\$2 }"', '1\n'],
    ['printf "one\\n" | grep -c one', '1\n'],
    ['printf abc | tr -d b', 'ac'],
    ['printf "" | xargs echo ran', ''],
    ['printf "a b" | xargs -n 1 echo', 'a\nb\n'],
    ['printf hi | base64', 'aGk=\n'],
    ['printf aGk= | base64 -D', 'hi'],
    ['printf abcd >f3; chmod 640 f3; stat -f "%z %Lp" f3', '4 640\n'],
    ['mkdir -p d/e; touch d/e/x; find d -name x -exec basename {} \\;', 'x\n'],
    ['mkdir -p q; ln -sfh q l; ln -sfh d l; readlink l', 'd\n'],
    ['d=$(mktemp -d "$R/tmp/x.XXXXXX"); [ -d "$d" ] && rm -rf "$d" && [ ! -e "$d" ] && echo gone', 'gone\n'],
    ['case $(mktemp -d) in ("$R/tmp/tmp."*) echo there ;; esac', 'there\n'],
    ['case $(mktemp -t name) in ("$R/tmp/name."*) echo there ;; esac', 'there\n'],
    ['ps -o ppid= -p $$ >/dev/null && echo seen', 'seen\n'],
    ['sleep 60 & "$R/bin/kill" -TERM $!; wait $! 2>/dev/null; echo $?', '143\n'],
    ['"$R/bin/echo" -n \'a\\nb\'', 'a\\nb'],
    ['mkdir t1 t2; printf in >t1/f; tar -czf a.tgz -C t1 f; tar -xzf a.tgz -C t2; cat t2/f', 'in'],
    ['ln -s to some-link; readlink some-link', 'to\n'],
    ['mkdir v1; printf v >v1/b; ln -s v1/b v2; readlink -f v2 "$(pwd -P)/v1/b" | sort -u | wc -l', '       1\n'],
    ['printf v >v3; [ "$(stat -f "%d %c" v3)" = "$(stat -f "%d %m" v3)" ] && echo now', 'now\n'],
    [
      'printf v >"v 4"; (exec 3>>"v 4"; lsof -Fcan -- "$PWD/v 4") | sed -e "s|^n.*/|n|" -e "s/^[pc].*/x/" | sort -u',
      'aw\nf3\nnv 4\nx\n',
    ],
    [
      'printf v >v5; exec 4<v5; lsof -Fcan -- "$PWD/v5" | grep ^a | sort -u; lsof -Fcan -- "$PWD/v3"; echo $?',
      'ar\n1\n',
    ],
    ['mkfifo -m 600 o3; cat o3 & printf there >o3; wait; stat -f %Lp o3; rm o3', 'there600\n'],
    ['printf x | tee t3 >t4; cmp -s t3 t4 && echo same', 'same\n'],
    ['id -un; id -u; whoami', 'mesh\n501\nmesh\n'],
    ['dirname /a/b; basename /a/b.c .c', '/a\nb\n'],
    ['env -i A=1 "$R/bin/sh" -c "echo \\$A"', '1\n'],
    ['test -d "$HOME" && true && echo yes', 'yes\n'],
    ['date -u -r 0 "+%Y-%m-%d %H:%M:%S"', '1970-01-01 00:00:00\n'],
    ['date -u -r 0', 'Thu Jan  1 00:00:00 UTC 1970\n'],
    ['ps -ax -o pid= -o ppid= -o pgid= -o stat= >f5; read -r a b c d e <f5; echo "$e${d:+ four}"', ' four\n'],
    ['printf ab >f6; cksum f6; cksum <f6 | cut -c 1-10', '2072780115 2 f6\n2072780115\n'],
    ['mkdir o1 o2; ln -s o1 l1; ln -s o2 l2; mv -fh l2 l1; readlink l1; [ ! -e l2 ] && echo moved', 'o2\nmoved\n'],
    ['printf n >n1; mkdir n2; mv -fh n1 n2; cat n2/n1', 'n'],
    ['printf c >c1; cp -c c1 c2; cat c2', 'c'],
    ['mkdir r1; rmdir r1; [ ! -e r1 ] && echo gone', 'gone\n'],
    ['printf h >h1; ln h1 h2; stat -f "%l %N" h1 h2', '2 h1\n2 h2\n'],
    ['mkdir -p p/q; printf x >p/q/x; chmod -R u+rwX,go+rX,go-w p; stat -f "%Lp %N" p/q p/q/x', '755 p/q\n644 p/q/x\n'],
    [
      'mkdir s; touch s/seal; printf "" | sleep 0.02; touch s/new; find s ! -type d ! -name seal -cnewer s/seal',
      's/new\n',
    ],
    [
      'mkdir s1 s2; touch s1/k s2/k; find s1 s2 ! -type d ! -name x -print \\( -path "s1/*" -cnewer s2/k -o -path "s2/*" -cnewer s2/k \\) -print',
      's1/k\ns2/k\n',
    ],
    ['printf x >w1; sudo -n chown root:wheel w1; sudo -n chown -R mesh . && echo owned', 'owned\n'],
    ['printf "a b" >z1; head -c 2 z1 | base64', 'YSA=\n'],
    ['printf "1\\n2\\n" | awk -F / "{ n += \\$1 } END { print n }"', '3\n'],
    ['mkdir u1 u2; printf in >u1/f; tar -cJf a.txz -C u1 f; tar -tf a.txz; tar -xmf a.txz -C u2; cat u2/f', 'f\nin'],
    ['printf x | shasum -a 256', '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  -\n'],
    ['printf x | sha256sum', '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  -\n'],
    ['printf x >x1; sha256sum x1', '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  x1\n'],
  ])('run as on a Mac: %s', async (script, out) => {
    expect(await sh(script)).toEqual({ code: 0, out, err: '', unknown: '' });
  });

  it.each([
    ['stat -c %s f', 1, 'stat: illegal option -- c'],
    ['stat -f %Sa f', 1, 'stat: unsupported format %Sa'],
    ['sed -i s/a/b/ f', 1, 'sed: illegal option -- i'],
    ["sed 's/a\\+/b/' f", 1, 'sed: an escape that only GNU supports'],
    ['date -d yesterday', 1, 'date: illegal option -- d'],
    ['date +%N', 1, 'date: a format that only GNU supports: +%N'],
    ['date -Iseconds', 1, 'date: illegal option -- Iseconds'],
    ['base64 -w0', 64, "base64: unrecognized option `-w0'"],
    ['find -name x', 1, ''],
    ['find . -printf %p', 1, 'find: -printf: unknown primary or operator'],
    ['mktemp --suffix=.x', 1, 'mktemp: illegal option -- -'],
    ['mktemp plain', 1, 'mktemp: the template must end with XXX'],
    ['ps aux', 1, 'ps: illegal argument'],
    ['ps -e -o cmd', 1, 'ps: cmd: keyword not found'],
    ['xargs -d , echo', 1, 'xargs: illegal option -- d'],
    ['head -n -1 f', 1, 'head: illegal count -- -1'],
    ['head -c 1K f', 1, 'head: illegal count -- 1K'],
    ['grep -P x f', 2, 'grep: illegal option -- P'],
    ['cp --reflink a b', 64, 'cp: illegal option -- -'],
    ['mv -T a b', 64, 'mv: illegal option -- T'],
    ['rm --one-file-system f', 64, 'rm: illegal option -- -'],
    ['sleep 1m', 64, ''],
    ['ls --color', 1, 'ls: illegal option -- -'],
    ['chmod --reference=a b', 1, 'chmod: illegal option -- -'],
    ['awk "BEGIN { print systime() }"', 2, 'awk: a function that only gawk supports'],
    ['sort -V f', 2, 'sort: illegal option -- V'],
    ['"$R/bin/kill" -9 -1', 1, 'kill: illegal process id: -1'],
    ['readlink -m f', 1, 'readlink: illegal option -- m'],
    ['lsof f', 1, 'lsof: only -Fcan -- file ... is supported'],
    ['tar --zstd -xf f', 1, 'tar: Must specify one of'],
    ['tar -xzf f --strip-components=1', 1, 'tar: Option --strip-components=1 is not supported'],
    ['env --chdir=x true', 1, 'env: illegal option -- -'],
    ['chown --reference=f f', 1, 'chown: an owner and files are required'],
    ['mv -h f g', 64, 'mv: illegal option -- h'],
    ['rmdir -p a/b', 1, 'rmdir: illegal option -- p'],
    ['cksum -a sha256 f', 1, 'cksum: illegal option -- a'],
    ['sha256sum -c f', 1, 'sha256sum: illegal option -- c'],
    ["sha256sum 'a\\b'", 1, 'sha256sum: a name with a backslash is not simulated'],
    ['find . -cmin 1', 1, 'find: -cmin: unknown primary or operator'],
  ])('reject as on a Mac and record: %s', async (script, code, complaint) => {
    const ran = await sh(`: >f; ${script}`);
    expect([ran.code, ran.out]).toEqual([code, '']);
    expect(ran.err.split('\n')[0]).toMatch(complaint === '' ? /^usage: / : complaint);
    expect(ran.unknown).toMatch(/^\/(usr\/)?s?bin\/[a-z0-9]+ \d+:/);
  });

  it.each(['timeout 1 true', 'ip link', 'systemctl status', 'nproc', 'setsid true'])(
    'do not include: %s',
    async (script) => {
      expect((await sh(script)).code).toBe(127);
    },
  );

  it('treat options after operands as operands, like getopt on a Mac', async () => {
    const ran = await sh(': >keep; rm keep -f');
    expect([ran.code, ran.unknown]).toEqual([1, '']);
    expect(ran.err).toMatch(/-f/);
  });

  it('include a chown that requires root and existing files', async () => {
    expect((await sh(': >k; chown root:wheel k')).err).toBe('chown: k: Operation not permitted\n');
    expect((await sh('sudo -n chown root:wheel nobody')).err).toBe('chown: nobody: No such file or directory\n');
  });

  it.runIf(process.platform === 'linux')('include a kill that reaches only processes of its own node', async () => {
    const ran = await sh(`sleep 60 & "$R/bin/kill" -9 ${process.pid} $!; echo $?; "$R/bin/kill" -0 ${process.pid}`);
    expect([ran.out, ran.code]).toEqual(['1\n', 1]);
    expect(ran.err).toMatch(`kill: ${process.pid}: No such process\n`);
  });

  it.runIf(process.platform === 'linux')('include a ps that hides processes from other nodes and boots', async () => {
    const ran = await sh(
      `ps -o pid= -p ${process.pid}; echo $?; MW_SIM=test.nod; export MW_SIM; ps -o pid= -p $$; echo $?`,
    );
    expect([ran.out, ran.unknown]).toEqual(['1\n1\n', '']);
  });

  it("include a ps that lists only the node's processes", async () => {
    const ran = await sh('ps -axo pid= | { n=0; while read -r p; do n=$((n + 1)); done; [ "$n" -lt 8 ] && echo few; }');
    expect(ran.out).toBe('few\n');
  });

  it('each name their source and accepted forms', () => {
    for (const tool of baseTools) {
      expect([tool.path, tool.source.text.length > 5, tool.forms.length > 2]).toEqual([tool.path, true, true]);
    }
  });

  it('have wrapper scripts with valid shell syntax for both systems', () => {
    for (const tool of baseTools) {
      for (const isBsd of [true, false]) {
        const text = wrapperText(tool, { host: `/bin/${tool.path.slice(-3)}`, isBsd, user: 'mesh' });
        const read = spawnSync('/bin/sh', ['-n'], { input: text, encoding: 'utf8' });
        expect([tool.path, read.status, read.stderr]).toEqual([tool.path, 0, '']);
      }
    }
  });

  it('omit tools that the machine lacks', () => {
    const paths = baseToolFiles('mesh').map((file) => file.path);
    expect(paths).toContain('/bin/rm');
    expect(paths).not.toContain('/usr/bin/timeout');
  });
});

describe('the simulated sudo', () => {
  it('runs a command and a script from standard input as root', async () => {
    await state('allowed', 0);
    const script = '"$R/usr/bin/sudo" -n "$R/bin/sh" -s; sudo -n -u root -- whoami; echo $?';
    const ran = await sh(script, 'id -u; echo "$SECRET-$SUDO_USER"');
    expect(ran).toEqual({ code: 0, out: '0\n-mesh\nroot\n0\n', err: '', unknown: '' });
  });

  it("drops the caller's environment but keeps LC_ALL", async () => {
    const ran = await sh('export LC_ALL=C OTHER=x; sudo -n env');
    expect(ran.out).toMatch(/^LC_ALL=C$/m);
    expect(ran.out).not.toMatch(/OTHER/);
  });

  it('requires a password and records a call without -n', async () => {
    await state('needs-password', 0);
    expect(await sh('sudo -n true')).toEqual({ code: 1, out: '', err: 'sudo: a password is required\n', unknown: '' });
    expect((await sh('sudo true')).unknown).toMatch(/^\/usr\/bin\/sudo 1:true$/);
  });

  it("lists a different account's rules only to root", async () => {
    await state('allowed', 0);
    const asRoot = (line: string) => sh('sudo -n "$R/bin/sh" -s', `${line}\n`);
    const listed = (name: string) => asRoot(`sudo -l -n -U ${name}`);
    expect(await listed('_www')).toMatchObject({ code: 0, out: 'User _www is not allowed to run sudo on mac.\n' });
    expect((await listed('mesh')).out).toContain('mesh may run the following commands on mac:\n    (ALL) ALL\n');
    expect(await listed('nosuch')).toMatchObject({ code: 1, err: 'sudo: unknown user nosuch\n' });
    await sh(`printf '_www ALL=(root) NOPASSWD: /bin/sh -s\\n' >"$R/private/etc/sudoers.d/w"`);
    expect((await listed('_www')).out).toContain('\n    (root) NOPASSWD: /bin/sh -s\n');
    await sh('rm -f "$R"/private/etc/sudoers.d/w');
    expect(await sh('sudo -l -n -U _www')).toMatchObject({ code: 1, err: 'sudo: a password is required\n' });
  });

  it("applies the calling account's rules", async () => {
    const rule = `printf '_www ALL=(root) NOPASSWD: /bin/sh -s\\n' >"$R/private/etc/sudoers.d/w"`;
    const asks = 'sudo -n "$(command -v sh)" -s </dev/null && echo root; sudo -n true; echo $?';
    const ask = () => sh('sudo -n "$R/bin/sh" -s', `sudo -n -H -u _www sh -c '${asks}'\n`);
    const no = 'sudo: a password is required\n';
    expect(await ask()).toMatchObject({ out: '1\n', err: no + no });
    await sh(rule);
    expect(await ask()).toMatchObject({ out: 'root\n1\n', err: no, unknown: '' });
    await sh('rm -f "$R"/private/etc/sudoers.d/w');
  });

  it('rejects a user who is not in sudoers', async () => {
    await state('denied', 0);
    const ran = await sh('sudo -n true');
    expect([ran.code, ran.err.split('\n')[0]]).toEqual([1, 'mesh is not in the sudoers file.']);
  });

  it('reads the password from standard input and passes the rest to the command', async () => {
    await state('needs-password', 0);
    const ran = await sh(`sudo -S -p '' -k "$R/bin/sh" -c 'id -u; cat'`, 'simulated\nrest\n');
    expect(ran).toEqual({ code: 0, out: '0\nrest\n', err: '', unknown: '' });
  });

  it.each([
    ['bad\n', 'Sorry, try again.\n\nsudo: no password was provided\nsudo: 1 incorrect password attempt\n'],
    ['bad\nbad\nbad\n', 'Sorry, try again.\nSorry, try again.\nsudo: 3 incorrect password attempts\n'],
    ['', '\nsudo: no password was provided\nsudo: a password is required\n'],
  ])('fails like sudo after the input %j', async (typed, err) => {
    expect(await sh(`sudo -S -p '' -k true`, typed)).toEqual({ code: 1, out: '', err, unknown: '' });
  });

  it('applies the rule files in its folder, except names with a dot', async () => {
    const rule = `printf 'mesh ALL=(root) NOPASSWD: /bin/sh -s\\n' >"$R/private/etc/sudoers.d`;
    const use = `sudo -n "$R/bin/sh" -s; sudo -n id -u; echo $?`;
    const dotted = await sh(`${rule}/a.b"; ${use}`, 'id -u\n');
    expect([dotted.out, dotted.unknown]).toEqual(['1\n', '']);
    const ran = await sh(`${rule}/meshwright"; ${use}`, 'id -u\n');
    expect([ran.out, ran.err, ran.unknown]).toEqual(['0\n1\n', 'sudo: a password is required\n', '']);
    await sh('rm -f "$R"/private/etc/sudoers.d/*');
  });
});

describe('the simulated visudo', () => {
  it.each([
    ['mesh ALL=(root) NOPASSWD: /bin/sh -s', 0, /r: parsed OK\n$/],
    ['# only words', 0, /r: parsed OK\n$/],
    ['mesh ALL=(root NOPASSWD: /bin/sh -s', 1, /r:1:\d+: syntax error\n/],
    ['me sh ALL=(root) NOPASSWD: /bin/sh -s', 1, /r:1:\d+: syntax error\n/],
  ] as const)('checks %j', async (line, code, output) => {
    const ran = await sh(`printf '%s\\n' '${line}' >r; "$R/usr/sbin/visudo" -cf "$PWD/r"`);
    expect([ran.code, ran.out + ran.err]).toEqual([code, expect.stringMatching(output)]);
  });

  it('reports a missing file', async () => {
    const ran = await sh('visudo -cf "$R/tmp/none"');
    expect([ran.code, ran.err]).toEqual([1, expect.stringMatching(/^visudo: unable to open .*: No such file/)]);
  });
});

describe('the simulated clock', () => {
  it("runs ahead by the node's offset", async () => {
    await state('allowed', 86_400 * 400);
    const ran = await sh('date -u +%s; date -u +%Y');
    const [seconds, year] = ran.out.trim().split('\n').map(Number);
    const ahead = (seconds ?? 0) - Date.now() / 1000;
    expect(Math.round(ahead / 86_400)).toBe(400);
    expect(year).toBe(new Date(Date.now() + 86_400_000 * 400).getUTCFullYear());
  });
});

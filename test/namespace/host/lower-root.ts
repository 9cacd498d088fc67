import { createHash } from 'node:crypto';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { baseTools, hostTool } from '../../../src/sim/hosts/base-tools/all-base-tools.ts';
import { wrapperText } from '../../../src/sim/hosts/base-tools/wrapper.ts';
import { replaceFile } from '../../../src/sim/hosts/replace-file.ts';
import { dataFile, type NodeFile, nodeProgramPath, programsPath, toolFile } from '../../../src/sim/model/node-files.ts';
import { findSshd } from '../../sshd/start-sshd.ts';
import { runProgram } from './ground.ts';

/** These tools are real here, so they need no wrapper. */
const realTools = ['/usr/bin/ssh', '/usr/bin/sudo', '/usr/sbin/visudo'];

const wrapped = baseTools.filter(({ path }) => !realTools.includes(path));

/** Programs of this machine that the node's tools run. */
const programNames: readonly string[] = [...new Set(wrapped.map(({ host }) => host).filter((name) => name !== 'none'))];

/**
 * The node's base tools, as on the portable host. In namespaces, users, processes and addresses are real, so the tools
 * need no translation of them.
 */
export function nodeTools(user: string): readonly NodeFile[] {
  return wrapped.flatMap((tool) => {
    const isAlone = tool.host === 'none';
    if (!isAlone && hostTool(tool.host) === undefined) return [];
    const host = isAlone ? '' : `${programsPath}/${tool.host}`;
    const text = wrapperText(tool, { host, isBsd: false, user, programs: programsPath });
    // PATH contains only folders of wrappers.
    return [toolFile(tool.path, text.replaceAll('command -p ', `${programsPath}/`))];
  });
}

/** sudo checks the account's password by its hash. Without `nodelay`, PAM would pause after a wrong password. */
const pamSudo = 'auth required pam_unix.so nodelay\naccount required pam_permit.so\nsession required pam_permit.so\n';
const pamOther = 'auth required pam_deny.so\naccount required pam_permit.so\nsession required pam_permit.so\n';

const systemFiles: readonly NodeFile[] = [
  dataFile('/private/etc/shells', '/bin/sh\n'),
  dataFile('/private/etc/nsswitch.conf', 'passwd: files\ngroup: files\nshadow: files\nsudoers: files\nhosts: files\n'),
  dataFile('/private/etc/pam.d/sudo', pamSudo),
  dataFile('/private/etc/pam.d/other', pamOther),
];

/** Programs at the same path as on a Mac, with their possible names on this machine. */
const placed = [
  { path: '/bin/sh', names: ['dash', 'sh'] },
  { path: '/usr/bin/perl', names: ['perl'] },
  { path: '/usr/bin/ssh', names: ['ssh'] },
  { path: '/usr/bin/sudo', names: ['sudo'] },
  { path: '/usr/sbin/visudo', names: ['visudo'] },
  { path: '/usr/sbin/sshd', names: ['sshd'] },
] as const;

/** Programs that sshd and sudo load or start by a built-in path; newer sshd versions have additional ones. */
const companions = [
  '/usr/lib/openssh/sshd-session',
  '/usr/lib/openssh/sshd-auth',
  '/usr/libexec/sudo',
  '/usr/lib/sudo',
] as const;

/** PAM modules. Only sudo uses them, for the account's password. */
const pamModules = ['pam_permit.so', 'pam_deny.so', 'pam_unix.so'] as const;

/** Programs that other programs run: GNU tar starts gzip, and the `ps` wrapper looks for its own processes. */
const helpers = ['gzip', 'bzip2', 'xz', 'id', 'grep', 'sed', 'head', 'sleep', 'chown', 'umount'] as const;

/** Mount points, and folders that sshd requires to be empty. */
const folders = ['/proc', '/dev', '/.sim/outside', '/run/sshd', '/private/var/empty'] as const;

/** Parts of perl's core that no Mac tool uses; they are half of its bytes. */
const perlLeftOut = [
  ...'CORE CPAN Devel ExtUtils Locale Module Net Pod TAP Test Test2 Unicode'.split(' '),
  ...'auto/Encode/CN auto/Encode/JP auto/Encode/KR auto/Encode/TW auto/Unicode pod unicore/lib'.split(' '),
];

/**
 * Copies programs with all libraries that the dynamic linker reports, and perl with its core modules. A node's root has
 * no other files of this machine, so a tool that a Mac lacks is missing there too.
 */
const buildText = `set -eu
cd -- "$1"; shift
put() { mkdir -p ".\${2%/*}"; cp -L -p -- "$1" ".$2"; }
while [ "$1" != -- ]; do put "$1" "$2"; shift 2; done
shift
for one do [ ! -e "$one" ] || { mkdir -p ".\${one%/*}"; cp -R -L -p -- "$one" ".$one"; }; done
for one in ${pamModules.join(' ')}; do
  for folder in /lib/*/security /usr/lib/*/security /lib64/security /usr/lib64/security; do
    [ ! -e "$folder/$one" ] || { mkdir -p ".$folder"; cp -L "$folder/$one" ".$folder/$one"; }
  done
done
for folder in $(perl -MConfig -e 'print "$Config{privlibexp} $Config{archlibexp} ", grep m{/perl-base$}, @INC'); do
  mkdir -p ".$folder"
  (cd "$folder" && tar -h ${perlLeftOut.map((one) => `--exclude ./${one}`).join(' ')} -cf - .) | tar -C ".$folder" -xf -
done
find . -type f \\( -name '*.so' -o -perm -100 \\) | xargs ldd 2>/dev/null |
  sed -n 's/.*=> \\(\\/[^ ]*\\) .*/\\1/p; s/^[[:space:]]*\\(\\/[^ ]*ld-[^ ]*\\) .*/\\1/p' | sort -u |
  while read -r one; do [ -e ".$one" ] || { mkdir -p ".\${one%/*}"; cp -L "$one" ".$one"; }; done
chmod 755 .
`;

/** Programs of this machine, each followed by its path on a node. */
function wantedPrograms(): readonly string[] {
  const names = new Set([...programNames, ...helpers]);
  const wanted = [
    ...placed.map(({ path, names: known }) => ({
      from: known.map((name) => (name === 'sshd' ? findSshd() : hostTool(name))).find((one) => one !== undefined),
      path,
    })),
    ...[...names].map((name) => ({ from: hostTool(name), path: `${programsPath}/${name}` })),
  ];
  const node = { from: process.execPath, path: nodeProgramPath };
  return [...wanted, node].flatMap(({ from, path }) => (from === undefined ? [] : [from, path]));
}

/** The dynamic linker's table is rewritten whenever a library is added, removed or replaced. */
const linkerTable = '/etc/ld.so.cache';

async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? '' : [await realpath(path), found.size, found.mtimeMs].join(' ');
}

/**
 * A digest of the result of {@link buildLowerRoot}. It changes only with its inputs: the build script, and the programs
 * and libraries of this machine.
 */
export async function lowerRootDigest(): Promise<string> {
  const known = wantedPrograms();
  const versions = await Promise.all([linkerTable, ...companions, ...known].map(versionOf));
  const words = [buildText, folders, companions, systemFiles, known, versions];
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 16);
}

/**
 * Builds the read-only part of the disk that all nodes of a fleet share: the programs below their tools, the shell,
 * perl, Node, sshd, sudo and the accounts.
 */
export async function buildLowerRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  await runProgram('/bin/sh', ['-c', buildText, 'sh', root, ...wantedPrograms(), '--', ...companions]);
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
  for (const { path, text } of systemFiles) await replaceFile(join(root, path), text);
}

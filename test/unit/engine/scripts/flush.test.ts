import { describe, expect, it } from 'vitest';
import type { JobCall, TreeFile } from '../../../../src/model/node-script.ts';
import { sealName, stagedFile, stagingFolder, treeFolder, verifiedMark } from '../../../../src/node/paths/own-paths.ts';
import { quote } from '../../../../src/node/quote.ts';
import { changed, type MacRoot, run } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { isVerified, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);

const files: readonly TreeFile[] = [
  { path: 'a', sha256: sha256('ab'), sizeBytes: 2 },
  { path: "odd names/it's", sha256: sha256('cde'), sizeBytes: 3 },
];
const staging = stagingFolder(exampleModel).path;
const verify: JobCall = { name: 'verify-model', args: { tree: exampleModel, files } };

/**
 * Records each fsync and each F_FULLFSYNC of perl, with its file and the number of marks and seals at that moment. The
 * variable FULL is the answer to F_FULLFSYNC.
 */
const spy = `package Spy;
use Errno;
use File::Find;
sub note {
  my ($what, $file) = @_;
  my $path = readlink "/proc/self/fd/" . fileno $file;
  $path =~ s{.*/opt/meshwright/}{};
  my $marks = 0;
  find({ no_chdir => 1, wanted => sub { $marks++ if -f $_ && m{/(?:verified|checked/[^/]+|.meshwright-seal)\\z} } }, $ENV{TOP});
  open my $log, ">>", "$ENV{TOP}/../synced" or die;
  print $log "$what $path $marks\\n";
}
BEGIN {
  require IO::Handle;
  no warnings "redefine";
  *IO::Handle::sync = sub { note("fsync", $_[0]); 1 };
  *CORE::GLOBAL::fcntl = sub (*$$) {
    my ($file, $what) = @_;
    return 1 unless $what == 51;
    note("full", $file);
    return 1 if $ENV{FULL} eq "yes";
    $! = Errno->can($ENV{FULL})->();
    return;
  };
}
1;
`;

/** Creates a node with both files in staging, sent but not compared. @param full `yes` or the name of an error */
function sent(full = 'yes'): MacRoot {
  const root = newRoot(shell);
  root.file('../spy/Spy.pm', spy);
  root.file('../synced', '');
  const top = quote(root.folder);
  root.tool('usr/bin/perl', `TOP=${top} FULL=${full} PERL5LIB=${top}/../spy PERL5OPT=-MSpy exec /usr/bin/perl "$@"`);
  root.file(stagedFile(exampleModel, 'a').path, 'ab');
  root.file(stagedFile(exampleModel, "odd names/it's").path, 'cde');
  return root;
}

/** `fsync FILE MARKS`; MARKS is the number of marks and seals at that time. */
const synced = (root: MacRoot): readonly string[] =>
  root
    .read('../synced')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/staging\/[^/ ]+\//, ''));

const publish = (root: MacRoot) => run(root, { name: 'publish-tree', args: { tree: exampleModel, jobs: [] } });

// The spy reads the paths of open files from /proc.
describe.runIf(process.platform === 'linux')('a model that becomes durable', () => {
  it('flushes each file before its mark, and everything before the mark of the whole tree', async () => {
    const root = sent();
    expect(await runJob(root, verify)).toMatchObject({ exit: 0 });
    const each = ['fsync tree/a 0', 'full tree/a 0', "fsync tree/odd names/it's 1", "full tree/odd names/it's 1"];
    const calls = synced(root);
    expect(calls.slice(0, 4)).toEqual(each);
    const last = calls.slice(4);
    const whole = [
      'fsync tree 2',
      'fsync tree/.meshwright-files 2',
      'fsync tree/a 2',
      'fsync tree/odd names 2',
      "fsync tree/odd names/it's 2",
    ];
    expect(last.slice(0, -1).toSorted()).toEqual(whole);
    expect(last.at(-1)).toMatch(/^full tree.* 2$/);
    expect(root.read(verifiedMark(exampleModel).path)).toBe(`${exampleModel.digest} flushed\n`);
    expect(await publish(root)).toEqual(changed);
    expect(synced(root)).toEqual(calls);
  });

  it('is flushed before it is sealed if its mark is from an older version', async () => {
    const root = sent();
    root.file(verifiedMark(exampleModel).path, `${exampleModel.digest}\n`);
    expect(await publish(root)).toEqual(changed);
    expect(synced(root)).toHaveLength(5);
    expect(synced(root).filter((line) => !line.endsWith(' 1'))).toEqual([]);
    expect(root.has(`${treeFolder(exampleModel).path}/${sealName}`)).toBe(true);
  });

  it.each(['EINVAL', 'ENOTSUP', 'ENOTTY'])('is flushed with fsync if F_FULLFSYNC fails with %s', async (error) => {
    const root = sent(error);
    expect(await runJob(root, verify)).toMatchObject({ exit: 0 });
  });

  it('gets no mark and no seal if it cannot be flushed', async () => {
    const root = sent('EIO');
    expect(await runJob(root, verify)).toMatchObject({ exit: 1, failure: { slug: 'flush' } });
    expect([root.has(`${staging}/checked/${files[0]?.sha256}`), isVerified(root, exampleModel)]).toEqual([
      false,
      false,
    ]);
    root.file(verifiedMark(exampleModel).path, `${exampleModel.digest}\n`);
    expect(await publish(root)).toMatchObject({ kind: 'failed', slug: 'flush' });
    expect(root.has(treeFolder(exampleModel).path)).toBe(false);
  });

  it('is compared again if its marks are from an older version that did not flush', async () => {
    const root = sent();
    root.file(stagedFile(exampleModel, 'a').path, '\0\0');
    for (const { sha256: one } of files) root.file(`${staging}/checked/${one}`, '');
    root.file(verifiedMark(exampleModel).path, `${exampleModel.digest}\n`);
    await run(root, { name: 'prepare-staging', args: { tree: exampleModel, user: 'mesh' } });
    expect(isVerified(root, exampleModel)).toBe(false);
    expect(await runJob(root, verify)).toMatchObject({ exit: 1, failure: { slug: 'wrong-digest', text: 'a' } });
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptProblem } from '../../../../src/apply/steps/script.ts';
import type { JobCall, TreeFile } from '../../../../src/model/node-script.ts';
import { jobFolder, sealName, treeFolder } from '../../../../src/node/paths/own-paths.ts';
import { aStep } from '../../../rack/plans.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, key, launch, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);

const files: readonly TreeFile[] = [
  { path: 'a', sha256: sha256('ab'), sizeBytes: 2 },
  { path: "odd names/it's", sha256: sha256('cde'), sizeBytes: 3 },
];
const call: JobCall = { name: 'rehash-model', args: { tree: exampleModel, files } };
const folder = treeFolder(exampleModel).path;
const seal = `${folder}/${sealName}`;

function published(contents: Readonly<Record<string, string>> = {}): MacRoot {
  const root = newRoot(shell);
  const all = { a: 'ab', "odd names/it's": 'cde', ...contents };
  for (const [path, text] of Object.entries(all)) root.file(`${folder}/${path}`, text);
  root.file(seal, `digest=${exampleModel.digest}\nfiles=2\n`);
  return root;
}

describe('the job that hashes a published model', () => {
  it('does not change a model whose files are right', async () => {
    const root = published();
    expect(await runJob(root, call)).toEqual({ state: 'ended', exit: 0, done: 5, total: 5 });
    expect(root.read(seal)).toBe(`digest=${exampleModel.digest}\nfiles=2\n`);
    expect(existsSync(join(root.folder, jobFolder(key).path, 'compared'))).toBe(false);
  });

  it('names every wrong file, and makes the model count as changed', async () => {
    const root = published({ a: 'ax', "odd names/it's": 'cdx' });
    const { exit, failure } = await runJob(root, call);
    expect([exit, failure]).toEqual([1, { slug: 'wrong-files', text: "a, odd names/it's" }]);
    expect(root.read(seal)).toBe("digest=wrong\nfiles=0\nbytes=5\nwrong.1=a\nwrong.2=odd names/it's\n");
    const problem = scriptProblem(aStep('studio-1/model/tiny/hash'), failure ?? { slug: '', text: '' });
    expect(problem.code).toBe('model/wrong-files');
  });

  it.each([
    ['fails', 'exit 1'],
    ['prints no digest', "printf 'shasum: an error\\n'"],
  ])('does not report a file as wrong if the tool that hashes it %s', async (_how, body) => {
    const root = published();
    root.tool('usr/bin/shasum', body);
    expect(await runJob(root, call)).toMatchObject({ exit: 1, failure: { slug: 'shasum' } });
    expect(root.read(seal)).toBe(`digest=${exampleModel.digest}\nfiles=2\n`);
  });

  it('is reused by a second launch while it runs', async () => {
    const root = published();
    root.tool(
      'usr/bin/shasum',
      'until [ -e "$R/../go" ] || [ ! -e "$R" ]; do /bin/sleep 0.02; done; exec /usr/bin/shasum "$@"',
    );
    expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
    expect(await launch(root, call)).toMatchObject({ said: ['job=attached'] });
    root.file('../go', '');
    expect(await ended(root)).toEqual({ state: 'ended', exit: 0, done: 5, total: 5 });
  });
});

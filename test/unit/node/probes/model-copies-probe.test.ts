import { chmodSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SoughtModel } from '../../../../src/node/probes/model-copies.ts';
import { type MacRoot, makeMacRoot } from '../../engine/scripts/mac-root.ts';
import { removedAfter } from '../../engine/scripts/node-root.ts';
import { type Shell, scriptShells } from '../../engine/scripts/shells.ts';
import { searchCopies } from './search-copies.ts';

const newRoot = removedAfter((shell: Shell): MacRoot => {
  const root = makeMacRoot(shell);
  for (const folder of [tmpdir(), dirname(root.folder)]) chmodSync(folder, statSync(folder).mode | 0o011);
  chmodSync(join(root.folder, 'tmp'), 0o777);
  chmodSync(join(root.folder, '../started'), 0o666);
  return root;
});
const kimi: SoughtModel = { name: 'kimi', version: '0'.repeat(16), repository: 'acme/Kimi-K2', blobs: [], folders: [] };

function search(root: MacRoot, ...models: readonly SoughtModel[]) {
  const fact = searchCopies(root.folder, models);
  if (fact.kind === 'unknown') return fact;
  return {
    unreadable: fact.value.unreadable,
    folders: fact.value.folders.map(
      ({ layout, folder, leadsOutside, files }) =>
        `${layout} ${folder}${leadsOutside ? ' (leads outside)' : ''}: ${files
          .map(({ path, sizeBytes, isOnVolume }) => `${path} ${sizeBytes}${isOnVolume ? '' : ' elsewhere'}`)
          .toSorted()
          .join(', ')}`,
    ),
  };
}

describe.each(scriptShells)('the search for copies of models in $name', (shell: Shell) => {
  it('finds every layout in every home', () => {
    const root = newRoot(shell);
    const hub = 'Users/ana/.cache/huggingface/hub/models--acme--Kimi-K2';
    root.file(`${hub}/blobs/b1`, '12345');
    root.file(`${hub}/snapshots/c1/sub/x`, '1');
    symlinkSync('../../blobs/b1', join(root.folder, hub, 'snapshots/c1/weights.bin'));
    root.file('Users/mesh/.exo/models/acme--Kimi-K2/weights.bin', '12345');
    root.file('Users/mesh/.exo/models/acme--Other/weights.bin', '12345');
    root.file("Users/o'hara/.lmstudio/models/acme/Kimi-K2/it's.gguf", '123');
    root.file('Users/mesh/.ollama/models/blobs/sha256-beef', '1234');
    root.file('Users/mesh/.ollama/models/blobs/sha256-dead', '1234');
    root.file('Users/mesh/Library/Caches/llama.cpp/acme_Kimi-K2_q4.gguf', '12');
    root.file('Users/mesh/Library/Caches/llama.cpp/acme_Other_q4.gguf', '12');
    expect(search(root, { ...kimi, blobs: ['beef', 'f00d'] })).toEqual({
      unreadable: [],
      folders: [
        `hub /${hub}/snapshots/c1: sub/x 1, weights.bin 5`,
        'ollama /Users/mesh/.ollama/models/blobs: sha256-beef 4',
        'exo /Users/mesh/.exo/models/acme--Kimi-K2: weights.bin 5',
        'llamacpp /Users/mesh/Library/Caches/llama.cpp: acme_Kimi-K2_q4.gguf 2',
        "lmstudio /Users/o'hara/.lmstudio/models/acme/Kimi-K2: it's.gguf 3",
      ],
    });
  });

  it('finds a folder that the file names, and the layouts in it', () => {
    const root = newRoot(shell);
    const disk = "Volumes/ana's disk";
    root.file(`${disk}/hf/hub/models--acme--Kimi-K2/snapshots/c1/a`, '1');
    root.file(`${disk}/exo/acme--Kimi-K2/a`, '1');
    root.file(`${disk}/studio/acme/Kimi-K2/a`, '1');
    root.file(`${disk}/kimi/a`, '1');
    const folders = ['hf', 'exo', 'studio', 'kimi', 'gone'].map((one) => `/${disk}/${one}`);
    const { folders: found } = search(root, { ...kimi, folders }) as { folders: readonly string[] };
    expect(found).toEqual([
      `hub /${disk}/hf/hub/models--acme--Kimi-K2/snapshots/c1: a 1`,
      `named /${disk}/hf: hub/models--acme--Kimi-K2/snapshots/c1/a 1`,
      `named /${disk}/exo/acme--Kimi-K2: a 1`,
      `named /${disk}/exo: acme--Kimi-K2/a 1`,
      `named /${disk}/studio/acme/Kimi-K2: a 1`,
      `named /${disk}/studio: acme/Kimi-K2/a 1`,
      `named /${disk}/kimi: a 1`,
    ]);
  });

  it('marks a folder with a link that leads out of it', () => {
    const root = newRoot(shell);
    root.file('Users/ana/.exo/models/acme--Kimi-K2/a', '1');
    root.file('private/secret', '12345');
    symlinkSync('../../../../../private/secret', join(root.folder, 'Users/ana/.exo/models/acme--Kimi-K2/b'));
    expect(search(root, kimi)).toMatchObject({
      folders: ['exo /Users/ana/.exo/models/acme--Kimi-K2 (leads outside): a 1, b 5'],
    });
  });

  it('reports folders that the account may not read', () => {
    const root = newRoot(shell);
    root.file('Users/bob/.exo/models/acme--Kimi-K2/a', '1');
    root.file('Users/eve/.exo/models/acme--Kimi-K2/a', '1');
    const closed = [join(root.folder, 'Users/bob'), join(root.folder, 'Users/eve/.exo/models/acme--Kimi-K2')];
    for (const one of closed) chmodSync(one, 0o000);
    const found = search(root, kimi);
    for (const one of closed) chmodSync(one, 0o755);
    expect(found).toEqual({ folders: [], unreadable: ['/Users/bob', '/Users/eve/.exo/models/acme--Kimi-K2'] });
  });

  it('runs no tools for a published model', () => {
    const root = newRoot(shell);
    root.file('Users/ana/.exo/models/acme--Kimi-K2/a', '1');
    root.file(`opt/meshwright/models/kimi/${kimi.version}/.meshwright-seal`, 'digest=0\n');
    expect(search(root, kimi)).toEqual({ unreadable: [], folders: [] });
    const own = ['bin/sh', 'usr/bin/mktemp', 'usr/bin/wc', 'bin/cat', 'bin/rm', 'bin/sleep', 'bin/ps'];
    expect(root.started().filter(({ tool }) => !own.includes(tool))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { nearestProgram as nearestProgramItself } from '../../../src/drivers/runtime-programs.ts';
import { onOnePage, onPage } from '../one-page.ts';

const nearestProgram = onPage(nearestProgramItself);

const release = ['llama-b1/', 'llama-b1/llama-server', 'llama-b1/ggml-rpc-server', 'llama-b1/libggml.dylib'];
const usual = ['bin/llama-server', 'bin/ggml-rpc-server'];

describe('the nearest path to a program in an archive', () => {
  it.each<[string, string, readonly string[], readonly string[], unknown]>([
    ['is not needed if the program exists', 'exo-1/exo', ['exo-1/exo'], ['exo-1/', 'exo-1/exo'], undefined],
    [
      'has the same name in a different folder',
      'exo-2/exo',
      ['exo-2/exo'],
      ['exo-1/', 'exo-1/exo'],
      { path: 'exo-1/exo' },
    ],
    ['has a similar name', 'bin/rnak', ['bin/rnak'], ['bin/rank'], { path: 'bin/rank' }],
    ['is empty if nothing is similar', 'bin/rank', ['bin/rank'], ['lib/model'], {}],
    ['is not needed for the server in a llama.cpp release', 'bin/llama-server', usual, release, undefined],
    ['is not needed for the worker in a llama.cpp release', 'bin/ggml-rpc-server', usual, release, undefined],
    ['is empty for a worker that a release lacks', 'bin/ggml-rpc-server', usual, release.slice(0, 2), {}],
    ['is given if an archive has a bin folder', 'bin/llama-server', usual, ['bin/x', ...release], { path: release[1] }],
    [
      'is given for a path from the file',
      'llama-b2/llama-server',
      ['llama-b2/llama-server'],
      release,
      { path: release[1] },
    ],
  ])('%s', (_, program, programs, members, expected) => {
    expect(nearestProgram(program, programs, members)).toEqual(expected);
  });
});

onOnePage('runtime-programs');

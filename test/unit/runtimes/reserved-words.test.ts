import { describe, expect, it } from 'vitest';
import { reserved as exo } from '../../../src/runtimes/exo/reserved.ts';
import { reserved as llama } from '../../../src/runtimes/llamacpp-rpc/reserved.ts';
import { reserved as mlx } from '../../../src/runtimes/mlx/reserved.ts';
import { type ReservedWords, reservedFindings } from '../../../src/runtimes/reserved-words.ts';

const told = (reserved: ReservedWords, ...args: readonly string[]) =>
  reservedFindings({ env: {}, args }, reserved).map(({ code, detail }) => `${code}: ${detail}`);

describe('words that a driver sets itself', () => {
  it.each([
    ['--prompt-cache-byt', '--prompt-cache-bytes', mlx],
    ['--por', '--port', mlx],
    ['--ho=0.0.0.0', '--host', mlx],
    ['--api-po', '--api-port', exo],
    ['-vm', '-m', exo],
  ])('are found behind %s, which argparse takes for %s', (arg, word, reserved) => {
    const [name] = arg.split('=');
    expect(told(reserved, arg, '1')).toEqual([
      `placement/reserved-word: ${name} is read as ${word}, which the driver sets itself.`,
    ]);
  });

  it('are told once, and only where they are meant', () => {
    expect(told(mlx, '--p', '1')).toHaveLength(1);
    expect(told(mlx, '--port=1')).toEqual(['placement/reserved-word: The driver sets --port itself.']);
    expect(told(mlx, '--', '--temp', '0.6', '--porter', '-1', 'model')).toEqual([]);
    expect(told(exo, '-v', '-vv', '--verbose', 'm')).toEqual([]);
  });

  it('are taken whole by llama.cpp, which has a variable for most of its flags', () => {
    expect(told(llama, '--por', '1')).toEqual([]);
    const env = { LLAMA_ARG_PORT: '1', LLAMA_ARG_FIT: 'on', LLAMA_ARG_CTX_SIZE: '9', LLAMA_ARG_THREADS: '4' };
    expect(reservedFindings({ env, args: [] }, llama).map(({ detail }) => detail)).toEqual([
      'The driver sets LLAMA_ARG_PORT itself.',
      'The driver sets LLAMA_ARG_FIT itself.',
      'The driver sets LLAMA_ARG_CTX_SIZE itself.',
    ]);
  });
});

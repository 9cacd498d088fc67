import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import {
  type ReservedWords,
  reservedFindings as reservedFindingsItself,
} from '../../../../src/drivers/contract/checks.ts';
import { reserved as exo } from '../../../../src/drivers/exo/exo.ts';
import { reserved as llama } from '../../../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { reserved as mlx } from '../../../../src/drivers/mlx/mlx.ts';
import { jsonText, onOnePage, onPage, say } from '../../one-page.ts';

const reservedFindings = onPage(reservedFindingsItself);

const findings = (reserved: ReservedWords, ...args: readonly string[]) =>
  reservedFindings({ env: {}, args }, reserved).map(({ code, detail }) => `${code}: ${detail}`);

describe('options that a driver sets itself', () => {
  it.each([
    ['--prompt-cache-byt', '--prompt-cache-bytes', mlx],
    ['--por', '--port', mlx],
    ['--ho=0.0.0.0', '--host', mlx],
    ['--api-po', '--api-port', exo],
    ['-vm', '-m', exo],
  ])('include %s, which argparse reads as %s', (arg, word, reserved) => {
    const [name] = arg.split('=');
    expect(findings(reserved, arg, '1')).toEqual([
      `placement/reserved-word: The program reads ${name} as ${word}, which the driver sets itself.`,
    ]);
  });

  it.each([
    ['exo', exo],
    ['llama.cpp', llama],
    ['mlx', mlx],
  ])('are listed on the golden page: %s', (name, { env, args, reading }) => {
    for (const [kind, words] of Object.entries({ env, args })) {
      for (const one of words) say(`${name} ${reading} ${kind} ${jsonText({ ...one, use: plainText(one.use) })}`);
    }
    expect([env, args].flat().filter(({ word }) => !/^(?:-[-\w]+|[A-Z][A-Z\d_]+)$/.test(word))).toEqual([]);
  });

  it('are reported once, and only if an argument really means them', () => {
    expect(findings(mlx, '--p', '1')).toHaveLength(1);
    expect(findings(mlx, '--port=1')).toEqual(['placement/reserved-word: The driver sets --port itself.']);
    expect(findings(mlx, '--', '--temp', '0.6', '--porter', '-1', 'model')).toEqual([]);
    expect(findings(exo, '-b', '-bb', '--batch', 'm')).toEqual([]);
  });

  it('are complete for llama.cpp, including its variables', () => {
    expect(findings(llama, '--por', '1')).toEqual([]);
    const env = { LLAMA_ARG_PORT: '1', LLAMA_ARG_FIT: 'on', LLAMA_ARG_CTX_SIZE: '9', LLAMA_ARG_THREADS: '4' };
    expect(reservedFindings({ env, args: [] }, llama).map(({ detail }) => detail)).toEqual([
      'The driver sets LLAMA_ARG_PORT itself.',
      'The driver sets LLAMA_ARG_FIT itself.',
      'The driver sets LLAMA_ARG_CTX_SIZE itself.',
    ]);
  });

  it.each([
    ['-v', exo],
    ['-vv', exo],
    ['--verb', exo],
    ['-q', exo],
    ['--qui', exo],
    ['--log-prompts-dir', llama],
  ])('include %s, which writes prompts into a log', (arg, reserved) => {
    expect(findings(reserved, arg, 'x')).toEqual([expect.stringContaining(' writes every prompt into ')]);
  });

  it('include only the mlx log level that writes prompts', () => {
    for (const args of [
      ['--log-level', 'DEBUG'],
      ['--log-level=DEBUG'],
      ['--log', 'DEBUG'],
      ['--l=DEBUG'],
      ['--log-level', 'INFO', '--log-level', 'DEBUG'],
      ['--log-level'],
    ]) {
      expect(findings(mlx, ...args)).toEqual([expect.stringContaining('writes every prompt and answer into the log')]);
    }
    expect(findings(mlx, '--log-level', 'INFO', '--log-level=WARNING', '--log', 'ERROR')).toEqual([]);
  });

  it('include options that load more model files or need uncounted memory', () => {
    const words = ['--mmproj', '-md', '--model-draft', '--swa-full', '-nkvo', '-dr'];
    expect(words.flatMap((word) => findings(llama, word, 'x'))).toHaveLength(words.length);
    expect(findings(llama, '-ctk', 'q8_0', '--cache-type-v', 'q8_0')).toEqual([]);
    const env = { LLAMA_ARG_SWA_FULL: '1', LLAMA_ARG_MMPROJ: 'x', LLAMA_ARG_SPEC_DRAFT_MODEL: 'x' };
    expect(reservedFindings({ env, args: [] }, llama)).toHaveLength(3);
    expect(findings(mlx, '--draft-model', 'x')).toEqual([
      'placement/reserved-word: --draft-model adds model files, which mlx-lm rejects on several nodes and the memory plan does not count.',
    ]);
  });
});

onOnePage('reserved-words');

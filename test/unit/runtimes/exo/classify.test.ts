import { describe, expect, it } from 'vitest';
import { logPattern, signatureIn, signatures } from '../../../../src/runtimes/exo/classify.ts';
import { exoCase } from './exo-case.ts';

interface Known {
  readonly id: string;
  readonly match: string;
  readonly and?: string;
}

const known = (JSON.parse(exoCase('failure-signatures.json')) as { readonly signatures: readonly Known[] }).signatures;

/** As it could stand in a log: the words of the table, in their order there or the other way round. */
const lineOf = ({ id, match, and }: Known): string =>
  id === 'node-removed' ? `${and} 3e08 ${match}` : [match, and].filter((part) => part !== undefined).join(' command ');

describe('failures of exo', () => {
  it('are those of the table and two of mlx, each by its own name', () => {
    const ids = [...known.map(({ id }) => id), 'jaccl-no-domain', 'jaccl-no-device'];
    expect(signatures.map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ['jaccl-no-domain', "[jaccl] Couldn't allocate protection domain"],
    ['jaccl-no-device', '[jaccl] Could not find device rdma_en7 (0 available)'],
    ['jaccl-qp-16', "[jaccl] Creating the queue pair failed with 'Resource busy (16)'."],
  ])('%s is told as mlx says it: %s', (id, line) => {
    expect(signatureIn(line)?.id).toBe(id);
  });

  it.each(known.map((one) => [one.id, lineOf(one)]))('%s is told by its words', (id, line) => {
    expect(signatureIn(`Runner error: ${line}\n`)?.id).toBe(id);
    expect(new RegExp(logPattern.replaceAll('[[]', '\\[').replaceAll('[]]', '\\]')).test(line)).toBe(true);
  });

  it.each([
    ['jaccl-rtr-22', 'apply'],
    ['jaccl-rtr-96', 'reboot'],
    ['jaccl-recv-60', 'restart'],
    ['jaccl-recv-2', 'read-other-ranks'],
    ['jaccl-qp-16', 'reboot'],
    ['jaccl-no-gid', 'apply'],
    ['jaccl-segv', 'change-file'],
    ['metal-gpu-timeout', 'restart'],
    ['ring-recv', 'read-other-ranks'],
    ['ring-abort', 'read-other-ranks'],
    ['iogpu-panic', 'wait'],
    ['nack-loop', 'restart'],
    ['give-up', 'read-other-ranks'],
    ['node-removed', 'check-cable'],
    ['ns-removed', 'change-file'],
    ['peers-removed', 'change-file'],
    ['lan-denied', 'restart'],
    ['jaccl-no-domain', 'reboot'],
    ['jaccl-no-device', 'change-file'],
  ])('%s asks for %s', (id, action) => {
    expect(signatures.find((one) => one.id === id)?.action).toBe(action);
  });

  it('are none in other words, nor with other numbers', () => {
    expect(signatureIn('Changing queue pair to RTR failed with errno 220')).toBeUndefined();
    expect(signatureIn('[METAL] is well\nGPU Timeout is far away')).toBeUndefined();
    expect(signatureIn('')).toBeUndefined();
  });
});

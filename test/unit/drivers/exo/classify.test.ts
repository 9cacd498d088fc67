import { describe, expect, it } from 'vitest';
import { signatureIn } from '../../../../src/drivers/messages/exo.ts';
import { exoCase } from './exo-case.ts';

interface Known {
  readonly id: string;
  readonly match: string;
  readonly and?: string;
}

const known = (JSON.parse(exoCase('failure-signatures.json')) as { readonly signatures: readonly Known[] }).signatures;

/** A possible log line: the words of the table, in either order. */
const lineOf = ({ id, match, and }: Known): string =>
  id === 'node-removed' ? `${and} 3e08 ${match}` : [match, and].filter((part) => part !== undefined).join(' command ');

describe('exo failures', () => {
  it.each(known.map((one) => [one.id, lineOf(one)]))('include %s, recognized by its words', (_id, line) => {
    expect(signatureIn(`Runner error: ${line}\n`)).toBeDefined();
  });

  it('are not recognized across lines', () => {
    expect(signatureIn('[METAL] is well\nGPU Timeout is far away')).toBeUndefined();
    expect(signatureIn('')).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { jacclSignatures } from '../../../../src/drivers/contract/signatures.ts';
import { logPattern, signatureIn, signatures } from '../../../../src/drivers/exo/classify.ts';
import { exoCase } from './exo-case.ts';
import { exoLines } from './exo-lines.ts';

interface Known {
  readonly id: string;
  readonly match: string;
  readonly and?: string;
}

const known = (JSON.parse(exoCase('failure-signatures.json')) as { readonly signatures: readonly Known[] }).signatures;

/** As it could stand in a log: the words of the table, in their order there or the other way round. */
const lineOf = ({ id, match, and }: Known): string =>
  id === 'node-removed' ? `${and} 3e08 ${match}` : [match, and].filter((part) => part !== undefined).join(' command ');

/** What an observation brings along: awk writes a bracket otherwise. */
const asked = new RegExp(logPattern.replaceAll('[[]', '\\[').replaceAll('[]]', '\\]'));

/** Of the table of mlx, lines which in exo have names of their own. */
const jacclLines = [
  ...exoLines,
  ['no-ipv4-gid', 'RuntimeError: [jaccl] No IPv4-mapped GID for this device'],
  ['rtr-errno-22', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 22'],
  ['recv-errno-2', 'RuntimeError: [jaccl] Recv failed with errno=2'],
] as const;

describe('failures of exo', () => {
  it('begin with those of the table, and each has its own name and a line here', () => {
    const ids = signatures.map(({ id }) => id);
    expect(ids.slice(0, known.length)).toEqual(known.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !exoLines.some(([line]) => line === id))).toEqual([]);
  });

  it('are all those that mlx has of JACCL, by these names or by others', () => {
    for (const [id, line] of jacclLines) expect([id, signatureIn(line)?.id]).not.toContain(undefined);
    expect(jacclSignatures.map(({ id }) => id).filter((id) => !jacclLines.some(([known]) => known === id))).toEqual([]);
  });

  it.each(exoLines)('tell %s by its words: %s', (id, line, action) => {
    expect(signatureIn(`Runner error: ${line}\n`)?.id).toBe(id);
    expect(signatures.find((one) => one.id === id)?.action).toBe(action);
    expect(asked.test(line)).toBe(true);
  });

  it.each(known.map((one) => [one.id, lineOf(one)]))('%s is told by its words', (id, line) => {
    expect(signatureIn(`Runner error: ${line}\n`)?.id).toBe(id);
    expect(asked.test(line)).toBe(true);
  });

  it('are none in other words, nor with other numbers', () => {
    expect(signatureIn('Changing queue pair to RTR failed with errno 220')?.id).toBe('rtr-errno');
    expect(signatureIn('Changing queue pair to RTR failed')).toBeUndefined();
    expect(signatureIn('[METAL] is well\nGPU Timeout is far away')).toBeUndefined();
    expect(signatureIn('')).toBeUndefined();
  });
});

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

/** A possible log line: the words of the table, in either order. */
const lineOf = ({ id, match, and }: Known): string =>
  id === 'node-removed' ? `${and} 3e08 ${match}` : [match, and].filter((part) => part !== undefined).join(' command ');

/** The lines that an observation keeps. In awk, brackets are written differently. */
const asked = new RegExp(logPattern.replaceAll('[[]', '\\[').replaceAll('[]]', '\\]'));

/** Lines in the mlx table that have different names in exo. */
const jacclLines = [
  ...exoLines,
  ['no-ipv4-gid', 'RuntimeError: [jaccl] No IPv4-mapped GID for this device'],
  ['rtr-errno-22', 'ValueError: [jaccl] Changing queue pair to RTR failed with errno 22'],
  ['recv-errno-2', 'RuntimeError: [jaccl] Recv failed with errno=2'],
] as const;

describe('exo failures', () => {
  it('begin with those in the table, each with a unique name and a sample line', () => {
    const ids = signatures.map(({ id }) => id);
    expect(ids.slice(0, known.length)).toEqual(known.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !exoLines.some(([line]) => line === id))).toEqual([]);
  });

  it("include all of mlx's JACCL failures, under these or other names", () => {
    for (const [id, line] of jacclLines) expect([id, signatureIn(line)?.id]).not.toContain(undefined);
    expect(jacclSignatures.map(({ id }) => id).filter((id) => !jacclLines.some(([known]) => known === id))).toEqual([]);
  });

  it.each(exoLines)('include %s, recognized by its line: %s', (id, line, action) => {
    expect(signatureIn(`Runner error: ${line}\n`)?.id).toBe(id);
    expect(signatures.find((one) => one.id === id)?.action).toBe(action);
    expect(asked.test(line)).toBe(true);
  });

  it.each(known.map((one) => [one.id, lineOf(one)]))('include %s, recognized by the words in the table', (id, line) => {
    expect(signatureIn(`Runner error: ${line}\n`)?.id).toBe(id);
    expect(asked.test(line)).toBe(true);
  });

  it('are not recognized by other words or numbers', () => {
    expect(signatureIn('Changing queue pair to RTR failed with errno 220')?.id).toBe('rtr-errno');
    expect(signatureIn('Changing queue pair to RTR failed')).toBeUndefined();
    expect(signatureIn('[METAL] is well\nGPU Timeout is far away')).toBeUndefined();
    expect(signatureIn('')).toBeUndefined();
  });
});

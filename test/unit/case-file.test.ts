import { describe, expect, it } from 'vitest';
import { sectionsOf } from '../case-file.ts';

describe('a case file', () => {
  it('keeps every byte of its sections', () => {
    const text =
      'Mac: none\n\n==> stdout <==\none\n\n\r\n\n==> stderr <==\nno newline\n==> exit <==\n\n==> label <==\n==> x\n';
    expect([...sectionsOf(text, ['stdout', 'stderr', 'exit', 'label'])]).toEqual([
      ['source', 'Mac: none\n'],
      ['stdout', 'one\n\n\r\n'],
      ['stderr', 'no newline'],
      ['exit', ''],
      ['label', '==> x\n'],
    ]);
  });

  it.each(['stdot', 'source'])('is refused with an unexpected section: %s', (name) => {
    expect(() => sectionsOf(`Mac: none\n\n==> ${name} <==\n1\n`, ['stdout'])).toThrow(name);
  });
});

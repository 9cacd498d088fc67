import { describe, expect, it } from 'vitest';
import { signatures } from '../../../../src/drivers/command/command.ts';

const found = (line: string): string | undefined => signatures.find(({ pattern }) => pattern.test(line))?.id;

/** Every signature, with lines as written by dyld and by servers in several languages. */
const lines: readonly (readonly [id: string, line: string])[] = [
  ['library-not-loaded', 'dyld[812]: Library not loaded: @rpath/libomp.dylib'],
  ['address-in-use', 'OSError: [Errno 48] Address already in use'],
  ['address-in-use', 'Error: listen EADDRINUSE: address already in use 127.0.0.1:8080'],
  ['address-in-use', 'bind: address already in use'],
];

describe("a command's log", () => {
  it.each(lines)('shows %s: %s', (id, line) => {
    expect(found(line)).toBe(id);
    expect(signatures.find((one) => one.id === id)?.action).toBe('change-file');
  });

  it('shows each signature in a sample line, and no failure in other lines', () => {
    expect(signatures.map(({ id }) => id).filter((id) => !lines.some(([known]) => known === id))).toEqual([]);
    expect(found('listening at address 127.0.0.1:8080')).toBeUndefined();
  });
});

import { expect, it } from 'vitest';
import { createSink } from '../../../src/remote/ssh-remote.ts';
import { errorCodes, errorText } from '../../../src/remote/ssh2.ts';
import { onOnePage, say } from '../one-page.ts';

const withCode = (code: unknown, message = 'it failed'): Error => Object.assign(new Error(message), { code });

it('the codes of an error are its own and those of the errors that it gathers, each once', () => {
  expect(errorCodes(withCode('EIO'))).toEqual(['EIO']);
  expect(errorCodes(withCode(14))).toEqual(['14']);
  for (const none of [new Error('x'), withCode(true), withCode(undefined), { code: 'EIO' }, 'EIO', undefined]) {
    expect(errorCodes(none)).toEqual([]);
  }
  const many = new AggregateError([withCode('ETIMEDOUT'), withCode('EIO'), withCode('ETIMEDOUT'), 'EPIPE']);
  expect(errorCodes(Object.assign(many, { code: 'ECONNREFUSED' }))).toEqual(['ETIMEDOUT', 'EIO', 'ECONNREFUSED']);
});

it('an error is told by the first code that has words, else by its message', () => {
  const codes = 'ENOENT EACCES EISDIR ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH EHOSTDOWN';
  for (const code of [...codes.split(' '), 'ETIMEDOUT']) say(`${code}: ${errorText(withCode(code))}`);
  expect(errorText(withCode('EIO', 'i/o error'))).toBe('i/o error');
  expect(errorText(new AggregateError([withCode('EIO'), withCode('EACCES'), withCode('ENOENT')]))).toBe(
    'permission denied',
  );
  expect(errorText('no error at all')).toBe('no error at all');
});

it('output is kept whole, however small or large the pieces are', () => {
  const sink = createSink();
  expect(sink.take()).toEqual(Buffer.alloc(0));
  const pieces = [1, 4_095, 1, 5_000, 0, 20_000, 7].map((size, at) => Buffer.alloc(size, at + 1));
  for (const piece of pieces) sink.append(piece);
  expect(Buffer.compare(sink.take(), Buffer.concat(pieces))).toBe(0);
  // Memory grows to twice as much, or to what is needed, and is a page at least.
  expect(sink.take().buffer.byteLength).toBe(32_768);
  const large = createSink();
  large.append(Buffer.alloc(20_000));
  expect(large.take().buffer.byteLength).toBe(20_000);
  const small = createSink();
  small.append(Buffer.from('a'));
  expect(small.take().buffer.byteLength).toBe(4_096);
  for (const size of [4_094, 1, 1]) small.append(Buffer.alloc(size));
  expect(small.take().buffer.byteLength).toBe(8_192);
});

onOnePage('error-text');

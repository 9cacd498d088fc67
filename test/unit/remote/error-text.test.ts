import { expect, it } from 'vitest';
import { createSink } from '../../../src/remote/ssh-remote.ts';
import { errorCodes, errorText } from '../../../src/remote/ssh2.ts';
import { onOnePage, say } from '../one-page.ts';

const withCode = (code: unknown, message = 'it failed'): Error => Object.assign(new Error(message), { code });

it('errorCodes lists the codes of an error and its aggregated errors once each', () => {
  expect(errorCodes(withCode('EIO'))).toEqual(['EIO']);
  expect(errorCodes(withCode(14))).toEqual(['14']);
  for (const none of [new Error('x'), withCode(true), withCode(undefined), { code: 'EIO' }, 'EIO', undefined]) {
    expect(errorCodes(none)).toEqual([]);
  }
  const many = new AggregateError([withCode('ETIMEDOUT'), withCode('EIO'), withCode('ETIMEDOUT'), 'EPIPE']);
  expect(errorCodes(Object.assign(many, { code: 'ECONNREFUSED' }))).toEqual(['ETIMEDOUT', 'EIO', 'ECONNREFUSED']);
});

it('errorText describes the first known code, or returns the message if no code is known', () => {
  const codes = 'ENOENT EACCES EISDIR ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH EHOSTDOWN';
  for (const code of [...codes.split(' '), 'ETIMEDOUT']) say(`${code}: ${errorText(withCode(code))}`);
  expect(errorText(withCode('EIO', 'i/o error'))).toBe('i/o error');
  expect(errorText(new AggregateError([withCode('EIO'), withCode('EACCES'), withCode('ENOENT')]))).toBe(
    'permission denied',
  );
  expect(errorText('no error at all')).toBe('no error at all');
});

it('createSink keeps all output for pieces of any size', () => {
  const sink = createSink();
  expect(sink.take()).toEqual(Buffer.alloc(0));
  const pieces = [1, 4_095, 1, 5_000, 0, 20_000, 7].map((size, at) => Buffer.alloc(size, at + 1));
  for (const piece of pieces) sink.append(piece);
  expect(Buffer.compare(sink.take(), Buffer.concat(pieces))).toBe(0);
  // The buffer doubles or grows to the needed size, and has at least 4,096 bytes.
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

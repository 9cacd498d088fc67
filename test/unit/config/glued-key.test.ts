import { expect, it } from 'vitest';
import { gluedKey } from '../../../src/config/syntax-problems.ts';

it.each([
  ['host:b.lan', { key: 'host', value: 'b.lan' }],
  ['host:b.lan   # the second\nnext: x', { key: 'host', value: 'b.lan' }],
  ['https://b.lan', undefined],
  ['studio:1 <-> laptop:2', undefined],
  ['host: b.lan', undefined],
  ['port 22', undefined],
])('gluedKey returns the intended key and value of %s', (text, intended) => {
  expect(gluedKey(text)).toEqual(intended);
});

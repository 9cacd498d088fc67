import { expect, it } from 'vitest';
import { gluedKey } from '../../../src/config/syntax-problems.ts';

it.each([
  ['host:b.lan', { key: 'host', value: 'b.lan' }],
  ['host:b.lan   # the second\nnext: x', { key: 'host', value: 'b.lan' }],
  ['https://b.lan', undefined],
  ['studio:1 <-> laptop:2', undefined],
  ['host: b.lan', undefined],
  ['port 22', undefined],
])('%s is read as the key and the value that were meant', (text, meant) => {
  expect(gluedKey(text)).toEqual(meant);
});

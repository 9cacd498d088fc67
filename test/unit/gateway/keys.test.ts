import { describe, expect, it } from 'vitest';
import { closingReason } from '../../../src/gateway/endpoints.ts';
import { hashOfKey, isOpenedBy, keyOf, parseKeys } from '../../../src/gateway/keys.ts';
import { parseDoormanConfig } from '../../../src/gateway/read-config.ts';
import { hashOf } from './hash-of.ts';

const keysOf = (value: unknown) => parseKeys({ kind: 'text', text: JSON.stringify(value) });
const opens = (key: string | undefined, value: unknown): boolean => isOpenedBy(hashOfKey(key), keysOf(value));

describe("a gateway's configuration", () => {
  const upstream = { placement: 'chat', servedName: 'chat', port: 8081, model: 'tiny', maxRequests: 4 };
  const parse = (more: object) =>
    parseDoormanConfig(
      { upstreams: [{ ...upstream, ...more }], keysFolder: '/k', closedFolder: '/c', countsFile: '/n' },
      '0.0.0.0:8080',
    );

  it('rejects negative and fractional counts', () => {
    expect(parse({}).upstreams).toMatchObject([{ port: 8081, maxRequests: 4 }]);
    expect(parse({ maxRequests: 0 }).upstreams).toMatchObject([{ maxRequests: 0 }]);
    for (const count of [-1, 0.5, '4', null]) {
      expect(() => parse({ maxRequests: count })).toThrow('maxRequests is no number');
      expect(() => parse({ port: count })).toThrow('port is no number');
    }
  });
});

describe("a gateway's API keys", () => {
  it('all grant access, and no other key does', () => {
    const keys = { keys: [hashOf('one'), hashOf('two'), hashOf('three')] };
    for (const key of ['one', 'two', 'three']) expect(opens(key, keys)).toBe(true);
    for (const key of [undefined, '', 'four', hashOf('one')]) expect(opens(key, keys)).toBe(false);
    for (const key of [undefined, 'four']) expect(opens(key, { keys: 'anybody' })).toBe(true);
  });

  it('do not exist if the key file is missing, unreadable or invalid', () => {
    const none = [
      parseKeys({ kind: 'absent' }),
      parseKeys({ kind: 'unreadable' }),
      parseKeys({ kind: 'text', text: '{' }),
      ...[null, [], { keys: null }, { keys: 'everybody' }, { keys: {} }, { keys: ['short', 1] }].map(keysOf),
    ];
    for (const keys of none)
      expect([isOpenedBy(hashOfKey('short'), keys), isOpenedBy(undefined, keys)]).toEqual([false, false]);
  });

  it('never match a request without a key', () => {
    expect(opens(undefined, { keys: [hashOf('')] })).toBe(false);
  });

  it('can come from either header', () => {
    expect(keyOf({ authorization: 'Bearer abc' })).toBe('abc');
    expect(keyOf({ authorization: 'bearer  abc ' })).toBe('abc');
    expect(keyOf({ 'x-api-key': 'abc' })).toBe('abc');
    expect(keyOf({ authorization: 'Basic abc' })).toBeUndefined();
    expect(keyOf({ 'x-api-key': '' })).toBeUndefined();
  });
});

describe("a gateway's files", () => {
  it('close the gateway with their first line as the reason, even if unreadable', () => {
    expect(closingReason({ kind: 'absent' })).toBeUndefined();
    expect(closingReason({ kind: 'text', text: 'it is stopped.\nmore' })).toBe('it is stopped.');
    expect(closingReason({ kind: 'text', text: '' })).toBe('it was closed by its operator.');
    expect(closingReason({ kind: 'unreadable' })).toBe('it was closed by its operator.');
  });

  it('lead to errors that name the invalid field', () => {
    const upstream = { placement: 'chat', servedName: 'tiny', port: 1, model: 'm', canCancel: true, maxRequests: 2 };
    const files = { keysFolder: 'k', closedFolder: 'c', countsFile: 'n' };
    const whole = { upstreams: [upstream], ...files };
    const read = (file: unknown, listen = '0.0.0.0:8080') => parseDoormanConfig(file, listen);
    const listen = { address: '0.0.0.0', port: 8080 };
    expect(read({ ...whole, proxies: ['10.0.0.5'] })).toEqual({ ...whole, listen, proxies: ['10.0.0.5'] });
    expect(read(whole)).toEqual({ ...whole, listen, proxies: [] });
    expect(() => read({ ...whole, proxies: '10.0.0.5' })).toThrow('proxies');
    const refusing = { ...whole, upstreams: [{ ...upstream, refusedFields: ['adapters'] }] };
    expect(read(refusing).upstreams).toEqual(refusing.upstreams);
    expect(() => read({ ...whole, upstreams: [{ ...upstream, refusedFields: 'adapters' }] })).toThrow('refusedFields');
    expect(() => read({ ...whole, upstreams: [] })).toThrow('upstreams');
    expect(() => read({ ...whole, upstreams: [{ ...upstream, port: '1' }] })).toThrow('port');
    expect(() => read({ ...whole, upstreams: [{ ...upstream, model: '' }] })).toThrow('model');
    expect(() => read({ ...whole, keysFolder: undefined })).toThrow('keysFolder');
    expect(() => read(whole, '8080')).toThrow('listen');
    expect(() => read(null)).toThrow('the file');
  });
});

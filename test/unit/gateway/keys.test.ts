import { describe, expect, it } from 'vitest';
import { hashOfKey, isOpenedBy, keyOf, parseKeys } from '../../../src/gateway/keys.ts';
import { parseGatewayConfig } from '../../../src/gateway/read-config.ts';
import { hashOf } from './hash-of.ts';

const keysOf = (value: unknown) => parseKeys({ kind: 'text', text: JSON.stringify(value) });
const opens = (key: string | undefined, value: unknown): boolean => isOpenedBy(hashOfKey(key), keysOf(value));

describe("a gateway's API keys", () => {
  it('all grant access, and no other key does', () => {
    const keys = { keys: [hashOf('one'), hashOf('two'), hashOf('three')] };
    for (const key of ['one', 'two', 'three']) expect(opens(key, keys)).toBe(true);
    for (const key of [undefined, '', 'four', hashOf('one')]) expect(opens(key, keys)).toBe(false);
    for (const key of [undefined, 'four']) expect(opens(key, { keys: 'anybody' })).toBe(true);
    expect(opens(undefined, { keys: [hashOf('')] })).toBe(false);
  });

  it('grant no access if the key file is missing, unreadable or invalid', () => {
    const none = [
      parseKeys({ kind: 'absent' }),
      parseKeys({ kind: 'unreadable' }),
      parseKeys({ kind: 'text', text: '{' }),
      ...[
        null,
        [],
        { keys: null },
        { keys: 'everybody' },
        { keys: {} },
        { keys: ['short', 1, `${hashOf('short')}0`] },
      ].map(keysOf),
    ];
    for (const keys of none)
      expect([isOpenedBy(hashOfKey('short'), keys), isOpenedBy(undefined, keys)]).toEqual([false, false]);
  });

  it('may come from the Authorization or the x-api-key header', () => {
    expect(keyOf({ authorization: 'Bearer abc' })).toBe('abc');
    expect(keyOf({ authorization: 'bearer  abc ' })).toBe('abc');
    expect(keyOf({ 'x-api-key': 'abc' })).toBe('abc');
    expect(keyOf({ authorization: 'Bearer abc', 'x-api-key': 'other' })).toBe('abc');
    for (const not of ['Basic abc', 'Bearer abc def', 'x Bearer abc', 'Bearer'])
      expect(keyOf({ authorization: not, 'x-api-key': 'other' })).toBe('other');
    expect(keyOf({ 'x-api-key': '' })).toBeUndefined();
  });
});

describe("a gateway's configuration", () => {
  it('leads to errors that name the invalid field', () => {
    const upstream = { placement: 'chat', servedName: 'tiny', port: 1, model: 'm', cancels: 'always', maxRequests: 2 };
    const files = { keysFolder: 'k', closedFolder: 'c', countsFile: 'n' };
    const whole = { upstreams: [upstream], ...files };
    const read = (file: unknown, listen = '0.0.0.0:8080') => parseGatewayConfig(file, listen);
    const listen = { address: '0.0.0.0', port: 8080 };
    expect(read({ ...whole, proxies: ['10.0.0.5'] })).toEqual({ ...whole, listen, proxies: ['10.0.0.5'] });
    expect(read(whole)).toEqual({ ...whole, listen, proxies: [] });
    expect(() => read({ ...whole, proxies: '10.0.0.5' })).toThrow('proxies');
    const refusing = { ...whole, upstreams: [{ ...upstream, refusedFields: ['adapters'] }] };
    expect(read(refusing).upstreams).toEqual(refusing.upstreams);
    expect(() => read({ ...whole, upstreams: [{ ...upstream, refusedFields: 'adapters' }] })).toThrow('refusedFields');
    expect(() => read({ ...whole, upstreams: [] })).toThrow('upstreams');
    const api = { paths: ['/v1/x'], refusesNull: true, fetchesImages: true, endsStreams: true, deadError: 'dead' };
    const one = (more: object) => ({ ...whole, upstreams: [{ ...upstream, ...more }] });
    const own = { maxRequests: 0, cancels: 'never', ownPaths: ['/v1/x'] };
    const replicated = { ...one({ ...own, ...api }), replicasFolder: 'r', ownFile: 'o' };
    expect(read(replicated)).toEqual({ ...replicated, listen, proxies: [] });
    for (const cancels of ['always', 'streams', 'never'])
      expect(read(one({ cancels })).upstreams).toMatchObject([{ cancels }]);
    expect(read(one({ cancels: 'sometimes' })).upstreams).toMatchObject([{ cancels: 'never' }]);
    for (const count of [-1, 0.5, '4', null]) {
      expect(() => read(one({ maxRequests: count }))).toThrow('maxRequests is no number');
      expect(() => read(one({ port: count }))).toThrow('port is no number');
    }
    for (const text of ['', 1]) expect(() => read(one({ model: text }))).toThrow('model is no text');
    for (const name of Object.keys(files)) expect(() => read({ ...whole, [name]: undefined })).toThrow(name);
    for (const words of ['8080', '1.2.3.4:80 ', ' 1.2.3.4:80']) expect(() => read(whole, words)).toThrow('listen');
    for (const none of [null, 'text']) expect(() => read(none)).toThrow('the file');
    expect(() => read({ ...whole, upstreams: [upstream, null] })).toThrow('upstreams/1');
  });
});

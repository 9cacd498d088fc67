import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasRemoteImage, jsonMembers } from '../../../../src/gateway/body/json-members.ts';

/** The members of a text, with each value parsed. */
async function read(text: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const members = await jsonMembers(Buffer.from(text));
  return members && Object.fromEntries([...members].map(([name, value]) => [name, JSON.parse(value.toString())]));
}

/** The members according to `JSON.parse`. */
function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

describe("a JSON object's members", () => {
  it.each([
    '{}',
    ' { } ',
    '\r\n\t{"a":1}\n',
    '{"a":[],"b":{},"c":[[],{"d":[]}],"e":""}',
    '{ "a" : [ 1 , { "b" : null } , true ] , "c" : false }',
    '{"a":-0,"b":0.5,"c":-1.25e+10,"d":1E-2,"e":10,"f":0e0}',
    '{"\\u0061\\n\\"":"\\\\","é":"\\ud83d\\ude00","\\/":"/"}',
    '{"a":1,"a":2,"\\u0061":3}',
    '{"__proto__":{"x":1},"constructor":2}',
    '{"a":"} ] , :"}',
  ])('equal those from JSON.parse: %j', async (text) => {
    expect(parsed(text)).toBeDefined();
    expect(await read(text)).toEqual(parsed(text));
  });

  it.each([
    ...['', ' ', '{', '}', '[]', '1', 'null', '"a"', '{}{}', '{} x', '{,}', '{"a"}', '{"a":}', '{"a":1,}', '{"a" 1}'],
    ...['{a:1}', "{'a':1}", '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":[1}', '{"a":{"b":1]}', '{"a":{1:2}}'],
    ...['{"a":[}', '{"a":]', '{"a":tru}', '{"a":nulls}', '{"a":True}', '{"a":NaN}', '{"a":undefined}', '{"a":fals'],
    ...['{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":+1}', '{"a":-}', '{"a":1e}', '{"a":1e+}', '{"a":0x1}', '{"a":1_0}'],
    ...['{"a":"\\x"}', '{"a":"\\u12g4"}', '{"a":"\\u12', '{"a":"\\', '{"a":"\n"}', '{"a":"\u0000"}', '{"a":"', '{"a"'],
    ...['\ufeff{}', '\u00a0{}', '{"a":1}\u0000', '// x\n{}', '{"a":1 /* x */}'],
  ])('are rejected where JSON.parse fails: %j', async (text) => {
    expect(parsed(text)).toBeUndefined();
    expect(await read(text)).toBeUndefined();
  });

  it('equal those from JSON.parse for any formatting or damage', async () => {
    const space = fc.constantFrom(undefined, 1, '\t', ' \n ');
    const damage = fc.tuple(
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '0', ' '),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
        space,
        damage,
        async (value, indent, hurt) => {
          const text = JSON.stringify(value, undefined, indent);
          expect(await read(text)).toEqual(parsed(text));
          const at = hurt[0] % text.length;
          const hurtText = `${text.slice(0, at)}${hurt[2]}${text.slice(at + hurt[1])}`;
          expect(await read(hurtText)).toEqual(parsed(hurtText));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('contain the bytes of their values without surrounding space', async () => {
    const members = await jsonMembers(Buffer.from('{ "a" : [ 1, 2 ] , "b":1.0}'));
    expect([...(members ?? [])].map(([name, value]) => [name, value.toString()])).toEqual([
      ['a', '[ 1, 2 ]'],
      ['b', '1.0'],
    ]);
  });

  it('are rejected beyond a depth of 512 or a count of 256', async () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    const isRead = async (text: string): Promise<boolean> => (await read(text)) !== undefined;
    const deep = await Promise.all([512, 513, 200_000].map((depth) => isRead(nested(depth))));
    expect(deep).toEqual([true, false, false]);
    const wide = (count: number): string =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])));
    expect(await Promise.all([256, 257].map((count) => isRead(wide(count))))).toEqual([true, false]);
  });

  it('are read without blocking the event loop, even in a long list', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const members = await jsonMembers(Buffer.from(`{"a":[${'null,'.repeat(400_000)}1]}`));
    isOver = true;
    expect(members?.get('a')).toHaveLength(2_000_003);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("a request's images", () => {
  const all = (part: unknown) => [{ role: 'user', content: [{ type: 'text', text: 'a' }, [], part] }];
  const isRemote = (value: unknown) => hasRemoteImage(Buffer.from(JSON.stringify(value)));

  it.each([
    [{ type: 'image_url', image_url: { url: 'http://a' } }],
    [{ type: 'image_url', image_url: 'https://a' }],
    [{ type: 'input_image', image: { detail: 'low', url: 'file:///etc/passwd' } }],
    [{ type: 'image', source: { type: 'url', url: 'http://a' } }],
    [{ type: 'tool_result', content: [{ type: 'document', source: { url: ' data:' } }] }],
  ])('are refused if they are not included in the request: %j', async (part) => {
    expect(await isRemote(all(part))).toBe(true);
    expect(await isRemote([{ content: part }])).toBe(true);
  });

  it('are found under an escaped name', async () => {
    const text = '[{"content":[{"type":"image_url","\\u0069mage_url":{"\\u0075rl":"http://a"}}]}]';
    expect(await hasRemoteImage(Buffer.from(text))).toBe(true);
  });

  it.each([
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }],
    [{ type: 'text', text: 'http://a', url: 'http://a' }],
    [{ type: 'tool_use', input: { url: 'http://a', image: 'http://a' } }],
  ])('may be part of the request: %j', async (part) => {
    expect(await isRemote(all(part))).toBe(false);
  });
});

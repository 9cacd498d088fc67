import { expect, it } from 'vitest';
import { mlxApi } from '../../../../src/drivers/mlx/api.ts';
import { lacksMember, wrongForm } from '../../../../src/gateway/body/field-forms.ts';
import type { FieldForm } from '../../../../src/model/gateway.ts';

const { forms = {} } = mlxApi(512);
const wrong = (name: string, json: string): string | undefined =>
  wrongForm(Buffer.from(json), forms[name] as FieldForm);

it.each([
  [
    'stop',
    ['"a"', '""', '[]', '["a","\\ud83d\\ude00"]'],
    ['5', '[null]', '[[]]', '{}', 'true', '"\\ud800"'],
    'a text or a list of texts',
  ],
  ['top_k', ['0', '1', '511'], ['512', '-1', '1.5', 'true', '"5"', '1e400'], 'a whole number from 0 to 511'],
  ['min_p', ['0', '0.5', '1'], ['-0.1', '1.1', 'false'], 'a number from 0 to 1'],
  [
    'seed',
    ['0', '9007199254740993', '9223372036854775807'],
    ['-1', '1.5', '18446744073709551616'],
    `a whole number from 0 to ${2 ** 63}`,
  ],
  ['prompt', ['"a"', '" b"'], ['""', '" \\n"', '"\\u200b"', '["a"]', '[1]', '{}'], 'a text that is not blank'],
  [
    'logit_bias',
    ['{}', '{"0":1,"511":-100}'],
    ['{"512":1}', '{"-1":1}', '{"0":"1"}', '{"0":1e400}', '{"a":1}', '[]', '5'],
    'an object of numbers by token, and every token below 512',
  ],
  ['stream_options', ['{}', '{"include_usage":true}'], ['5', '[]', 'true'], 'an object'],
  [
    'chat_template_kwargs',
    ['{"enable_thinking":false}'],
    ['{"return_tensors":"np"}'],
    'an object without return_tensors',
  ],
])('the %s field accepts only its allowed values', (name, allowed, refused, wanted) => {
  expect(allowed.map((json) => wrong(name, json))).toEqual(allowed.map(() => undefined));
  expect(refused.map((json) => wrong(name, json))).toEqual(refused.map(() => wanted));
});

it('a long value is refused, unless it is text that needs no check', () => {
  const long = `"${'a'.repeat(2_000_000)}"`;
  expect([wrong('prompt', long), wrong('stop', long)]).toEqual([undefined, 'a text or a list of texts']);
});

it('an object without its required member is omitted', () => {
  const form = forms['stream_options'];
  const lacks = ['{}', '{"include_obfuscation":false}', '{"include_usage":false}'].map((json) =>
    lacksMember(Buffer.from(json), form),
  );
  expect(lacks).toEqual([true, true, false]);
  expect(lacksMember(Buffer.from('"a"'), undefined)).toBe(false);
});

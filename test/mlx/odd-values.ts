const huge = '1000000000000000000000000000000';
const message = (content: string, role = '"user"') => `[{"role":${role},"content":${content}}]`;
const called = (calls: string) => `[{"role":"assistant","content":"","tool_calls":${calls}}]`;
const content = (part: string) => message(`[${part}]`);

/** Values of fields of a chat, as JSON, that mlx_lm.server does not expect. About a third of them ended the real one. */
const values: Readonly<Record<string, readonly string[]>> = {
  stop: ['5', '[5]', '[null]', '[[]]', '{}', 'true', '""', '[""]', '[["a"]]', '"\\ud800"', '0', 'false'],
  top_k: ['1000000', '511', '255', huge, 'true', '1.5', '-1'],
  logit_bias: [
    '{"0":"x"}',
    '{"0":null}',
    '{"999999":1}',
    '{"-1":1}',
    '{"0":1e400}',
    '{"0":[1]}',
    `{"${huge}":1}`,
    '[]',
    '5',
  ],
  seed: ['-1', '18446744073709551616', '9223372036854775807', '1.5', 'true', '"5"', huge],
  max_tokens: ['true', '0', '-5', '"5"', '1.5'],
  max_completion_tokens: ['true', '0', '-5', '"5"', '1.5'],
  temperature: ['NaN', 'Infinity', '1e308', '1e-320', '1e400', 'true', '"1"', '-1'],
  top_p: ['NaN', '0', '1', 'true', '2'],
  min_p: ['2', 'NaN', '1', '1e400', 'true'],
  repetition_penalty: ['1e308', '0.00001', 'true', '1e400', huge],
  repetition_context_size: ['1000000000000', '0', 'true', huge],
  presence_penalty: ['1e400', '-1e308', huge, '-2'],
  presence_context_size: ['0', huge],
  frequency_penalty: ['1e400', huge, '-2'],
  frequency_context_size: ['0', huge],
  xtc_probability: ['1.0', '0', '0.5'],
  xtc_threshold: ['1.0', '0.0', '0.5', '1'],
  top_logprobs: ['0', '11', '12', '-1', 'true'],
  logprobs: ['5', '1', '0'],
  messages: [
    ...['5', '{}', '[5]', '[[]]', '[null]', '"a"', '[{"role":"user"}]', message('"a"', '5'), message('"a"', '"tool"')],
    ...['null', '5', '[]', '""', '"a\\u0000b"', '"\\ud800"'].map((one) => message(one)),
    ...['{"type":"text"}', '{"type":"text","text":5}', '{"type":"video_url"}', '{"type":"image_url"}'].map(content),
    ...['5', '{"url":"data:x"}'].map((url) => content(`{"type":"image_url","image_url":${url}}`)),
    ...['5', '[5]', '[{"function":{"name":"a","arguments":"{"}}]', '[{"function":{"name":"a","arguments":"5"}}]'].map(
      called,
    ),
  ],
  tools: ['5', '[5]', '[{"type":"function"}]', '{}', '"a"', '[{"type":"function","function":{"name":5}}]', '[null]'],
  stream_options: ['{}', '{"include_obfuscation":false}', '5', '[]', '{"include_usage":5}', 'true', '"a"'],
  chat_template_kwargs: [
    ...['5', '[]', '"a"', '{"x":{}}', '{"add_generation_prompt":false}', '{"tokenize":false}', '{"tools":5}'],
    ...[
      '{"chat_template":"x"}',
      '{"return_tensors":"np"}',
      '{"return_dict":true}',
      '{"truncation":true,"max_length":0}',
    ],
    ...['{"continue_final_message":true}', '{"return_assistant_tokens_mask":true}', '{"enable_thinking":5}'],
  ],
  role_mapping: ['5', '{}', '[]', '{"user":5}'],
  response_format: ['5', '{}'],
  stream: ['"true"', '1'],
};
const prompts = ['5', '[]', '[1,2]', '{"a":1}', '""', '" "', '["a"]', '[[1]]', '"\\ud800"', 'true', '["a","b"]'];

const bodyOf = (fields: Readonly<Record<string, string>>): string =>
  `{${Object.entries(fields)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;

/** Requests as JSON, each with one such value: half of them streams, half of them with a seed. */
export const oddRequests = [
  ...Object.entries(values).flatMap(([name, all]) => all.map((json) => ({ path: '/v1/chat/completions', name, json }))),
  ...prompts.map((json) => ({ path: '/v1/completions', name: 'prompt', json })),
].map(({ path, name, json }, at) => {
  const usual = { model: '"tiny"', max_tokens: '3', temperature: '0.7', logprobs: 'true', xtc_probability: '0.5' };
  const odd = { stream: String(at % 2 === 0), ...(at % 4 < 2 ? { seed: '7' } : {}), [name]: json };
  return { path, body: bodyOf({ messages: message('"Hi"'), ...usual, ...odd }), what: `${name}: ${json}` };
});

import type { FieldForm, RuntimeApi } from '../../model/gateway.ts';

/** Without a known vocabulary: less than any model has. */
const fewTokens = 256;

/** Parameters of Hugging Face's `apply_chat_template`, with which it returns no list of tokens, or runs a template. */
const templateParameters = [
  ...['chat_template', 'conversation', 'continue_final_message', 'documents', 'max_length', 'padding'],
  ...['return_assistant_tokens_mask', 'return_dict', 'return_tensors', 'tokenize', 'tokenizer_kwargs', 'tools'],
  'truncation',
];

const penalty: FieldForm = { kind: 'number', least: -1_000_000, most: 1_000_000 };

/**
 * Values that the server does not check: one wrong value ends its generation thread, crashes it, or breaks off the
 * answer; with a seed, the answer after it.
 *
 * @see mlx_lm/server.py and sample_utils.py of mlx-lm 0.32.2. Each was tried on the real server (test/mlx).
 */
const formsFor = (vocabulary: number): Readonly<Record<string, FieldForm>> => ({
  chat_template_kwargs: { kind: 'object', refused: templateParameters },
  frequency_penalty: penalty,
  logit_bias: { kind: 'token-biases', below: vocabulary },
  min_p: { kind: 'number', least: 0, most: 1 },
  presence_penalty: penalty,
  prompt: { kind: 'text' },
  repetition_penalty: { ...penalty, least: 0 },
  seed: { kind: 'number', least: 0, most: 2 ** 63, isWhole: true },
  stop: { kind: 'texts' },
  stream_options: { kind: 'object', needed: 'include_usage' },
  top_k: { kind: 'number', least: 0, most: vocabulary - 1, isWhole: true },
  top_logprobs: { kind: 'number', least: -1, most: 11, isWhole: true },
  xtc_threshold: { kind: 'number', least: 0, most: 0.5 },
});

/**
 * @see mlx_lm/server.py of mlx-lm 0.32.2: do_POST, ModelProvider (the refused fields are part of the model's key, so
 *   other values make every rank unload the model), validate_model_parameters, _inline_image_urls and generate
 */
export const mlxApi = (vocabulary = fewTokens): RuntimeApi => ({
  paths: ['/v1/chat/completions', '/v1/completions'],
  refusedFields: ['draft_model', 'adapters', 'num_draft_tokens'],
  forms: formsFor(vocabulary),
  refusesNull: true,
  fetchesImages: true,
  endsStreams: true,
  deadError: 'generation thread died',
});

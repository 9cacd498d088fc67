/** The shape of a made-up model with the architecture `llama`. */
export interface TinyShape {
  readonly layers: number;
  /** A multiple of `heads`. */
  readonly hidden: number;
  readonly heads: number;
  /** Divides `heads`. */
  readonly kvHeads: number;
  readonly intermediate: number;
  readonly context: number;
  /** Determines the weights; a different seed gives different answers. */
  readonly seed?: number;
}

/** The smallest model that answers: 406,784 bytes. */
export const tinyShape: TinyShape = { layers: 4, hidden: 64, heads: 4, kvHeads: 2, intermediate: 128, context: 512 };

const alignment = 32;
const types = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const tensorTypes = { float32: 0, float16: 1 } as const;

// The lowest byte is first, as on every computer that runs this program.
const uint32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const uint64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const float32 = (value: number): Buffer => Buffer.from(Float32Array.of(value).buffer);
const text = (value: string): Buffer => Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)]);

const entry = (key: string, type: number, value: Buffer): Buffer => Buffer.concat([text(key), uint32(type), value]);
const number = (key: string, value: number): Buffer => entry(key, types.uint32, uint32(value));
const words = (key: string, value: string): Buffer => entry(key, types.string, text(value));
const list = (key: string, type: number, tokens: readonly Token[], item: (token: Token) => Buffer): Buffer =>
  entry(key, types.array, Buffer.concat([uint32(type), uint64(tokens.length), ...tokens.map(item)]));

interface Token {
  readonly text: string;
  readonly type: number;
  readonly score: number;
}

/** Three special tokens, every byte, every printable character, and unused tokens up to a multiple of 32. */
function vocabulary(): readonly Token[] {
  const token = (text: string, type: number, score = 0): Token => ({ text, type, score });
  const tokens = (length: number, make: (index: number) => Token) => Array.from({ length }, (_, index) => make(index));
  const special = [token('<unk>', 2), token('<s>', 3), token('</s>', 3)];
  const bytes = tokens(256, (code) => token(`<0x${code.toString(16).toUpperCase().padStart(2, '0')}>`, 6));
  const printable = tokens(95, (index) => {
    const text = index === 0 ? '\u2581' : String.fromCharCode(32 + index);
    return token(text, 1, -(32 + index));
  });
  const known = [...special, ...bytes, ...printable];
  const unused = tokens((32 - (known.length % 32)) % 32, (index) => token(`<x${known.length + index}>`, 5));
  return [...known, ...unused];
}

const template = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}assistant:";

function metadata(shape: TinyShape, tokens: readonly Token[]): readonly Buffer[] {
  return [
    words('general.architecture', 'llama'),
    words('general.name', 'tiny-random'),
    number('general.file_type', 1),
    number('llama.block_count', shape.layers),
    number('llama.context_length', shape.context),
    number('llama.embedding_length', shape.hidden),
    number('llama.feed_forward_length', shape.intermediate),
    number('llama.attention.head_count', shape.heads),
    number('llama.attention.head_count_kv', shape.kvHeads),
    entry('llama.attention.layer_norm_rms_epsilon', types.float32, float32(1e-5)),
    number('llama.rope.dimension_count', shape.hidden / shape.heads),
    number('llama.vocab_size', tokens.length),
    words('tokenizer.ggml.model', 'llama'),
    list('tokenizer.ggml.tokens', types.string, tokens, (one) => text(one.text)),
    list('tokenizer.ggml.scores', types.float32, tokens, ({ score }) => float32(score)),
    list('tokenizer.ggml.token_type', types.int32, tokens, ({ type }) => uint32(type)),
    number('tokenizer.ggml.bos_token_id', 1),
    number('tokenizer.ggml.eos_token_id', 2),
    number('tokenizer.ggml.unknown_token_id', 0),
    entry('tokenizer.ggml.add_bos_token', types.bool, Buffer.from([1])),
    words('tokenizer.chat_template', template),
  ];
}

interface Tensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** Whether this is a norm: all ones, in 32 bits. */
  readonly isNorm: boolean;
}

/** In file order. */
function tensorsOf({ layers, hidden, heads, kvHeads, intermediate }: TinyShape, tokens: number): readonly Tensor[] {
  const kv = (kvHeads * hidden) / heads;
  const norm = (name: string): Tensor => ({ name: `${name}.weight`, dims: [hidden], isNorm: true });
  const matrix = (name: string, ...dims: number[]): Tensor => ({ name: `${name}.weight`, dims, isNorm: false });
  const layer = (index: number): readonly Tensor[] => {
    const at = `blk.${index}.`;
    return [
      norm(`${at}attn_norm`),
      norm(`${at}ffn_norm`),
      matrix(`${at}attn_q`, hidden, hidden),
      matrix(`${at}attn_k`, hidden, kv),
      matrix(`${at}attn_v`, hidden, kv),
      matrix(`${at}attn_output`, hidden, hidden),
      matrix(`${at}ffn_gate`, hidden, intermediate),
      matrix(`${at}ffn_up`, hidden, intermediate),
      matrix(`${at}ffn_down`, intermediate, hidden),
    ];
  };
  const blocks = Array.from({ length: layers }, (_, index) => layer(index)).flat();
  return [matrix('token_embd', hidden, tokens), norm('output_norm'), matrix('output', hidden, tokens), ...blocks];
}

const countOf = ({ dims }: Tensor): number => dims.reduce((product, one) => product * one, 1);
const sizeOf = (tensor: Tensor): number => countOf(tensor) * (tensor.isNorm ? 4 : 2);
const aligned = (size: number): number => Math.ceil(size / alignment) * alignment;

/** Numbers from -1 to 1, the same on every computer: a linear congruential generator. @see Numerical Recipes, 7.1 */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32) * 2 - 1;
  };
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** A number in 16 bits, truncated instead of rounded; numbers that are too small become zero. */
function halfBits(value: number): number {
  single[0] = value;
  const bits = singleBits[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 255) - 112;
  return exponent <= 0 ? sign : sign | (exponent << 10) | ((bits >>> 13) & 0x3ff);
}

const firstPrintable = 259;
const printableCount = 95;

/** The output rows of unprintable tokens are zero, so that the model never prefers such a token. */
const isSilent = ({ name, dims }: Tensor, index: number): boolean => {
  if (name !== 'output.weight') return false;
  const token = Math.floor(index / (dims[0] ?? 1));
  return token < firstPrintable || token >= firstPrintable + printableCount;
};

function contentOf(tensor: Tensor, random: () => number): Buffer {
  const content = Buffer.alloc(aligned(sizeOf(tensor)));
  const scale = 1.7 / Math.sqrt(tensor.dims[0] ?? 1);
  for (let index = 0; index < countOf(tensor); index += 1) {
    const value = tensor.isNorm ? 1 : random() * scale;
    if (tensor.isNorm) content.writeFloatLE(value, index * 4);
    else content.writeUInt16LE(isSilent(tensor, index) ? 0 : halfBits(value), index * 2);
  }
  return content;
}

function headers(tensors: readonly Tensor[]): readonly Buffer[] {
  let offset = 0;
  return tensors.map((tensor) => {
    const type = tensor.isNorm ? tensorTypes.float32 : tensorTypes.float16;
    const dims = [uint32(tensor.dims.length), ...tensor.dims.map(uint64)];
    const header = Buffer.concat([text(tensor.name), ...dims, uint32(type), uint64(offset)]);
    offset += aligned(sizeOf(tensor));
    return header;
  });
}

/**
 * A model that a real llama.cpp can load and that answers in printable characters: random weights, a vocabulary of
 * bytes, a chat template. The bytes are the same everywhere. The weights are meaningless, so other processors may
 * resolve near ties between tokens differently, and no test may expect specific answers.
 *
 * @see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function tinyGguf(shape: TinyShape): Buffer {
  const tokens = vocabulary();
  const entries = metadata(shape, tokens);
  const tensors = tensorsOf(shape, tokens.length);
  const counts = [uint32(3), uint64(tensors.length), uint64(entries.length)];
  const head = Buffer.concat([Buffer.from('GGUF'), ...counts, ...entries, ...headers(tensors)]);
  const random = randomNumbers(shape.seed ?? 12_345);
  const padding = Buffer.alloc(aligned(head.length) - head.length);
  return Buffer.concat([head, padding, ...tensors.map((tensor) => contentOf(tensor, random))]);
}

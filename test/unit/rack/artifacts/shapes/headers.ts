/** Handmade headers in the formats of other programs. */

/** A safetensors file that contains only the length and the JSON, with the given offsets. */
export function safetensorsBytes(header: unknown): Buffer {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json]);
}

/** A header with consecutive tensors. */
export function tensorsInRow(sizes: Readonly<Record<string, number>>): { header: unknown; dataBytes: number } {
  let at = 0;
  const entries = Object.entries(sizes).map(([name, bytes]) => {
    const from = at;
    at += bytes;
    return [name, { dtype: 'U8', shape: [bytes], data_offsets: [from, at] }];
  });
  return { header: Object.fromEntries(entries), dataBytes: at };
}

export const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

export const u64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

export const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

type Value = number | string | boolean | readonly string[] | readonly boolean[] | readonly number[];

function value(one: Value): Buffer {
  if (typeof one === 'number') return Buffer.concat([u32(4), u32(one)]);
  if (typeof one === 'boolean') return Buffer.concat([u32(7), Buffer.from([one ? 1 : 0])]);
  if (typeof one === 'string') return Buffer.concat([u32(8), text(one)]);
  const [first] = one;
  if (typeof first === 'string')
    return Buffer.concat([u32(9), u32(8), u64(one.length), ...one.map((word) => text(String(word)))]);
  if (typeof first === 'boolean') {
    return Buffer.concat([u32(9), u32(7), u64(one.length), Buffer.from(one.map((flag) => (flag ? 1 : 0)))]);
  }
  return Buffer.concat([u32(9), u32(4), u64(one.length), ...one.map((number) => u32(Number(number)))]);
}

export interface GgufTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: number;
  readonly offset: number;
}

/** A GGUF file of version 3 up to its data. */
export function ggufBytes(metadata: Readonly<Record<string, Value>>, tensors: readonly GgufTensor[]): Buffer {
  const keys = Object.entries(metadata).map(([key, one]) => Buffer.concat([text(key), value(one)]));
  const table = tensors.map(({ name, dims, type, offset }) =>
    Buffer.concat([text(name), u32(dims.length), ...dims.map((dim) => u64(dim)), u32(type), u64(offset)]),
  );
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(keys.length), ...keys, ...table]);
  return Buffer.concat([head, Buffer.alloc((32 - (head.length % 32)) % 32)]);
}

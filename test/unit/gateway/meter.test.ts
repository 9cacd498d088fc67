import { describe, expect, it } from 'vitest';
import { meterFor } from '../../../src/gateway/meter.ts';

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (fields: object): string => event({ choices: [{ index: 0, delta: fields }] });

function metered(text: string, pieceBytes: number): { tokens: number; isSaid: boolean; firsts: number } {
  const meter = meterFor('text/event-stream; charset=utf-8');
  const bytes = Buffer.from(text);
  let firsts = 0;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (meter.see(bytes.subarray(at, at + pieceBytes))) firsts += 1;
  }
  return { ...meter.result(), firsts };
}

/** The bytes that Buffer's methods searched, copied or decoded during `work`. */
function countBytes(work: () => void): number {
  let bytes = 0;
  const { concat } = Buffer;
  const { prototype } = Buffer;
  const methods = {
    copy: prototype.copy,
    indexOf: prototype.indexOf,
    lastIndexOf: prototype.lastIndexOf,
    toString: prototype.toString,
  };
  const counted = Object.entries(methods).map(([name, method]) => {
    const count = function (this: Buffer, ...given: unknown[]): unknown {
      bytes += this.length;
      return Reflect.apply(method, this, given);
    };
    return [name, count];
  });
  try {
    Object.assign(prototype, Object.fromEntries(counted));
    Buffer.concat = (list, length) => {
      const all = concat(list, length);
      bytes += all.length;
      return all;
    };
    work();
  } finally {
    Object.assign(prototype, methods);
    Buffer.concat = concat;
  }
  return bytes;
}

describe("the gateway's token meter", () => {
  const chat = [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'Hm' }),
    ': a comment\n\n',
    delta({ content: 'Grüß' }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{' } }] }),
    delta({}),
    'data: [DONE]\n\n',
  ].join('');

  it('counts one token per piece of text, however the bytes are split', () => {
    for (const size of [1, 7, 64, 10_000]) {
      expect(metered(chat, size)).toEqual({ tokens: 3, isSaid: false, firsts: 1 });
    }
  });

  it("prefers the usage at a stream's end to its own count", () => {
    const withUsage = `${chat}${event({ choices: [], usage: { completion_tokens: 17 } })}`;
    expect(metered(withUsage, 33)).toEqual({ tokens: 17, isSaid: true, firsts: 1 });
    const responses = event({ type: 'response.completed', response: { usage: { output_tokens: 5 } } });
    const text = event({ type: 'response.output_text.delta', delta: 'a' });
    expect(metered(`${text}${responses}`, 33)).toMatchObject({ tokens: 5, firsts: 1 });
  });

  it('reads the `usage` of a complete response, or counts nothing', () => {
    const whole = (text: string): number => {
      const meter = meterFor('application/json');
      meter.see(Buffer.from(text));
      return meter.result().tokens;
    };
    expect(whole('{"usage":{"completion_tokens":9}}')).toBe(9);
    for (const odd of ['{"usage":{"completion_tokens":-1}}', '{"usage":{"completion_tokens":"9"}}', '{', 'null']) {
      expect(whole(odd)).toBe(0);
    }
  });

  it('finds text in every text field of the APIs, and in no other field', () => {
    const names = ['content', 'reasoning_content', 'reasoning', 'text', 'thinking', 'partial_json'];
    const text = [...names.map((name) => ({ delta: { [name]: 'a' } })), { delta: 'a' }, { delta: { tool_calls: [] } }];
    const choices = [{ text: 'a' }, { delta: { tool_calls: [] } }, { delta: { content: 'a' } }];
    for (const one of [...text, ...choices.map((choice) => ({ choices: [{}, choice] }))]) {
      expect(metered(event(one), 1_000)).toEqual({ tokens: 1, isSaid: false, firsts: 1 });
    }
    const none = [{}, null, 7, { delta: '' }, { delta: 7 }, { delta: { content: '' } }, { delta: { other: 'a' } }];
    const noChoice = [{ choices: [] }, { choices: [{ delta: 'a' }] }, { choices: [], delta: 'a' }];
    for (const one of [...none, ...noChoice]) {
      expect(metered(event(one), 1_000)).toEqual({ tokens: 0, isSaid: false, firsts: 0 });
    }
    expect(metered('data{"delta":"a"}\nevent: {"delta":"a"}\n', 1_000).tokens).toBe(0);
    expect(metered('data:{"delta":"a"}\r\ndata: {"delta":"b"}\r\ndata: {"delta":"c"}', 9)).toMatchObject({ tokens: 2 });
  });

  it('accepts only numeric usage, from every API', () => {
    const countOf = (usage: unknown) => metered(event({ delta: 'a', usage }), 1_000);
    expect(countOf({ completion_tokens: 7.9 })).toMatchObject({ tokens: 7, isSaid: true });
    expect(countOf({ output_tokens: 0 })).toMatchObject({ tokens: 0, isSaid: true });
    for (const odd of [null, 7, {}, { completion_tokens: -1 }, { completion_tokens: '7' }]) {
      expect(countOf(odd)).toMatchObject({ tokens: 1, isSaid: false });
    }
    expect(metered('data: {"usage":{"completion_tokens":1e999}}\n', 1_000).isSaid).toBe(false);
    const twice = [7, 9].map((tokens) => event({ usage: { completion_tokens: tokens } })).join('');
    expect(metered(`${twice}${event({})}`, 1_000)).toMatchObject({ tokens: 9, isSaid: true });
  });

  it('keeps at most 4 MiB of a response and 64 KiB of a line', () => {
    const whole = (bytes: number) => {
      const meter = meterFor('application/json');
      const end = '{"usage":{"completion_tokens":9}}';
      for (const chunk of [' '.repeat(bytes - end.length - 1), ' ', end])
        expect(meter.see(Buffer.from(chunk))).toBe(false);
      return [meter.pieces(), meter.result()];
    };
    expect(whole(4_194_304)).toEqual([0, { tokens: 9, isSaid: true }]);
    expect(whole(4_194_305)).toEqual([0, { tokens: 0, isSaid: false }]);
    const line = (bytes: number) => {
      const meter = meterFor('text/event-stream');
      const start = 'data: {"delta":"';
      meter.see(Buffer.from(`${start}${'x'.repeat(bytes - start.length)}`));
      return [meter.see(Buffer.from('"}\n')), meter.pieces()];
    };
    expect(line(65_534)).toEqual([true, 1]);
    expect(line(65_535)).toEqual([false, 0]);
  });

  it("recognizes a stream's end in a line that is too long to keep", () => {
    const isEnded = (type: string) => {
      const meter = meterFor('text/event-stream');
      meter.see(Buffer.from(event({ type, response: { output: 'x'.repeat(100_000) } })));
      return meter.isEnded();
    };
    expect(['response.completed', 'response.output_text.done'].map(isEnded)).toEqual([true, false]);
  });

  it.each(['text/event-stream', 'application/json'])('processes each byte of %s only a few times', (contentType) => {
    for (const [pieces, bytes] of [
      [20_000, 1],
      [2_000, 100],
    ] as const) {
      const meter = meterFor(contentType);
      const piece = Buffer.alloc(bytes, 'x');
      const handled = countBytes(() => {
        for (let at = 0; at < pieces; at += 1) meter.see(piece);
        meter.see(Buffer.from('\n'));
        meter.result();
      });
      expect(handled).toBeGreaterThanOrEqual(pieces * bytes);
      expect(handled).toBeLessThan(10 * pieces * bytes);
    }
  });
});

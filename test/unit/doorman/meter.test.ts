import { describe, expect, it } from 'vitest';
import { meterFor } from '../../../src/doorman/meter.ts';

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

describe('the meter of the doorman', () => {
  const chat = [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning_content: 'Hm' }),
    ': a comment\n\n',
    delta({ content: 'Grüß' }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{' } }] }),
    delta({}),
    'data: [DONE]\n\n',
  ].join('');

  it('counts one token for each piece of text, however the bytes are cut', () => {
    for (const size of [1, 7, 64, 10_000]) {
      expect(metered(chat, size)).toEqual({ tokens: 3, isSaid: false, firsts: 1 });
    }
  });

  it('believes the usage at the end of a stream rather than its own count', () => {
    const withUsage = `${chat}${event({ choices: [], usage: { completion_tokens: 17 } })}`;
    expect(metered(withUsage, 33)).toEqual({ tokens: 17, isSaid: true, firsts: 1 });
    const responses = event({ type: 'response.completed', response: { usage: { output_tokens: 5 } } });
    expect(metered(`${event({ type: 'response.output_text.delta', delta: 'a' })}${responses}`, 33)).toMatchObject({
      tokens: 5,
      firsts: 1,
    });
  });

  it('reads the usage of an answer in one piece, and counts nothing where there is none', () => {
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
});

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { askHidden, type HiddenTerminal } from '../../../src/secrets/resolve-secret.ts';

/** A terminal that types these pieces once it is in raw mode. */
function terminal(pieces: readonly string[], signal?: AbortSignal) {
  const events = new EventEmitter();
  const seen = { written: '', raw: [] as boolean[], interrupts: 0 };
  const pauses = { count: 0 };
  const input = Object.assign(events, {
    setRawMode: (mode: boolean) => {
      seen.raw.push(mode);
    },
    resume: () => {
      for (const piece of pieces) queueMicrotask(() => events.emit('data', Buffer.from(piece)));
    },
    pause: () => {
      pauses.count += 1;
    },
  }) as unknown as HiddenTerminal['input'];
  const at: HiddenTerminal = {
    input,
    write: (text) => {
      seen.written += text;
    },
    abort: () => {
      seen.interrupts += 1;
    },
    ...(signal === undefined ? {} : { signal }),
  };
  return { at, seen, events, pauses };
}

describe('a hidden prompt', () => {
  it('reads the input up to Enter without echoing it', async () => {
    const { at, seen } = terminal(['hun', 'tex\u007fr2\rrest']);
    expect(await askHidden('Password: ', at)).toBe('hunter2');
    expect(seen).toEqual({ written: 'Password: \n', raw: [true, false], interrupts: 0 });
  });

  it('clears the line at Ctrl-U and ignores other control characters', async () => {
    expect(await askHidden('', terminal(['wrong\u0015ri\u001bght\n']).at)).toBe('right');
  });

  it('joins a UTF-8 character that arrives in two chunks', async () => {
    const { at } = terminal([]);
    const answer = askHidden('', at);
    const bytes = Buffer.from('ä\r');
    for (const byte of bytes) (at.input as unknown as EventEmitter).emit('data', Buffer.from([byte]));
    expect(await answer).toBe('ä');
  });

  it('is canceled by Ctrl-C, Ctrl-D or the end of the run', async () => {
    const { at, seen } = terminal(['hun\u0003']);
    expect(await askHidden('', at)).toBeUndefined();
    expect(seen).toMatchObject({ raw: [true, false], interrupts: 1 });
    expect(await askHidden('', terminal(['\u0004']).at)).toBeUndefined();
    expect(await askHidden('', terminal([], AbortSignal.abort()).at)).toBeUndefined();
    const run = new AbortController();
    const answer = askHidden('', terminal([], run.signal).at);
    run.abort();
    expect(await answer).toBeUndefined();
  });

  it('keeps spaces, limits the length and ignores Ctrl-D after input', async () => {
    expect(await askHidden('', terminal([' a b\u001f\b\u0004c \r']).at)).toBe(' a c ');
    expect(await askHidden('', terminal([`${'x'.repeat(1_024)}yz\r`]).at)).toBe('x'.repeat(1_024));
  });

  it('removes its listeners and pauses the input when done', async () => {
    const run = new AbortController();
    const { at, seen, events, pauses } = terminal(['\r'], run.signal);
    expect(await askHidden('', at)).toBe('');
    expect([events.eventNames(), pauses.count]).toEqual([[], 1]);
    run.abort();
    expect(seen).toEqual({ written: '\n', raw: [true, false], interrupts: 0 });
    const late = terminal(['\r'], run.signal);
    expect(await askHidden('Password: ', late.at)).toBeUndefined();
    expect(late.seen).toEqual({ written: '', raw: [], interrupts: 0 });
  });

  it('is canceled when the terminal closes', async () => {
    const { at, events } = terminal([]);
    const answer = askHidden('', at);
    events.emit('end');
    expect(await answer).toBeUndefined();
  });
});

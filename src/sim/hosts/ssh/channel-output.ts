import type { Readable } from 'node:stream';
import type { ServerChannel } from 'ssh2';

/**
 * ssh2 keeps a chunk that waited for window space after it was sent, and sends it again when the other stream of the
 * channel has to wait next. Forgetting all four before each write makes that impossible, since only one write is
 * ever under way.
 */
const waiting = ['_chunk', '_chunkcb', '_chunkErr', '_chunkcbErr'] as const;

/** Sends stdout and stderr of one command over its channel, one chunk at a time, with the client's back-pressure. */
export interface ChannelOutput {
  /** Sends a whole stream; resolves at its end. Never settles when the channel is closed meanwhile. */
  readonly send: (stream: Readable, to: 'stdout' | 'stderr') => Promise<void>;
  readonly bytes: () => number;
}

/** Takes over the writing side of a channel; nothing is sent before `released`. */
export function createChannelOutput(channel: ServerChannel, released: Promise<void>): ChannelOutput {
  let turn = released;
  let sent = 0;
  const write = (chunk: Buffer, to: 'stdout' | 'stderr'): Promise<void> => {
    turn = turn.then(
      () =>
        new Promise((resolve) => {
          for (const field of waiting) Reflect.set(channel, field, undefined);
          sent += chunk.length;
          (to === 'stdout' ? channel : channel.stderr).write(chunk, () => resolve());
        }),
    );
    return turn;
  };
  return {
    send: async (stream, to) => {
      for await (const chunk of stream) await write(chunk, to);
    },
    bytes: () => sent,
  };
}

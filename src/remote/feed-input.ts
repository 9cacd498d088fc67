import type { ClientChannel } from 'ssh2';
import type { ExecLimits } from './remote.ts';

/** What feeding a command's standard input tells. */
export interface FeedHooks {
  /** A piece was handed to the connection, which has room for the next one. */
  readonly moved: () => void;
  /** The pieces ended with an error: what the command has read is not the whole. */
  readonly broken: () => void;
}

/**
 * Gives a command its standard input and ends it. Pieces are asked for one at a time, as fast as the node reads them;
 * a command that ends early is asked for no more.
 */
export function feedInput(channel: ClientChannel, input: ExecLimits['stdin'], hooks: FeedHooks): void {
  if (input === undefined) channel.end();
  else if (input instanceof Uint8Array) channel.end(Buffer.from(input));
  else feedPieces(channel, input, hooks).catch(() => hooks.broken());
}

async function feedPieces(channel: ClientChannel, pieces: AsyncIterable<Uint8Array>, hooks: FeedHooks): Promise<void> {
  for await (const piece of pieces) {
    if (!channel.writable) return;
    if (!channel.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))) await roomIn(channel);
    hooks.moved();
  }
  channel.end();
}

/** Room for more, or an end of the channel. */
const roomIn = (channel: ClientChannel): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      channel.off('drain', over).off('close', over).off('error', over);
      resolve();
    };
    channel.on('drain', over).on('close', over).on('error', over);
  });

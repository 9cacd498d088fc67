/** Gathers output of a command in one growing piece of memory, however small the packets are in which it comes. */
export interface OutputSink {
  append(chunk: Uint8Array): void;
  take(): Uint8Array;
}

const firstBytes = 4096;

/** An empty sink. Its memory is at most twice what was appended. */
export function createSink(): OutputSink {
  let bytes = Buffer.alloc(0);
  let used = 0;
  return {
    append: (chunk) => {
      const needed = used + chunk.length;
      if (needed > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(firstBytes, needed, bytes.length * 2));
        bytes.copy(grown, 0, 0, used);
        bytes = grown;
      }
      bytes.set(chunk, used);
      used = needed;
    },
    take: () => bytes.subarray(0, used),
  };
}

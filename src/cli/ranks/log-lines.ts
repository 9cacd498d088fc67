/** Longer lines than this are cut in two: a rank may print without end. */
const longestLine = 65_536;

/** Makes lines of bytes that come in pieces. */
export interface LineReader {
  /** The lines that these bytes end. */
  readonly add: (bytes: Uint8Array) => readonly string[];
  /** What stands behind the last line break, when no more will come. The next bytes begin anew. */
  readonly end: () => readonly string[];
}

/** A reader of UTF-8, whose characters may be torn between two pieces. */
export function lineReader(): LineReader {
  let decoder = new TextDecoder();
  let rest = '';
  return {
    add: (bytes) => {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      const last = lines.pop() ?? '';
      const whole = Math.floor(last.length / longestLine) * longestLine;
      rest = last.slice(whole);
      const long = whole === 0 ? [] : cut(last.slice(0, whole));
      return [...lines.flatMap(cut), ...long].map((line) => line.replace(/\r$/, ''));
    },
    end: () => {
      const left = rest + decoder.decode();
      decoder = new TextDecoder();
      rest = '';
      return left === '' ? [] : [left];
    },
  };
}

function cut(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / longestLine));
  return Array.from({ length: count }, (_, at) => line.slice(at * longestLine, (at + 1) * longestLine));
}

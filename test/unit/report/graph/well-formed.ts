/** An attribute with its value in quotes, in which nothing is left to be taken for markup. */
const attribute = /\s+[\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot|#39);[^"<&]*)*"/y;
const text = /[^<&]*(?:&(?:amp|lt|gt|quot|#39);[^<&]*)*/y;
const tagStart = /<(\/?)([a-zA-Z][\w-]*)/y;
/** What XML 1.0 allows as a character at all. */
const characters = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u;

/** Reads on at `at` with a sticky pattern. */
function take(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/**
 * The names of the elements of an XML text without comments, declarations and other entities, in their order.
 * Throws at the first thing that a parser of XML would not take.
 */
export function elementsOf(source: string): readonly string[] {
  if (!characters.test(source)) throw new Error('a character that XML does not have');
  const open: string[] = [];
  const names: string[] = [];
  let at = 0;
  while (at < source.length) {
    const start = take(tagStart, source, at);
    if (start === null) {
      const length = take(text, source, at)?.[0].length ?? 0;
      if (length === 0) throw new Error(`bare markup at ${at}: ${source.slice(at, at + 40)}`);
      at += length;
      continue;
    }
    const [whole, slash, name = ''] = start;
    at += whole.length;
    for (let found = take(attribute, source, at); found !== null; found = take(attribute, source, at)) {
      at += found[0].length;
    }
    const end = /\s*(\/?)>/y;
    const close = take(end, source, at);
    if (close === null) throw new Error(`a tag that does not end at ${at}: ${source.slice(at, at + 40)}`);
    at += close[0].length;
    if (slash === '/') {
      if (open.pop() !== name) throw new Error(`</${name}> closes something else`);
    } else {
      names.push(name);
      if (close[1] === '') open.push(name);
    }
  }
  if (open.length > 0 || names.length === 0) throw new Error(`still open: ${open.join(', ')}`);
  return names;
}

/** One statement of DOT as `graphDot` writes it: words, strings in quotes, one label of HTML, no bare quote between. */
const string = '"(?:[^"\\\\\\n]|\\\\.)*"';
const value = `(?:${string}|[\\w.]+|<(?:[^<>]|<[^<>]*>)*>)`;
const attributes = `\\[\\w+=${value}(?:, \\w+=${value})*\\]`;
const endpoint = `(?:${string}(?::r\\d+)?|graph|node|edge)`;
const statement = new RegExp(`^ {2}${endpoint}(?: -- ${endpoint})? ${attributes};$`);

/** The statements of a DOT text. Throws at the first line that is none. */
export function statementsOf(source: string): readonly string[] {
  const lines = source.split('\n');
  if (!new RegExp(`^graph ${string} \\{$`).test(lines[0] ?? '')) throw new Error(`no head: ${lines[0]}`);
  if (lines.at(-1) !== '' || lines.at(-2) !== '}') throw new Error('no end');
  const inner = lines.slice(1, -2);
  const strange = inner.find((line) => !statement.test(line));
  if (strange !== undefined) throw new Error(`no statement: ${strange}`);
  return inner;
}

/** An attribute with a quoted value that contains no unescaped markup. */
const attribute = /\s+[\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot|#39);[^"<&]*)*"/y;
const text = /[^<&]*(?:&(?:amp|lt|gt|quot|#39);[^<&]*)*/y;
const tagStart = /<(\/?)([a-zA-Z][\w-]*)/y;
/** The characters that XML 1.0 allows. */
const characters = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u;

/** Matches a sticky pattern at `at`. */
function take(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/**
 * The names of the elements in an XML text, in order. The text may not contain comments, declarations and other
 * entities. Throws at the first error that an XML parser would report.
 */
export function elementsOf(source: string): readonly string[] {
  if (!characters.test(source)) throw new Error('a character that XML does not allow');
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
    if (close === null) throw new Error(`an unclosed tag at ${at}: ${source.slice(at, at + 40)}`);
    at += close[0].length;
    if (slash === '/') {
      if (open.pop() !== name) throw new Error(`</${name}> does not match the open element`);
    } else {
      names.push(name);
      if (close[1] === '') open.push(name);
    }
  }
  if (open.length > 0 || names.length === 0) throw new Error(`still open: ${open.join(', ')}`);
  return names;
}

/** One DOT statement of `graphDot`: words, quoted strings, one HTML label, and no unpaired quote in between. */
const string = '"(?:[^"\\\\\\n]|\\\\.)*"';
const value = `(?:${string}|[\\w.]+|<(?:[^<>]|<[^<>]*>)*>)`;
const attributes = `\\[\\w+=${value}(?:, \\w+=${value})*\\]`;
const endpoint = `(?:${string}(?::r\\d+)?|graph|node|edge)`;
const statement = new RegExp(`^ {2}${endpoint}(?: -- ${endpoint})? ${attributes};$`);

/** The statements of a DOT text. Throws at the first line that is not a statement. */
export function statementsOf(source: string): readonly string[] {
  const lines = source.split('\n');
  if (!new RegExp(`^graph ${string} \\{$`).test(lines[0] ?? '')) throw new Error(`not a graph header: ${lines[0]}`);
  if (lines.at(-1) !== '' || lines.at(-2) !== '}') throw new Error('the graph is not closed');
  const inner = lines.slice(1, -2);
  const strange = inner.find((line) => !statement.test(line));
  if (strange !== undefined) throw new Error(`not a statement: ${strange}`);
  return inner;
}

/** Lines of a file as they may be shown, and the texts in it that may be shown nowhere. */
export interface HiddenSecrets {
  readonly lines: readonly string[];
  readonly secrets: readonly string[];
}

/** What stands in place of a text that may be a secret: always as long, whatever it hides. */
export const secretMark = '********';

/** A key under which somebody may have put a password, also when it is misspelt or runs into its value. */
const secretKey = /(^|[\s{,"'])((?:pas+(?:w[a-z]*|phrase|code)?|pwd|secrets?|api[-_]?keys?)["']?\s*:)(\s*)(|\S.*)$/iu;
/** A source in braces, which is no secret, and what follows it. */
const source =
  /^(?:\{\s*(?:file\s*:[^,}]*|(?:env\s*:\s*["']?[A-Za-z_]\w*["']?|command\s*:\s*\[[^\]]*\]|prompt\s*:\s*true)\s*)\}|\{\s*(?:command\s*:[^\]]*)?$)(.*)$/u;
/** A source on lines of its own below the key. */
const sourceLine = /^\s*(?:env\s*:\s*["']?[A-Za-z_]\w*["']?\s*(?:#.*)?|(?:file|command|prompt)\s*:.*|#.*|\}.*)?$/u;

/** Hides what stands under keys that are called like a password, unless it is a source of one. Pure, by lines. */
export function hideSecrets(lines: readonly string[]): HiddenSecrets {
  const secrets: string[] = [];
  let below: { readonly indent: number; readonly isList: boolean } | undefined;
  const shown = lines.map((line) => {
    const indent = line.search(/\S/u);
    if (below !== undefined && indent !== -1) {
      if (indent <= below.indent) below = undefined;
      else if (sourceLine.test(line)) {
        below = { ...below, isList: /^\s*command\s*:/u.test(line) || below.isList };
        return line;
      } else if (below.isList && /^(?:\s*-|[^:]*$)/u.test(line)) return line;
      else {
        secrets.push(...textsOf(line));
        return `${line.slice(0, indent)}${secretMark}`;
      }
    }
    const hidden = hideInLine(line);
    secrets.push(...hidden.secrets);
    if (hidden.isOpen) below = { indent, isList: false };
    return hidden.text;
  });
  return { lines: shown, secrets: [...new Set(secrets)] };
}

interface HiddenLine {
  readonly text: string;
  readonly secrets: readonly string[];
  /** The value stands on the lines below. */
  readonly isOpen: boolean;
}

function hideInLine(line: string): HiddenLine {
  const found = secretKey.exec(line);
  if (found === null) return { text: line, secrets: [], isOpen: false };
  const [, , , , rest = ''] = found;
  const head = line.slice(0, line.length - rest.length);
  if (rest === '' || rest.startsWith('#') || /^[|>][-+0-9]*\s*$/u.test(rest)) {
    return { text: line, secrets: [], isOpen: true };
  }
  const after = source.exec(rest)?.[1];
  if (after !== undefined) {
    const inner = hideInLine(after);
    return { ...inner, text: `${line.slice(0, line.length - after.length)}${inner.text}` };
  }
  return { text: `${head}${secretMark}`, secrets: textsOf(rest), isOpen: true };
}

/** A value with and without what may belong to the line around it; too short a text would hide half of every page. */
function textsOf(rest: string): readonly string[] {
  const bare = rest.trim();
  const ended = [bare, ...[/\s#/u, /[,}]/u].map((mark) => (bare.split(mark)[0] ?? '').trimEnd())];
  const texts = ended.flatMap((text) => [
    text,
    text.replace(/^(["'])(.*)\1$/u, '$2'),
    text.replace(/^["']|["']$/gu, ''),
  ]);
  return [...new Set(texts)].filter((text) => text.length >= 3).sort((a, b) => b.length - a.length);
}

/** Fewer characters would hide half of every text. */
const leastHidden = 3;

/** A secret and what other texts may have of it: escaped in JSON or a URL, or anywhere within base64. Longest first. */
export function secretForms(secret: string): readonly string[] {
  const base64 = [0, 1, 2].map((before) => base64Within(secret, before));
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  return [...new Set(forms)].filter(({ length }) => length >= leastHidden).sort((a, b) => b.length - a.length);
}

/** The characters that are the same whatever stands around the secret, when so many bytes modulo three stand before it. */
function base64Within(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** A text in which none of the secrets stands any more. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, secretMark), text);

/** The replacement for a possible secret, whose length never depends on the secret. */
export const secretMark = '********';

/** Matches a key that may contain a password, even if it is misspelled or has no space before its value. */
const secretKey =
  /(^|[\s{,"'])((?:pas+(?:w[a-z]*|phrase|code)?|pwd|secret|huggingface|api[-_]?keys?)["']?\s*:)(\s*)(|\S.*)$/iu;
/** Matches a source in braces, which is not a secret, and the text after it. */
const source =
  /^(?:\{\s*(?:file\s*:[^,}]*|(?:env\s*:\s*["']?[A-Za-z_]\w*["']?|command\s*:\s*\[[^\]]*\]|prompt\s*:\s*true)\s*)\}|\{\s*(?:command\s*:[^\]]*)?$)(.*)$/u;
/** Matches a source on separate lines below the key. */
const sourceLine = /^\s*(?:env\s*:\s*["']?[A-Za-z_]\w*["']?\s*(?:#.*)?|(?:file|command|prompt)\s*:.*|#.*|\}.*)?$/u;

/** Matches the user and the password of a URL. */
const userInformation = /(?<=:\/\/)[^\s/?#@"']+(?=@)/gu;

/**
 * Hides the user information of URLs, and the values of keys that look like password keys, unless the value is a source.
 * Works line by line. Returns the lines without the secrets, and the secrets.
 */
export function hideSecrets(lines: readonly string[]) {
  const secrets: string[] = [];
  let below: { readonly indent: number; readonly isList: boolean } | undefined;
  const shown = lines.map((raw) => {
    secrets.push(...(raw.match(userInformation) ?? []));
    const line = raw.replace(userInformation, secretMark);
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

/** Matches a value after `Bearer` or after a name such as `HF_TOKEN=`, and tokens of Hugging Face, GitHub and OpenAI. */
const lookalike =
  /(\bBearer\s{1,3}|(?:[_-](?:token|key|secret)|\bapi[_-]?key|passw(?:or)?d|\bsecret)["']?\s{0,3}[=:]\s{0,3}["']?)(?!\d+\b)[^\s"',;)}\]]{8,}|(?:hf_|gh[opsu]_|github_pat_)[a-z\d]{16,}|\bsk-[\w-]{16,}/giu;

/** Hides everything that looks like a secret in a text that strangers may read, such as a program's log. */
export const hideLookalikes = (text: string): string =>
  hideSecrets(text.split('\n'))
    .lines.join('\n')
    .replace(lookalike, (_, before = '') => `${before}${secretMark}`);

interface HiddenLine {
  readonly text: string;
  readonly secrets: readonly string[];
  /** True if the value is on the lines below. */
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

/** Returns a value with and without characters that may be syntax, except short texts, which would hide too much. */
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

/** Hiding shorter texts would make every page unreadable. */
const leastHidden = 3;

/** Returns a secret's forms in other texts: unchanged, escaped in JSON or a URL, or within base64. Longest first. */
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

/** Returns the base64 characters that depend only on the secret if `before` bytes (modulo three) precede it. */
function base64Within(secret: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** The secrets that one command has read; its log, records and journal contain none of them, in no form. */
export interface ReadSecrets {
  readonly add: (secret: string) => void;
  readonly hideIn: (text: string) => string;
}

export function readSecrets(): ReadSecrets {
  let forms: readonly string[] = [];
  return {
    add: (secret) => {
      forms = [...new Set([...forms, ...secretForms(secret)])].sort((a, b) => b.length - a.length);
    },
    hideIn: (text) => withoutSecrets(text, forms),
  };
}

/** The fields with every text hidden at every depth, except in fields with the names `shown`. */
export const hideInFields = (
  fields: object,
  secrets: ReadSecrets,
  shown: ReadonlySet<string> = new Set(),
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, shown.has(name) ? value : hideInValue(value, secrets, shown)]),
  );

function hideInValue(value: unknown, secrets: ReadSecrets, shown: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return secrets.hideIn(value);
  if (Array.isArray(value)) return value.map((one) => hideInValue(one, secrets, shown));
  return typeof value === 'object' && value !== null ? hideInFields(value, secrets, shown) : value;
}

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, secretMark), text);

/**
 * Characters that a terminal, a log or a web page could interpret: control characters (C0, DEL and C1, which start all
 * ANSI and OSC sequences), invisible and bidirectional format characters, line separators, and lone surrogates.
 */
const unprintable =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]|(?![\u{fe00}-\u{fe0f}])\p{Default_Ignorable_Code_Point}/gu;

/** GitHub's runner executes `::name::` at the start of a trimmed line and `##[name]` anywhere in a line. */
const runnerCommand = /(?<!\S)::(?=[\s\S]*?::)|##\[/g;

const visible = (text: string): string => `\\u{${(text.codePointAt(0) ?? 0).toString(16)}}`;

const disarm = (text: string): string => text.replace(runnerCommand, (found) => `${visible(found)}${found.slice(1)}`);

/**
 * Makes a text safe to show on one line: every invisible character, line break and tab becomes `\u{…}`. Text from a
 * node or a file must be escaped before a person sees it. Escaping is idempotent.
 */
export function escapeText(text: string): string {
  return disarm(text.replace(unprintable, visible));
}

/** Like {@link escapeText}, but keeps line feeds and tabs, for output of several lines. */
export function escapeLines(text: string): string {
  return disarm(text.replace(unprintable, (found) => (found === '\n' || found === '\t' ? found : visible(found))));
}

/**
 * Formats a value as JSON. Control, format and bidirectional characters are written as `\uXXXX`, so that programs lose
 * nothing and terminals are safe. `##[`, which GitHub's runner executes anywhere in a line, is also escaped. The
 * runner's `::name::` needs no escape, because it must start a line, where JSON has a quote.
 */
export function jsonText(value: unknown, indent = 2): string {
  return safeJson(JSON.stringify(value, null, indent) ?? 'null');
}

/** Like {@link jsonText}, for a text that is already JSON. */
export function safeJson(text: string): string {
  return text
    .replace(unprintable, (found) => (found === '\n' ? found : asJsonEscapes(found)))
    .replaceAll('##[', '#\\u0023[');
}

/** Writes each UTF-16 code unit as `\uXXXX`. */
export const asJsonEscapes = (found: string): string =>
  found
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/**
 * What a terminal, a log or a web page could take for anything but text: control characters (C0, DEL, C1, so also
 * every ANSI and OSC sequence), invisible and bidirectional format characters, line separators, lone surrogates.
 */
const unprintable =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]|(?![\u{fe00}-\u{fe0f}])\p{Default_Ignorable_Code_Point}/gu;

/** GitHub's runner obeys `::name::` at the start of a trimmed line and `##[name]` anywhere in one. */
const runnerCommand = /(?<!\S)::(?=[\s\S]*?::)|##\[/g;

const visible = (text: string): string => `\\u{${(text.codePointAt(0) ?? 0).toString(16)}}`;

const disarm = (text: string): string => text.replace(runnerCommand, (found) => `${visible(found)}${found.slice(1)}`);

/**
 * Text that is safe to show on one line: whatever is not plainly visible becomes `\u{…}`, a line break and a tab too.
 * Everything that comes from a node or from a file goes through here before a person sees it. Escaping twice changes
 * nothing more.
 */
export function escapeText(text: string): string {
  return disarm(text.replace(unprintable, visible));
}

/** As {@link escapeText}, with line feeds and tabs kept: for output of several lines. */
export function escapeLines(text: string): string {
  return disarm(text.replace(unprintable, (found) => (found === '\n' || found === '\t' ? found : visible(found))));
}

/**
 * JSON without any raw control, format or bidirectional character: they stand as JSON's own `\uXXXX`, so that the
 * text is lossless for programs and harmless on a terminal. The same is done to `##[`, which GitHub's runner obeys
 * anywhere in a line; its other form needs the start of a line, where JSON has a quote.
 */
export function jsonText(value: unknown, indent = 2): string {
  return safeJson(JSON.stringify(value, null, indent) ?? 'null');
}

/** The same of a text that is JSON already. */
export function safeJson(text: string): string {
  return text
    .replace(unprintable, (found) => (found === '\n' ? found : asJsonEscapes(found)))
    .replaceAll('##[', '#\\u0023[');
}

function asJsonEscapes(found: string): string {
  const units: string[] = [];
  for (let index = 0; index < found.length; index += 1) {
    units.push(`\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`);
  }
  return units.join('');
}

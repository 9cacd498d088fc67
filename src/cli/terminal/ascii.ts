const substitutes: Readonly<Record<string, string>> = { '·': '.', '→': '->', '±': '+-', '…': '...', '✔': 'ok' };

/**
 * Text for a terminal that is not UTF-8: our own signs have a form in ASCII, and every other character stands as its
 * code, as in `\u{fc}`.
 */
export function asciiText(text: string): string {
  return text.replace(
    /\P{ASCII}/gu,
    (found) => substitutes[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A JSON document in ASCII; the same document for every reader of JSON. */
export function asciiJson(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every form in which a text could contain a secret: unchanged, in JSON, in a URL, in hexadecimal and in base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Base64 turns three bytes into four letters, so the letters depend on the number of bytes before the secret. The
  // letters at both ends also depend on its neighbors.
  const shifted = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : 4, -4),
  );
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString('hex'), ...shifted];
}

/** The forms of a secret that a text contains. */
export const tracesOf = (secret: string, text: string): readonly string[] =>
  [...new Set(formsOf(secret))].filter((form) => text.includes(form));

/** The contents of all files below a folder, as one text. */
export const textBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

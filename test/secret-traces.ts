import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every form in which a secret could stand in a text: as it is, in JSON, in a URL, in hexadecimal and in base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // In base64 three bytes become four letters, so that what is before it moves it; its ends mix with its neighbours.
  const shifted = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : 4, -4),
  );
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString('hex'), ...shifted];
}

/** The forms of a secret that a text holds. */
export const tracesOf = (secret: string, text: string): readonly string[] =>
  [...new Set(formsOf(secret))].filter((form) => text.includes(form));

/** Every file below a folder as one text. */
export const textBelow = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

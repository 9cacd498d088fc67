/** Texts without values that differ between runs. */

/** Placeholders for texts that are generated in every run. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\b/g, 'BOOT'],
  [/ b\/lease\/(?:busy|again)\.[0-9a-f]{32}\.\d\.?/g, ''],
  [/\b[0-9a-f]{32}\b/g, 'ID'],
  [/\brun-[0-9a-f]{6}\b/g, 'RUN'],
  [new RegExp(`\\b${process.pid}\\b`, 'g'), 'PID'],
  [/(?<=\.(?:tar\.gz|dmg|mjs) )\d+/g, 'SIZE'],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
];

/** A text without folders of this run, and with placeholders for generated texts. */
export function steady(text: string, folders: Readonly<Record<string, string>>): string {
  const known = Object.entries(folders).reduce((shown, [folder, stand]) => shown.replaceAll(folder, stand), text);
  return changing.reduce((shown, [pattern, stand]) => shown.replace(pattern, stand), known);
}

/** A digest, whole or as the name of a folder. */
const digests = /\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b/g;

/** A text with the same placeholder for all digests. */
export const withoutDigests = (text: string): string => text.replace(digests, 'DIGEST');

/** A text with numbered digests: they depend on the compression and the build of this computer. */
export function withNumberedDigests(text: string): string {
  const numbers = new Map<string, number>();
  return text.replace(digests, (found) => {
    const key = found.slice(0, 16);
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    return found.length === 16 ? `SHORT-${number}` : `DIGEST-${number}`;
  });
}

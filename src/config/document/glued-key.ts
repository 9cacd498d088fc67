import { quoted } from './quoted.ts';

/** A key and its value without the space that YAML needs between them. */
export interface GluedKey {
  readonly key: string;
  readonly value: string;
}

/** Reads `host:b.lan`, which to YAML is one word; undefined for anything else, such as a web address or a link. */
export function gluedKey(text: string): GluedKey | undefined {
  const line = (text.split(/\r?\n| #/, 1)[0] ?? '').trimEnd();
  const match = /^([A-Za-z]+):(?!\/\/)(\S.*)$/.exec(line);
  if (match === null || line.includes('<->')) return undefined;
  return { key: match[1] ?? '', value: match[2] ?? '' };
}

/** The hint that shows the pair as it should be. */
export const spaceHint = ({ key, value }: GluedKey): string =>
  `Write a space after the colon: ${quoted(`${key}: ${value}`)}.`;

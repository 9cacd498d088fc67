import { readFileSync } from 'node:fs';

/** A published output to compare with a simulated answer. */
export const captured = (name: string): string =>
  readFileSync(new URL(`../../cases/sim/captures/${name}`, import.meta.url), 'utf8');

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/g, '<uuid>'],
  [/0x05AC[0-9A-F]{11}(?=[0-9A-F]")/g, '<uid>'],
  [/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, '<mac>'],
  [/fe80::[0-9a-f:]+/g, '<link-local>'],
  [/\b(?:[0-9a-f]{4}:){3}[0-9a-f]{4}\b/g, '<guid>'],
  [/\b[0-9a-f]{14}05\b/g, '<guid>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '<ipv4>'],
  [/netmask 0x[0-9a-f]{8}/g, 'netmask <mask>'],
  [/scopeid 0x[0-9a-f]+/g, 'scopeid <scope>'],
  [/smd\[\d+\]/g, 'smd[<pid>]'],
];

/** The text with all values masked that differ between Macs, so that only the layout remains. */
export const layout = (text: string): string =>
  masks.reduce((masked, [pattern, name]) => masked.replaceAll(pattern, name), text);

/** The lines of a text from a web page that damaged the indentation; marks for omitted lines are left out. */
export const wordLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '' && line !== '...');

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A secret made for a search. */
export interface Canary {
  readonly name: string;
  readonly text: string;
  /** Files that may contain it, by their path below the searched folder. */
  readonly mayBeIn: readonly RegExp[];
}

/** A canary found where it must not be, and its encoding. */
export interface Sighting {
  readonly canary: string;
  readonly form: string;
  readonly where: string;
}

/**
 * The base64 characters of a text after `before` other bytes, without the characters that depend on the following text.
 */
function base64Behind(text: string, before: number): string {
  const [low, high] = [0, 255].map((byte) =>
    Buffer.concat([Buffer.alloc(before), Buffer.from(text), Buffer.alloc(2, byte)]).toString('base64'),
  ) as [string, string];
  const same = [...low].findIndex((character, at) => character !== high[at]);
  return low.slice(before === 0 ? 0 : before + 1, same);
}

/** Every encoding that is searched for; separate from the product's list, so that no mistake is shared. */
function formsOf(text: string): readonly (readonly [form: string, bytes: string])[] {
  const base64 = [0, 1, 2].map((before) => base64Behind(text, before));
  return [
    ['plain', text],
    ['JSON', JSON.stringify(text).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)],
    ['URL', encodeURIComponent(text)],
    ['form', new URLSearchParams({ x: text }).toString().slice(2)],
    ['XML', text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['hex', Buffer.from(text).toString('hex')],
    ...base64.map((bytes) => ['base64', bytes] as const),
    ...base64.map((bytes) => ['base64url', bytes.replaceAll('+', '-').replaceAll('/', '_')] as const),
  ];
}

/** Searches bytes for canaries in every encoding. */
function searchBytes(bytes: Uint8Array, where: string, canaries: readonly Canary[]): readonly Sighting[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return canaries.flatMap(({ name, text }) => {
    const found = formsOf(text).find(([, form]) => buffer.includes(form));
    return found === undefined ? [] : [{ canary: name, form: found[0], where }];
  });
}

/** Searches a text for canaries in every encoding. */
export const searchText = (text: string, where: string, canaries: readonly Canary[]): readonly Sighting[] =>
  searchBytes(Buffer.from(text), where, canaries);

/** Searches every file below a folder, including file names and link targets. */
export function searchTree(folder: string, canaries: readonly Canary[]): readonly Sighting[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const whole = join(folder, path);
    const found = lstatSync(whole, { throwIfNoEntry: false });
    const wanted = canaries.filter(({ mayBeIn }) => !mayBeIn.some((place) => place.test(path)));
    const named = searchText(path, `the name ${path}`, canaries);
    if (found?.isSymbolicLink()) return [...named, ...searchText(readlinkSync(whole), path, wanted)];
    return found?.isFile() ? [...named, ...searchBytes(readFileSync(whole), path, wanted)] : named;
  });
}

/** The files below a folder that contain a canary unencoded. */
export const placesOf = (folder: string, { text }: Canary): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false })?.isFile())
    .filter((path) => readFileSync(join(folder, path)).includes(text))
    .toSorted();

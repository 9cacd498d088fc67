/** The JSON pointer of a key or an index below another pointer (RFC 6901). */
export const pointerTo = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The pointer above, or undefined for the root. */
export function parentPointer(pointer: string): string | undefined {
  const slash = pointer.lastIndexOf('/');
  return slash === -1 ? undefined : pointer.slice(0, slash);
}

/** The last part of a pointer as the key it stands for. */
export const lastKey = (pointer: string): string =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** `thunderbolt.links[2]`: a pointer as people write it; `the file` for the root. */
export function pointerText(pointer: string): string {
  if (pointer === '') return 'the file';
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => lastKey(`/${part}`));
  return parts.map((part, index) => (/^[0-9]+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

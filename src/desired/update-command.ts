/** The fields in the words of `macos.updates.command`. */
export const updateFields = ['phase', 'node', 'host', 'version', 'build'] as const;

export type UpdatePhase = 'download' | 'install';

/** The names in braces, such as `node` in `{node}`. */
export const fieldsOf = (word: string): readonly string[] =>
  [...word.matchAll(/\{([a-z]+)\}/gi)].map(([, name = '']) => name);

/** The program's words for one Mac; a value is never read again as a field. */
export function updateWords(
  [program = '', ...words]: readonly string[],
  values: Readonly<Record<(typeof updateFields)[number], string>>,
): readonly string[] {
  const filled: Readonly<Record<string, string>> = values;
  return [program, ...words.map((word) => word.replaceAll(/\{([a-z]+)\}/g, (all, name) => filled[name] ?? all))];
}

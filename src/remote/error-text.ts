/** The codes of an error of Node and of those it gathers (a name with several addresses fails once per address). */
export function errorCodes(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? [String(error.code)] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(errorCodes) : [];
  return [...new Set([...inner, ...own])];
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'this is a folder',
  ENOTFOUND: 'the name does not exist',
  EAI_AGAIN: 'the name could not be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no network route to it',
  EHOSTDOWN: 'it is down',
  ETIMEDOUT: 'no answer',
};

/** An error of Node in plain words. */
export function errorText(error: unknown): string {
  const known = errorCodes(error).flatMap((code) => words[code] ?? []);
  return known[0] ?? (error instanceof Error ? error.message : String(error));
}

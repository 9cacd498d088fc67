import type { GatewayUpstream } from '../model/gateway.ts';

/** Replaces a name in a text that arrives in pieces. */
export interface Renaming {
  readonly rename: (chunk: Buffer) => Buffer;
  /** What was kept back at the end, because it could have been the beginning of the name. */
  readonly rest: () => Buffer;
}

/**
 * Puts the name that clients use in place of the runtime's own name of the model; undefined if they are the same. Within
 * a text of JSON its quotes would be escaped, so no text of an answer is changed.
 */
export function renameModel({ model, servedName }: GatewayUpstream): Renaming | undefined {
  if (model === servedName) return undefined;
  const [own, theirs] = [model, servedName].map((name) => latin(JSON.stringify(name)));
  const found = [`"model": ${own}`, `"model":${own}`];
  let kept = '';
  return {
    rename: (chunk) => {
      const text = found.reduce(
        (all, one) => all.replaceAll(one, () => `"model":${theirs}`),
        kept + chunk.toString('latin1'),
      );
      const begun = Math.max(...found.map((one) => beginning(text, one)));
      kept = text.slice(text.length - begun);
      return Buffer.from(text.slice(0, text.length - begun), 'latin1');
    },
    rest: () => Buffer.from(kept, 'latin1'),
  };
}

/** The bytes of a text as one character each, so that half a character at the end of a piece stays as it is. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** How much of `sought` is at the end of the text. */
function beginning(text: string, sought: string): number {
  for (let length = Math.min(text.length, sought.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sought.slice(0, length))) return length;
  }
  return 0;
}

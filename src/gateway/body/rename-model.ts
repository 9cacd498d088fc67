import type { GatewayUpstream } from '../../model/gateway.ts';

/**
 * Replaces the runtime's name of the model by the name that clients use, in a text that arrives in pieces; undefined if they are equal. In a JSON string,
 * the quotes around the name would be escaped, so the text of an answer is never changed.
 */
export function renameModel({ model, servedName }: GatewayUpstream) {
  if (model === servedName) return undefined;
  const [own, theirs] = [model, servedName].map((name) => latin(JSON.stringify(name)));
  const found = [`"model": ${own}`, `"model":${own}`];
  let held = '';
  return {
    rename: (chunk: Buffer): Buffer => {
      const text = found.reduce(
        (all, one) => all.replaceAll(one, () => `"model":${theirs}`),
        held + chunk.toString('latin1'),
      );
      const begun = Math.max(...found.map((one) => beginning(text, one)));
      held = text.slice(text.length - begun);
      return Buffer.from(text.slice(0, text.length - begun), 'latin1');
    },
    /** The rest, which was held back because it could have been the beginning of the name. */
    rest: (): Buffer => Buffer.from(held, 'latin1'),
  };
}

/** Bytes as one character each, so that half a character at the end of a piece is not changed. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** The length of the beginning of `sought` that is at the end of the text. */
function beginning(text: string, sought: string): number {
  for (let length = Math.min(text.length, sought.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sought.slice(0, length))) return length;
  }
  return 0;
}

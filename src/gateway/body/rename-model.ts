import type { GatewayUpstream } from '../../model/gateway.ts';

/**
 * Replaces the runtime's model name with the name that clients use, in text that arrives in pieces; undefined if the
 * names are equal. Inside a JSON string, the quotes around the name would be escaped, so an answer's text never
 * changes.
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
    /** The rest, held back because it could have been the beginning of the name. */
    rest: (): Buffer => Buffer.from(held, 'latin1'),
  };
}

/** Turns each byte into one character, so that an incomplete character at the end of a piece stays unchanged. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** How many of `sought`'s first characters the text ends with. */
function beginning(text: string, sought: string): number {
  for (let length = Math.min(text.length, sought.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sought.slice(0, length))) return length;
  }
  return 0;
}

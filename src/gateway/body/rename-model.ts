import type { GatewayUpstream } from '../../model/gateway.ts';

/**
 * Replaces the runtime's model name with the name that clients use, in a response that arrives in chunks; undefined if
 * the two names are the same. Text inside the answer is never replaced by mistake, because quotes inside a JSON string
 * are escaped.
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
    /** The rest of the text, which was held back because it could have been the beginning of the name. */
    rest: (): Buffer => Buffer.from(held, 'latin1'),
  };
}

/** Turns each byte into one character so that a multi-byte character split across two chunks stays intact. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');

/** The length of the longest proper prefix of `sought` with which the text ends. */
function beginning(text: string, sought: string): number {
  for (let length = Math.min(text.length, sought.length - 1); length > 0; length -= 1) {
    if (text.endsWith(sought.slice(0, length))) return length;
  }
  return 0;
}

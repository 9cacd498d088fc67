import { canonicalAddress } from '../address.ts';
import type { Draft } from '../draft.ts';
import type { Finding } from '../finding.ts';

/** A host that looks like an IP address is one, in a form that every program reads alike. */
export function badAddress(draft: Draft): readonly Finding[] {
  return draft.nodes.flatMap(({ name, host }) => {
    if (host === undefined || !host.isText || !/^[A-Za-z0-9:][A-Za-z0-9:._%-]*$/.test(host.text)) return [];
    if (/^\[|^[A-Za-z][^:]*:[0-9]+$|^[^:]*\.[^:]*:[0-9]+$/.test(host.text)) return []; // a port: the form is wrong
    if (canonicalAddress(host.text) !== undefined) return [];
    const finding: Finding = {
      code: 'topology/bad-address',
      pointer: host.pointer,
      at: 'value',
      detail: `\`${host.text}\` looks like an IP address, and programs would not agree on which one.`,
      subject: `node ${name}`,
    };
    return [finding];
  });
}

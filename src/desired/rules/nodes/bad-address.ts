import { nodeSubject } from '../../../model/subject.ts';
import { canonicalAddress } from '../../address.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** The characters of a name, or of an IPv6 address with its at least two colons; the rest is the schema's matter. */
const hasForm = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9]+)?)$/;

/** A host that looks like an IP address is one, in a form that every program reads alike. */
export function badAddress(draft: Draft): readonly Finding[] {
  return draft.nodes.flatMap(({ name, host }) => {
    if (host === undefined || !host.isText || !hasForm.test(host.text)) return [];
    if (canonicalAddress(host.text) !== undefined) return [];
    const finding: Finding = {
      code: 'topology/bad-address',
      pointer: host.pointer,
      at: 'value',
      detail: `\`${host.text}\` looks like an IP address, and programs would not agree on which one.`,
      subject: nodeSubject(name),
    };
    return [finding];
  });
}

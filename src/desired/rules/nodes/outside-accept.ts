import type { Draft } from '../../draft/draft.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';
import { acceptsVersion } from '../../version-range.ts';

/** The version that is wished for is itself an accepted one. */
export function outsideAccept({ version, accept }: Draft, place: PlaceText): readonly Finding[] {
  if (version === undefined || accept === undefined || !version.isText || !accept.isText) return [];
  if (acceptsVersion(accept.text, version.text) !== false) return [];
  const acceptPlace = { pointer: accept.pointer, at: 'value' } as const;
  const finding: Finding = {
    code: 'version/outside-accept',
    pointer: version.pointer,
    at: 'value',
    label: `not in the range of ${place(acceptPlace)}`,
    detail: `macOS ${version.text} is outside of \`${accept.text}\`.`,
    others: [{ ...acceptPlace, detail: 'The accepted versions.' }],
  };
  return [finding];
}

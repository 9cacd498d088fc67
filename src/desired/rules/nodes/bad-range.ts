import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';
import { rangeProblem } from '../../version-range.ts';

/** `macos.accept` is a range that some version can meet. */
export function badRange({ accept }: Draft): readonly Finding[] {
  const problem = accept === undefined || !accept.isText ? undefined : rangeProblem(accept.text);
  if (accept === undefined || problem === undefined) return [];
  return [{ code: 'version/bad-range', pointer: accept.pointer, at: 'value', detail: problem }];
}

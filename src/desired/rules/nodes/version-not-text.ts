import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A version is text: as a number, 26.10 and 26.1 are the same. */
export function versionNotText({ version, accept }: Draft): readonly Finding[] {
  return [version, accept].flatMap((one) => {
    if (one === undefined || one.isText) return [];
    const finding: Finding = {
      code: 'version/not-text',
      pointer: one.pointer,
      at: 'value',
      detail: `Without quotes, ${one.text} is the number ${String(Number(one.text))}.`,
      hint: `Put it in quotes: "${one.text}"`,
    };
    return [finding];
  });
}

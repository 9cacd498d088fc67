import { escapeText } from '../../diagnostics/escape.ts';
import { proseText } from '../../diagnostics/prose-text.ts';
import { hang } from '../../report/layout.ts';
import type { Page } from '../../report/page.ts';
import type { Sight } from './watch-cables.ts';

/** Which nodes do not answer any more, and why, and which of them answer again. */
export function lostLines(sight: Sight, before: Sight | undefined, page: Page): readonly string[] {
  const earlier = before?.lost ?? [];
  return [
    ...sight.lost
      .filter((name) => !earlier.includes(name))
      .flatMap((name) => {
        const [problem] = sight.observation.failures[name] ?? [];
        const why = escapeText(proseText(problem?.detail ?? problem?.summary ?? '', page));
        return hang(`${name} cannot be seen: `, `${why} It is tried again.`, page.columns);
      }),
    ...earlier.filter((name) => !sight.lost.includes(name)).map((name) => `${name} answers again`),
  ];
}

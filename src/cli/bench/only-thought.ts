import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { placementSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';

/** What `--max-tokens` takes at most. */
const mostTokens = 9_999;

/** That a model spent all tokens of an answer on its thoughts, and what to do about that. */
export function onlyThought({
  placement,
  node,
  tokens,
}: {
  readonly placement: string;
  readonly node: string;
  readonly tokens: number;
}): Diagnostic {
  const more = Math.min(4 * tokens, mostTokens);
  return diagnose('ask/no-answer', {
    subject: placementSubject(placement),
    detail: prose`${placement} on ${named(node)} thought aloud, and its ${tokens} tokens were over before it said anything.`,
    hint:
      more > tokens
        ? `Give it more of them: --max-tokens ${more}`
        : 'Those are as many as can be asked for: ask for something shorter.',
  });
}

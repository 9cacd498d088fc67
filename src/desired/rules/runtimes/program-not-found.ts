import { runtimeSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** The program of a command line is named by a path: inside the archive, or absolute on the Mac. */
export function programNotFound(draft: Draft): readonly Finding[] {
  return draft.runtimes.flatMap(({ name, pointer, command: [program] }) => {
    const isFirst = program?.pointer === `${pointer}/command/0`;
    if (program === undefined || !isFirst || /^(?:\{runtime\})?\/[^/]/.test(program.text)) return [];
    const finding: Finding = {
      code: 'runtime/program-not-found',
      pointer: program.pointer,
      at: 'value',
      detail: `\`${program.text.slice(0, 60)}\` is not a path from {runtime} or from the root.`,
      subject: runtimeSubject(name),
    };
    return [finding];
  });
}

import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A source of a secret that is a program has to name one. */
export const secretProgram = ({ secretPrograms }: Draft): readonly Finding[] =>
  secretPrograms
    .filter(({ text }) => text.trim() === '')
    .map(
      ({ pointer }): Finding => ({
        code: 'secret/no-program',
        pointer,
        at: 'value',
        detail: 'The first word of this command is empty, and it is the one that names the program.',
      }),
    );

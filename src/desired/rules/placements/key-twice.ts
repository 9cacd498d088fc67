import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** Each source of a list of keys is named once: whoever takes one away wants its key to open nothing any more. */
export const keyTwice = ({ placements }: Draft): readonly Finding[] =>
  placements.flatMap(({ name, pointer, keySources }) =>
    keySources.flatMap((source, at): readonly Finding[] => {
      const first = keySources.indexOf(source);
      if (first === at) return [];
      return [
        {
          code: 'placement/key-twice',
          pointer: `${pointer}/endpoint/apiKey/${at}`,
          at: 'value',
          detail: `Source ${at + 1} of the list is source ${first + 1} once more.`,
          subject: placementSubject(name),
        },
      ];
    }),
  );

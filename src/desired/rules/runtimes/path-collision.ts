import { modelSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { pointerTo } from '../../draft/draft-values.ts';
import type { Finding, PlaceText } from '../../draft/finding.ts';
import { collisionsOf, isTreePath } from '../../tree-paths.ts';

/** The files of a model are different files on a Mac. */
export function pathCollision(draft: Draft, place: PlaceText): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, paths }) =>
    collisionsOf(paths.filter(isTreePath)).map(({ path, other }): Finding => {
      const otherPlace = { pointer: pointerTo(`${pointer}/files`, other), at: 'key' } as const;
      return {
        code: 'model/path-collision',
        pointer: pointerTo(`${pointer}/files`, path),
        at: 'key',
        label: `collides with ${place(otherPlace)}`,
        detail: `\`${path}\` and \`${other}\` cannot lie side by side.`,
        subject: modelSubject(name),
        others: [{ ...otherPlace, detail: 'The first one.' }],
      };
    }),
  );
}

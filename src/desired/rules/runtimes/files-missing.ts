import { modelSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** What nodes take from elsewhere than this machine has its files listed. */
export function filesMissing(draft: Draft): readonly Finding[] {
  return draft.models.flatMap(({ name, pointer, source, hasFiles }) => {
    const from = source?.isText ? /^(?:node|https?):/.exec(source.text)?.[0] : undefined;
    if (from === undefined || hasFiles) return [];
    const where = from === 'node:' ? 'from a folder of their own' : 'from a server';
    const finding: Finding = {
      code: 'model/files-missing',
      pointer,
      at: 'key',
      detail: `The nodes take ${name} ${where}, and nothing says what it must be.`,
      subject: modelSubject(name),
    };
    return [finding];
  });
}

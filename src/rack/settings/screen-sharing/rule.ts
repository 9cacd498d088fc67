import { diagnose } from '../../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../../model/subject.ts';
import type { Rule } from '../../rule.ts';
import { screenSharingWords, wantedScreenSharing } from './text.ts';

/** Screen Sharing that is otherwise than the file wants, now or after the next start. */
export const screenSharing: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const wanted = wantedScreenSharing(desired);
    const seen = facts['screen-sharing'];
    const words = seen.kind === 'known' ? screenSharingWords(seen.value) : undefined;
    return wanted === undefined || words === undefined || words === wanted
      ? []
      : [
          diagnose('sharing/screen', {
            subject: nodeSubject(name),
            detail: `Screen Sharing is ${words}; the file says ${desired.system.screenSharing}.`,
          }),
        ];
  });

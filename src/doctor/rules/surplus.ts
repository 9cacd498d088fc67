import { viewText } from '../../cabling/cabling-text.ts';
import { linkAt, undeclaredCables } from '../../cabling/judge-cabling.ts';
import type { LinkJudgement } from '../../cabling/judge-link.ts';
import type { ReceptacleView } from '../../cabling/receptacle-view.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type LinkEnd, linkEndText } from '../../model/link.ts';
import type { Examination } from '../examination.ts';
import { withCommands } from '../hint-lines.ts';
import type { Rule } from '../rule.ts';
import { linkSubject, receptacleSubject } from '../subject.ts';

const quiet: readonly LinkJudgement['kind'][] = ['as-declared', 'slow', 'unknown'];

/** Whether a finding about the declared link of this receptacle says already what is seen here. */
function isTold({ cabling }: Examination, end: LinkEnd): boolean {
  const judged = linkAt(cabling.links, end);
  return judged !== undefined && !quiet.includes(judged.judgement.kind);
}

function undeclared(examination: Examination): readonly Diagnostic[] {
  return undeclaredCables(examination.cabling)
    .filter(({ ends }) => !ends.some((end) => isTold(examination, end)))
    .map(({ ends }) =>
      diagnose('cabling/undeclared', {
        subject: linkSubject(ends),
        detail: 'There is a cable that the file does not declare.',
        hint: withCommands('Take it out, or declare it:', [`- ${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`]),
      }),
    );
}

/** A stranger at a link that cannot be judged is most likely just the node that could not be looked at. */
const isExpected = ({ cabling }: Examination, view: ReceptacleView): boolean =>
  linkAt(cabling.links, view.at)?.judgement.kind === 'unknown';

function stranger(examination: Examination, view: ReceptacleView): readonly Diagnostic[] {
  const subject = receptacleSubject(view.at);
  const detail = `It sees ${viewText(view)}.`;
  if (isTold(examination, view.at)) {
    return [];
  }
  if (view.peers.some((peer) => peer.kind === 'foreign')) {
    return [diagnose('cabling/foreign-mac', { subject, detail })];
  }
  const isUnidentified = view.peers.some((peer) => peer.kind === 'unidentified');
  return isUnidentified && !isExpected(examination, view)
    ? [diagnose('cabling/unidentified-mac', { subject, detail })]
    : [];
}

/** Cables and Macs that the file does not speak of. A file without any link says nothing about cables, so neither do we. */
export const surplus: Rule = (examination) =>
  examination.desired.thunderbolt.links.length === 0
    ? []
    : [...undeclared(examination), ...examination.cabling.rack.views.flatMap((view) => stranger(examination, view))];

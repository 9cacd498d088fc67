import { diagnose } from '../../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../../model/subject.ts';
import type { Rule } from '../../rule.ts';

/** Nodes that install updates of macOS by themselves, where the file does not want that. */
export const updates: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts: { 'automatic-updates': seen } }) =>
    desired.macos.automaticUpdates === 'disabled' && seen.kind === 'known' && seen.value === 'on'
      ? [
          diagnose('updates/automatic', {
            subject: nodeSubject(name),
            detail: 'It may install an update at any night.',
          }),
        ]
      : [],
  );

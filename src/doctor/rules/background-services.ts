import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Rule } from '../rule.ts';
import { spotlightState } from '../spotlight-state.ts';
import { nodeSubject } from '../subject.ts';

/** Nodes on which something in the background uses the disk, where the file does not want that. */
export const backgroundServices: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const spotlight = spotlightState(facts.spotlight);
    const backups = facts['time-machine'];
    const found = [
      ...(spotlight.kind === 'known' && spotlight.value === 'on' ? ['Spotlight indexes the disk'] : []),
      ...(backups.kind === 'known' && backups.value === 'on' ? ['Time Machine makes backups by itself'] : []),
    ];
    const detail = `${found.join(', and ')}.`;
    return desired.system.backgroundServices !== 'stop' || found.length === 0
      ? []
      : [diagnose('background/on', { subject: nodeSubject(name), detail })];
  });

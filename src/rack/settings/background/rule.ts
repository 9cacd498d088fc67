import { diagnose } from '../../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../../model/subject.ts';
import type { Rule } from '../../rule.ts';
import { spotlightState } from './spotlight-state.ts';

/** Nodes on which something in the background uses the disk, where the file does not want that. */
export const backgroundServices: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const spotlight = spotlightState(facts.spotlight);
    const backups = facts['time-machine'];
    const photos = facts['photos-analysis'];
    const found = [
      ...(spotlight.kind === 'known' && spotlight.value === 'on' ? ['Spotlight indexes the disk'] : []),
      ...(backups.kind === 'known' && backups.value === 'on' ? ['Time Machine makes backups by itself'] : []),
      ...(photos.kind === 'known' && photos.value.some(({ state }) => state === 'on')
        ? ['launchd may look through photos while the ssh user is logged in at the screen']
        : []),
    ];
    const detail = `${found.join(', and ')}.`;
    return desired.system.backgroundServices !== 'stop' || found.length === 0
      ? []
      : [diagnose('background/on', { subject: nodeSubject(name), detail })];
  });

import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { groupBy } from '../doctor/group-by.ts';
import { withCommands } from '../doctor/hint-lines.ts';
import { nodesSubject } from '../doctor/subject.ts';
import type { NodeName } from '../model/node.ts';
import { orphans, placementCases } from './placement-cases.ts';
import type { PlacementSurvey } from './placement-survey.ts';
import { rdmaSuspicions } from './rdma-suspicions.ts';
import type { View } from './resource.ts';

/**
 * What is wrong with the placements of the file, each with one thing to do. Of one that nobody could judge nothing is
 * said where a node of it was not observed to the end: that is told of the node.
 */
export const placementFindings = (view: View, surveys: readonly PlacementSurvey[]): readonly Diagnostic[] => [
  ...surveys.flatMap((one) => findingOf(one, view)),
  ...rdmaSuspicions(view, surveys),
  ...leftOver(view),
];

function findingOf(one: PlacementSurvey, view: View): readonly Diagnostic[] {
  const { name, standing, wanted } = one;
  const subject = `placement ${name}`;
  if (standing === 'unknown') {
    const detail = sentence(`Unknown: ${one.evidence}`);
    return one.nodes.some((node) => isUnseen(node, view)) ? [] : [diagnose('mesh/not-judged', { subject, detail })];
  }
  if (standing !== 'differs') return [];
  if (wanted === 'stopped') {
    return [diagnose('mesh/not-stopped', { subject, detail: 'The file wants it stopped, and ranks of it run.' })];
  }
  const hint = hintOf(one);
  return [diagnose('mesh/not-serving', { subject, detail: sentence(wordsOf(one)), ...(hint ? { hint } : {}) })];
}

function isUnseen(node: NodeName, { observation }: View): boolean {
  const facts = observation.nodes[node]?.facts;
  return facts === undefined || facts.placements.kind === 'unknown' || facts.services.kind === 'unknown';
}

/** One sentence on one line; what a node put into it shows as it is, harmless. */
const sentence = (text: string): string => `${escapeText(text.replace(/\.$/, ''))}.`;

function wordsOf({ state, evidence }: PlacementSurvey): string {
  switch (state) {
    case 'not-placed':
      return 'It was never started';
    case 'stopped':
      return `It is stopped: ${evidence}`;
    case 'changed':
      return `It runs, and not as the file says: ${evidence}`;
    default:
      return `It is ${state}: ${evidence}`;
  }
}

/** What was started from this very file needs only another start; the rest is for `apply`. */
function hintOf({ name, state }: PlacementSurvey): string | undefined {
  const isBroken = state === 'hung' || state === 'partial' || state === 'dead';
  const commands = [`meshwright logs ${name}`, `meshwright restart ${name}`];
  return isBroken ? withCommands('See what it said, then start it anew:', commands) : undefined;
}

function leftOver(view: View): readonly Diagnostic[] {
  const all = [...placementCases(view).flatMap(({ strangers }) => strangers), ...orphans(view)];
  return [...groupBy(all, ({ placement }) => placement)].map(([placement, found]) =>
    diagnose('mesh/left-over', {
      subject: nodesSubject(found.map(({ node }) => node)),
      detail: sentence(`A rank of ${placement} is left over on ${found.map(({ node }) => node).join(', ')}`),
    }),
  );
}

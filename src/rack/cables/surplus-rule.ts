import { withCommands } from '../../diagnostics/prose-text.ts';
import { avoidReason, macModel } from '../../model/macs.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { linkSubject, receptacleSubject } from '../../model/subject.ts';
import { namedEnd, prose } from '../../model/text/prose.ts';
import { endWords, viewText } from '../cabling/cabling-text.ts';
import { type LinkJudgement, linkAt, type SeenCable, undeclaredCables } from '../cabling/judge-cabling.ts';
import { isSameEnd, type ReceptacleView } from '../cabling/receptacle-view.ts';
import { defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import type { Examination } from '../examination.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { thunderboltFact } from './fact.ts';

const surplusCable = {
  severity: 'warning',
  traits: ['hands', 'unplugs'],
  role: 'reported',
  facts: [thunderboltFact],
} as const;

const codes = {
  'cabling/undeclared': {
    summary: 'A cable is not declared in the file.',
    cause: 'Both ends see each other, but no link in the file connects them.',
    hint: 'Remove the cable, or declare it.',
    ...surplusCable,
  },
  'cabling/doubled': {
    summary: 'A second cable between two Macs is not declared in the file.',
    cause:
      'The file declares one cable between the two nodes, but they also see each other over a second cable. Two cables between bridged Macs form a ring, and tools that choose a device by its network mix up the two.',
    hint: 'Remove the second cable, or declare it.',
    ...surplusCable,
  },
  'cabling/foreign-mac': {
    summary: 'A Mac that is not in the file is cabled to a node.',
    cause: 'Its domain UUID belongs to no node, and every node was observed.',
    hint: 'Remove the cable, or add the Mac and the link to the file.',
    ...surplusCable,
    traits: ['hands'],
  },
  'cabling/unidentified-mac': {
    severity: 'notice',
    summary: 'An unidentified Mac is cabled to a node.',
    cause: 'Its domain UUID belongs to no observed node; it may be one of the other nodes.',
    hint: 'Make all nodes reachable, then check again.',
    facts: [thunderboltFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

const quiet: readonly LinkJudgement['kind'][] = ['as-declared', 'slow', 'unknown'];

/** True if a finding about this receptacle's declared link already covers what is seen here. */
function isReported({ cabling }: Examination, end: LinkEnd): boolean {
  const judged = linkAt(cabling.links, end);
  return judged !== undefined && !quiet.includes(judged.judgement.kind);
}

function avoidance({ desired, nodes }: Examination, { node, receptacle }: LinkEnd): string | undefined {
  const isOwn = desired.thunderbolt.avoid.some((one) => isSameEnd(one, { node, receptacle }));
  if (isOwn) return 'The file wants this receptacle left free.';
  const facts = nodes.find(({ name }) => name === node)?.facts;
  const model = macModel(readValue(facts, hardwareFact)?.model ?? '');
  return model?.avoid.includes(receptacle) ? avoidReason(model.name, receptacle) : undefined;
}

/** Never suggests declaring a cable in a receptacle that should stay free. */
function keepOrNot(examination: Examination, ends: SeenCable['ends']): Pick<Found, 'hint' | 'handsAt'> {
  const [bad] = ends.filter((end) => avoidance(examination, end) !== undefined);
  if (bad === undefined) {
    const lines = [`- ${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`];
    return { hint: withCommands('Remove the cable, or declare it', lines) };
  }
  const why = avoidance(examination, bad) ?? '';
  const hint = `Remove the cable, or move its end in ${endWords(bad)} to a free receptacle and declare it there. ${why}`;
  return { hint, handsAt: [bad.node] };
}

function undeclared(examination: Examination): readonly Found[] {
  const { links } = examination.cabling;
  return undeclaredCables(examination.cabling)
    .filter(({ ends }) => !ends.some((end) => isReported(examination, end)))
    .map(({ ends }) => {
      const twin = links.find(({ link }) => isSamePair(link.ends, ends))?.link;
      const detail =
        twin === undefined
          ? 'The file does not declare this cable.'
          : prose`The file declares ${namedEnd(twin.ends[0])} <-> ${namedEnd(twin.ends[1])} between these nodes, but not this cable.`;
      const code = twin === undefined ? 'cabling/undeclared' : 'cabling/doubled';
      return { code, subject: linkSubject(ends), detail, ...keepOrNot(examination, ends) };
    });
}

const nodesIn = (ends: SeenCable['ends']): string =>
  ends
    .map(({ node }) => node)
    .toSorted()
    .join(' ');

const isSamePair = (one: SeenCable['ends'], other: SeenCable['ends']): boolean => nodesIn(one) === nodesIn(other);

/** An unidentified Mac at a link of unknown state is most likely the node that could not be observed. */
const isExpected = ({ cabling }: Examination, view: ReceptacleView): boolean =>
  linkAt(cabling.links, view.at)?.judgement.kind === 'unknown';

function stranger(examination: Examination, view: ReceptacleView): Found | readonly Found[] {
  const subject = receptacleSubject(view.at);
  const detail = `The receptacle sees ${viewText(view)}.`;
  if (isReported(examination, view.at)) return [];
  if (view.peers.some((peer) => peer.kind === 'foreign')) {
    const hint = `Remove the cable from ${endWords(view.at)}, or add the Mac and the link to the file.`;
    return { code: 'cabling/foreign-mac', subject, detail, hint };
  }
  const isUnidentified = view.peers.some((peer) => peer.kind === 'unidentified');
  return isUnidentified && !isExpected(examination, view) ? { code: 'cabling/unidentified-mac', subject, detail } : [];
}

/** Cables and Macs that are not in the file. A file without links does not describe the cables, so nothing is reported. */
export const surplus = defineRule(codes, (examination) =>
  examination.desired.thunderbolt.links.length === 0
    ? []
    : [...undeclared(examination), ...examination.cabling.rack.views.flatMap((view) => stranger(examination, view))],
);

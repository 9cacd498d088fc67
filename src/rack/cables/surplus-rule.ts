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

const surplusCable = { severity: 'warning', hands: true, role: 'told', facts: [thunderboltFact] } as const;

const codes = {
  'cabling/undeclared': {
    summary: 'There is a cable that the file does not declare.',
    cause: 'Both ends see each other, and no link of the file joins them.',
    hint: 'Take it out, or declare it.',
    ...surplusCable,
  },
  'cabling/doubled': {
    summary: 'There is a second cable between two Macs that the file does not declare.',
    cause:
      'The file declares one cable between the two nodes, and they see each other over another one too. Two cables between bridged Macs are a ring, and tools that pick a device by its network mix them up.',
    hint: 'Take the second one out, or declare it.',
    ...surplusCable,
  },
  'cabling/foreign-mac': {
    summary: 'A Mac that is not in the file is cabled to a node.',
    cause: 'Its domain UUID belongs to no node, and every node was looked at.',
    hint: 'Take the cable out, or add the Mac and the link to the file.',
    ...surplusCable,
  },
  'cabling/unidentified-mac': {
    severity: 'notice',
    summary: 'A Mac is cabled to a node, and nobody can say which.',
    cause: 'Its domain UUID belongs to no node that was looked at; it may be one of the others.',
    hint: 'Make all nodes reachable, then look again.',
    role: 'told',
    facts: [thunderboltFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

const quiet: readonly LinkJudgement['kind'][] = ['as-declared', 'slow', 'unknown'];

/** Whether a finding about the declared link of this receptacle says already what is seen here. */
function isTold({ cabling }: Examination, end: LinkEnd): boolean {
  const judged = linkAt(cabling.links, end);
  return judged !== undefined && !quiet.includes(judged.judgement.kind);
}

/** Why a receptacle is better left free: by the file, or by what is known about its Mac. */
function avoidance({ desired, nodes }: Examination, { node, receptacle }: LinkEnd): string | undefined {
  const isOwn = desired.thunderbolt.avoid.some((one) => isSameEnd(one, { node, receptacle }));
  if (isOwn) return 'The file wants it left free.';
  const hardware = readValue(nodes.find(({ name }) => name === node)?.facts, hardwareFact);
  const model = hardware && macModel(hardware.model);
  return model?.avoid.includes(receptacle) ? avoidReason(model.name, receptacle) : undefined;
}

/** A cable in a receptacle to avoid is not worth declaring as it is. */
function keepOrNot(examination: Examination, ends: SeenCable['ends']): Pick<Found, 'hint' | 'handsAt'> {
  const [bad] = ends.filter((end) => avoidance(examination, end) !== undefined);
  if (bad === undefined) {
    const lines = [`- ${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`];
    return { hint: withCommands('Take it out, or declare it', lines) };
  }
  const why = avoidance(examination, bad) ?? '';
  const hint = `Take it out; or move its end in ${endWords(bad)} to a free receptacle, and declare it so. ${why}`;
  return { hint, handsAt: [bad.node] };
}

function undeclared(examination: Examination): readonly Found[] {
  const { links } = examination.cabling;
  return undeclaredCables(examination.cabling)
    .filter(({ ends }) => !ends.some((end) => isTold(examination, end)))
    .map(({ ends }) => {
      const twin = links.find(({ link }) => isSamePair(link.ends, ends))?.link;
      const detail =
        twin === undefined
          ? 'There is a cable that the file does not declare.'
          : prose`The file declares ${namedEnd(twin.ends[0])} <-> ${namedEnd(twin.ends[1])} between these nodes, and not this cable.`;
      const code = twin === undefined ? 'cabling/undeclared' : 'cabling/doubled';
      return { code, subject: linkSubject(ends), detail, ...keepOrNot(examination, ends) };
    });
}

const nodesIn = (ends: SeenCable['ends']): string =>
  ends
    .map(({ node }) => node)
    .toSorted()
    .join(' ');

/** Whether two cables join the same two Macs, in whichever receptacles. */
const isSamePair = (one: SeenCable['ends'], other: SeenCable['ends']): boolean => nodesIn(one) === nodesIn(other);

/** A stranger at a link that cannot be judged is most likely just the node that could not be looked at. */
const isExpected = ({ cabling }: Examination, view: ReceptacleView): boolean =>
  linkAt(cabling.links, view.at)?.judgement.kind === 'unknown';

function stranger(examination: Examination, view: ReceptacleView): Found | readonly Found[] {
  const subject = receptacleSubject(view.at);
  const detail = `It sees ${viewText(view)}.`;
  if (isTold(examination, view.at)) return [];
  if (view.peers.some((peer) => peer.kind === 'foreign')) {
    const hint = `Take the cable out of ${endWords(view.at)}, or add the Mac and the link to the file.`;
    return { code: 'cabling/foreign-mac', subject, detail, hint };
  }
  const isUnidentified = view.peers.some((peer) => peer.kind === 'unidentified');
  return isUnidentified && !isExpected(examination, view) ? { code: 'cabling/unidentified-mac', subject, detail } : [];
}

/** Cables and Macs that the file does not speak of. A file without any link says nothing about cables, so neither do we. */
export const surplus = defineRule(codes, (examination) =>
  examination.desired.thunderbolt.links.length === 0
    ? []
    : [...undeclared(examination), ...examination.cabling.rack.views.flatMap((view) => stranger(examination, view))],
);

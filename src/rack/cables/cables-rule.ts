import { needsFastLink } from '../../desired/layouts.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { joinProse, named, namedEnd, type Prose, prose, upperFirst } from '../../model/text/prose.ts';
import { speedText } from '../../model/text/units.ts';
import { endWords, moveText, namedEnds, viewText } from '../cabling/cabling-text.ts';
import { type JudgedLink, viewAt } from '../cabling/judge-cabling.ts';
import type { MoveGroup } from '../cabling/moves.ts';
import { isSameEnd, type ReceptacleView } from '../cabling/receptacle-view.ts';
import { defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, rdmaSeverity } from '../examination.ts';
import { bridgesFirst } from './before-cables.ts';
import { thunderboltFact } from './fact.ts';

const blockingLink = { hands: true, role: { blocks: 'thunderbolt-link' }, facts: [thunderboltFact] } as const;

const codes = {
  'cabling/missing': {
    severity: 'error',
    summary: 'A declared cable is not there.',
    cause: 'Neither end of the link sees a cable.',
    hint: 'Remove the Thunderbolt Bridge of both Macs; then put a Thunderbolt 5 cable between the two receptacles.',
    ...blockingLink,
  },
  'cabling/elsewhere': {
    severity: 'error',
    summary: 'A declared cable is plugged in elsewhere.',
    cause:
      'An end of the link sees something else than the file says, by the domain UUIDs that the Macs show each other.',
    hint: 'Remove the Thunderbolt Bridge of both Macs; then move the cable, or correct the link in the file.',
    ...blockingLink,
  },
  'cabling/slow': {
    severity: 'warning',
    summary: 'A cable is slower than 80 Gb/s.',
    cause:
      'A Thunderbolt 4 cable gives 40 Gb/s: it carries IP, but no RDMA (exo issue 1881: changing the cable was the cure). A Thunderbolt 4 Mac would too, and is told as rdma/no-thunderbolt-5 instead.',
    hint: 'Replace the cable by a Thunderbolt 5 one.',
    hands: true,
    role: { blocks: 'thunderbolt-link', when: 'rdma-needed' },
    facts: [thunderboltFact],
  },
  'cabling/speed-unknown': {
    severity: 'warning',
    summary: 'Nobody can say how fast a cable is.',
    cause:
      'Neither Mac prints the speed of the link. RDMA needs 80 Gb/s, and unknown is not taken for fast enough; it is told where the file requires RDMA.',
    hint: 'Look at the cable (a Thunderbolt 5 one is marked with a 5), and at both Macs in System Information > Thunderbolt.',
    hands: true,
    role: 'told',
    facts: [thunderboltFact],
  },
  'cabling/one-sided': {
    severity: 'warning',
    summary: 'A cable is seen from one end only.',
    cause: 'One Mac sees the other and is not seen by it: a hub stands between, or a cable was moved a moment ago.',
    hint: 'Look again; if it stays, plug the cable straight from one Mac into the other.',
    ...blockingLink,
  },
  'cabling/through-hub': {
    severity: 'warning',
    summary: 'A link runs through a dock or hub.',
    cause: 'Two hubs in a chain carry no IP, and one hub between two Macs ended in kernel panics on macOS 26.5.',
    hint: 'Plug the cable straight from one Mac into the other.',
    ...blockingLink,
  },
  'cabling/no-answer': {
    severity: 'warning',
    summary: 'Something is plugged in at both ends of a link, and nothing answers.',
    cause:
      'Both receptacles are connected and neither shows a Mac or a device, so that nobody can say where the cables go.',
    hint: 'Unplug the cable at one end, wait ten seconds, plug it in again.',
    ...blockingLink,
  },
  'cabling/no-receptacle': {
    severity: 'error',
    summary: 'A link names a receptacle that the Mac does not have.',
    cause: 'macOS shows no Thunderbolt receptacle of that number.',
    hint: 'Correct the link in the file.',
    role: { blocks: 'thunderbolt-link' },
    facts: [thunderboltFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

/** A sentence in the imperative, with what has to happen before any cable is plugged in. */
function act(examination: Examination, links: readonly Link[], words: string): Prose {
  const first = bridgesFirst(examination, links);
  return first === undefined ? `${upperFirst(words)}.` : prose`${first}${words}.`;
}

/** The declared links that a group of moves brings about. */
const linksOf = ({ cabling }: Examination, { mismatch }: MoveGroup): readonly Link[] =>
  cabling.links.map(({ link }) => link).filter(({ ends }) => mismatch.ends.some((end) => isSameEnd(end, ends[0])));

const groupOf = ({ moves }: Examination, { link }: JudgedLink): MoveGroup | undefined =>
  moves.find(({ mismatch }) => mismatch.ends.some((end) => isSameEnd(end, link.ends[0])));

/** What a person does about a cable, and at which Macs. */
type Cure = Pick<Found, 'hint' | 'handsAt'>;

const nodesOf = (ends: readonly LinkEnd[]): readonly NodeName[] => ends.map(({ node }) => node);

/** The moves that put it right, or what has to be cleared up before anybody can tell. */
function cure(examination: Examination, judged: JudgedLink): Cure {
  const group = groupOf(examination, judged);
  if (group !== undefined && group.moves.length > 0) {
    const hint = act(examination, linksOf(examination, group), group.moves.map(moveText).join(', then '));
    return { hint, handsAt: nodesOf(group.moves.flatMap(namedEnds)) };
  }
  const [unclear] = group?.mismatch.unclear ?? [];
  const view = unclear === undefined ? undefined : viewAt(examination.cabling.rack, unclear);
  return view === undefined || view.kind === 'unknown'
    ? { hint: 'Which cable to move cannot be told until all nodes on the way are reachable.' }
    : { hint: prose`${{ kind: 'first', act: escapeText(clearing(view)) }}look again.` };
}

/** What has to be done at a receptacle before anybody can tell where its cable goes. */
function clearing(view: ReceptacleView): string {
  const at = endWords(view.at);
  switch (view.kind) {
    case 'device':
      return `unplug what is in ${at}: ${viewText(view)}`;
    case 'silent':
      return `unplug the cable in ${at}, which nothing answers, wait ten seconds, plug it in again`;
    default:
      return `clear up ${at}, which sees ${viewText(view)}`;
  }
}

function seenAt({ link, views }: JudgedLink): Prose {
  const [a, b] = link.ends;
  const clauses = views.flatMap((view, index) => {
    const far = index === 0 ? b : a;
    const isRight = view.peers.some((peer) => peer.kind === 'node' && isSameEnd(peer.end, far));
    return isRight ? [] : [prose`${namedEnd(view.at)} sees ${viewText(view)}`];
  });
  return prose`${joinProse(clauses, ', ')}.`;
}

function oneSided({ link, views }: JudgedLink): Prose {
  const [first, second] = views;
  const [seeing, blind] = first.peers.some((peer) => peer.kind === 'node' && isSameEnd(peer.end, link.ends[1]))
    ? [first, second]
    : [second, first];
  return prose`${namedEnd(seeing.at)} sees ${linkEndText(blind.at)}, but ${linkEndText(blind.at)} sees ${viewText(blind)}.`;
}

function noReceptacle({ cabling }: Examination, { views }: JudgedLink): Prose {
  const told = views
    .filter((view) => view.kind === 'absent')
    .map(({ at }) => {
      const there = cabling.rack.views.filter((view) => view.at.node === at.node).map((view) => view.at.receptacle);
      const list = there.length === 0 ? 'none' : there.join(', ');
      return prose`${named(at.node)} has no receptacle ${at.receptacle} (macOS shows: ${list})`;
    });
  return prose`${joinProse(told, '; ')}.`;
}

function tell(examination: Examination, judged: JudgedLink): Omit<Found, 'subject'> | undefined {
  const { judgement, link } = judged;
  const nodes = nodesOf(link.ends);
  const plugStraight = `plug the cable straight from ${endWords(link.ends[0])} into ${endWords(link.ends[1])}`;
  const straight = act(examination, [link], plugStraight);
  switch (judgement.kind) {
    case 'as-declared':
      return judgement.bitsPerSecond === undefined && needsFastLink(examination.desired, link.ends)
        ? { code: 'cabling/speed-unknown', detail: 'macOS says at neither end how fast it is.' }
        : undefined;
    case 'missing': {
      const isEmpty = judged.views.every((view) => view.kind === 'empty');
      const detail = isEmpty ? 'No cable is plugged in at either end.' : seenAt(judged);
      return { code: 'cabling/missing', detail, ...cure(examination, judged) };
    }
    case 'elsewhere':
      return { code: 'cabling/elsewhere', detail: seenAt(judged), ...cure(examination, judged) };
    case 'slow':
      // A Mac that can do no more is told as such; no cable would help.
      return judgement.limitedBy.length > 0
        ? undefined
        : {
            code: 'cabling/slow',
            severity: rdmaSeverity(examination, nodes) === 'error' ? 'error' : 'warning',
            detail: `It runs at ${speedText(judgement.bitsPerSecond)}: no RDMA below 80 Gb/s.`,
            ...cure(examination, judged),
          };
    case 'one-sided': {
      // Who sees a dock and nothing behind it will not see more later.
      const isDock = judged.views.some((view) => view.kind === 'device');
      const hint = isDock ? straight : prose`Look again; if it stays: ${straight}`;
      return { code: 'cabling/one-sided', detail: oneSided(judged), hint, handsAt: nodes };
    }
    case 'through-hub': {
      const detail = 'A dock or hub stands between the two Macs.';
      return { code: 'cabling/through-hub', detail, hint: straight, handsAt: nodes };
    }
    case 'no-receptacle':
      return { code: 'cabling/no-receptacle', detail: noReceptacle(examination, judged) };
    case 'unknown':
      return judged.views.every((view) => view.kind === 'silent')
        ? {
            code: 'cabling/no-answer',
            detail: 'Something is plugged in at both ends, and nothing answers.',
            hint: act(examination, [link], 'unplug the cable at one end, wait ten seconds, plug it in again'),
          }
        : undefined;
  }
}

/** Declared links that are not as the file says. A link with an end that nobody could look at is not judged. */
export const cables = defineRule(codes, (examination) =>
  examination.cabling.links.flatMap((judged) => {
    const found = tell(examination, judged);
    return found === undefined ? [] : { subject: linkSubject(judged.link.ends), ...found };
  }),
);

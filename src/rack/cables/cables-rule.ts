import { needsFastLink } from '../../desired/layouts.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { joinProse, named, namedEnd, type Prose, prose } from '../../model/text/prose.ts';
import { speedText } from '../../model/text/units.ts';
import { endWords, moveText, namedEnds, viewText } from '../cabling/cabling-text.ts';
import { type JudgedLink, viewAt } from '../cabling/judge-cabling.ts';
import type { MoveGroup } from '../cabling/moves.ts';
import { isSameEnd, type ReceptacleView } from '../cabling/receptacle-view.ts';
import { defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, rdmaSeverity } from '../examination.ts';
import { afterBridges } from './bridges-reading.ts';
import { thunderboltFact } from './fact.ts';

const blockingLink = {
  traits: ['hands', 'unplugs'],
  role: { blocks: 'thunderbolt-link' },
  facts: [thunderboltFact],
} as const;

/** Traffic may still flow over the cable, but nothing is started over it. */
const suspectLink = { ...blockingLink, severity: 'warning', traits: ['hands', 'unplugs', 'holds-starts'] } as const;

const codes = {
  'cabling/missing': {
    summary: 'A declared cable is missing.',
    cause: 'Neither end of the link sees a cable.',
    hint: 'Remove the Thunderbolt Bridge on both Macs. Then connect the two receptacles with a Thunderbolt 5 cable.',
    ...blockingLink,
  },
  'cabling/elsewhere': {
    summary: 'A declared cable is plugged in somewhere else.',
    cause:
      'According to the domain UUIDs that the Macs show each other, one end of the link does not see what the file declares.',
    hint: 'Remove the Thunderbolt Bridge on both Macs. Then move the cable, or correct the link in the file.',
    ...blockingLink,
  },
  'cabling/slow': {
    severity: 'warning',
    traits: ['hands', 'unplugs'],
    summary: 'A cable is slower than 80 Gb/s.',
    cause:
      'A Thunderbolt 4 cable runs at 40 Gb/s: it supports IP but not RDMA (in exo issue 1881, a new cable was the fix). A Mac with Thunderbolt 4 has the same effect, but is reported as rdma/no-thunderbolt-5.',
    hint: 'Replace the cable with a Thunderbolt 5 cable.',
    role: { blocks: 'thunderbolt-link', when: 'rdma-needed' },
    facts: [thunderboltFact],
  },
  'cabling/speed-unknown': {
    severity: 'warning',
    traits: ['hands'],
    summary: 'The speed of a cable is unknown.',
    cause:
      "Neither Mac reports the link's speed. RDMA needs 80 Gb/s, and an unknown speed does not count as fast enough. meshwright reports this only where the file requires RDMA.",
    hint: 'Check the cable (a Thunderbolt 5 cable is marked with a 5) and System Information > Thunderbolt on both Macs.',
    facts: [thunderboltFact],
  },
  'cabling/one-sided': {
    summary: 'Only one end of a link sees the cable.',
    cause: 'Only one of the two Macs sees the other. Either a hub is between them, or a cable was just moved.',
    hint: 'Check again. If the problem remains, plug the cable directly into both Macs.',
    ...suspectLink,
  },
  'cabling/through-hub': {
    summary: 'A link runs through a dock or hub.',
    cause:
      'IP does not work through two chained hubs, and one hub between two Macs caused kernel panics on macOS 26.5.',
    hint: 'Plug the cable directly into both Macs.',
    ...suspectLink,
  },
  'cabling/no-answer': {
    summary: 'Something is plugged in at both ends of a link, but nothing answers.',
    cause: 'Both receptacles are connected, but neither shows a Mac or a device, so it is unknown where the cables go.',
    hint: 'Unplug the cable at one end, wait ten seconds, and plug it in again.',
    ...suspectLink,
  },
  'cabling/no-receptacle': {
    summary: 'A link names a receptacle that the Mac does not have.',
    cause: 'macOS shows no Thunderbolt receptacle with that number.',
    hint: 'Correct the link in the file.',
    role: { blocks: 'thunderbolt-link' },
    facts: [thunderboltFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

const linksOf = ({ cabling }: Examination, { mismatch }: MoveGroup): readonly Link[] =>
  cabling.links.map(({ link }) => link).filter(({ ends }) => mismatch.ends.some((end) => isSameEnd(end, ends[0])));

const groupOf = ({ moves }: Examination, { link }: JudgedLink): MoveGroup | undefined =>
  moves.find(({ mismatch }) => mismatch.ends.some((end) => isSameEnd(end, link.ends[0])));

const nodesOf = (ends: readonly LinkEnd[]): readonly NodeName[] => ends.map(({ node }) => node);

/** The moves that correct the cabling, or the step that a person must take before the moves are known. */
function cure(examination: Examination, judged: JudgedLink): Pick<Found, 'hint' | 'handsAt'> {
  const group = groupOf(examination, judged);
  if (group !== undefined && group.moves.length > 0) {
    const hint = afterBridges(examination, linksOf(examination, group), group.moves.map(moveText).join(', then '));
    return { hint, handsAt: nodesOf(group.moves.flatMap(namedEnds)) };
  }
  const [unclear] = group?.mismatch.unclear ?? [];
  const view = unclear === undefined ? undefined : viewAt(examination.cabling.rack, unclear);
  return view === undefined || view.kind === 'unknown'
    ? { hint: 'Make the nodes at the ends of these cables reachable: until then, it is unknown which cable to move.' }
    : { hint: prose`${{ kind: 'first', act: escapeText(clearing(view)) }}check again.` };
}

/** The manual step at a receptacle whose cable has an unclear far end. */
function clearing(view: ReceptacleView): string {
  const at = endWords(view.at);
  switch (view.kind) {
    case 'device':
      return `unplug everything in ${at}: ${viewText(view)}`;
    case 'silent':
      return `unplug the unresponsive cable in ${at}, wait ten seconds, and plug it in again`;
    default:
      return `sort out the cable in ${at}, which sees ${viewText(view)}`;
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
  const clauses = views
    .filter((view) => view.kind === 'absent')
    .map(({ at }) => {
      const there = cabling.rack.views.filter((view) => view.at.node === at.node).map((view) => view.at.receptacle);
      const list = there.length === 0 ? 'none' : there.join(', ');
      return prose`${named(at.node)} has no receptacle ${at.receptacle} (macOS shows: ${list})`;
    });
  return prose`${joinProse(clauses, '; ')}.`;
}

function tell(examination: Examination, judged: JudgedLink): Omit<Found, 'subject'> | undefined {
  const { judgement, link } = judged;
  const nodes = nodesOf(link.ends);
  const plugStraight = `plug the cable directly from ${endWords(link.ends[0])} into ${endWords(link.ends[1])}`;
  const straight = afterBridges(examination, [link], plugStraight);
  switch (judgement.kind) {
    case 'as-declared':
      return judgement.bitsPerSecond === undefined && needsFastLink(examination.desired, link.ends)
        ? { code: 'cabling/speed-unknown', detail: "macOS shows this cable's speed at neither end." }
        : undefined;
    case 'missing': {
      const isEmpty = judged.views.every((view) => view.kind === 'empty');
      const detail = isEmpty ? 'No cable is plugged in at either end.' : seenAt(judged);
      return { code: 'cabling/missing', detail, ...cure(examination, judged) };
    }
    case 'elsewhere':
      return { code: 'cabling/elsewhere', detail: seenAt(judged), ...cure(examination, judged) };
    case 'slow':
      // A Mac that cannot run faster has a separate finding, because no cable would help.
      return judgement.limitedBy.length > 0
        ? undefined
        : {
            code: 'cabling/slow',
            severity: rdmaSeverity(examination, nodes) === 'error' ? 'error' : 'warning',
            detail: `The cable runs at ${speedText(judgement.bitsPerSecond)}, but RDMA needs 80 Gb/s.`,
            ...cure(examination, judged),
          };
    case 'one-sided': {
      // An end that sees only a dock will not show more when it is observed again.
      const isDock = judged.views.some((view) => view.kind === 'device');
      const hint = isDock ? straight : prose`Check again. If the problem remains: ${straight}`;
      return { code: 'cabling/one-sided', detail: oneSided(judged), hint, handsAt: nodes };
    }
    case 'through-hub': {
      const detail = 'A dock or hub is between the two Macs.';
      return { code: 'cabling/through-hub', detail, hint: straight, handsAt: nodes };
    }
    case 'no-receptacle':
      return { code: 'cabling/no-receptacle', detail: noReceptacle(examination, judged) };
    case 'unknown':
      return judged.views.every((view) => view.kind === 'silent')
        ? {
            code: 'cabling/no-answer',
            detail: 'Something is plugged in at both ends, but nothing answers.',
            hint: afterBridges(
              examination,
              [link],
              'unplug the cable at one end, wait ten seconds, and plug it in again',
            ),
          }
        : undefined;
  }
}

/** Declared links that do not match the file. A link with an unobserved end yields no finding. */
export const cables = defineRule(codes, (examination) =>
  examination.cabling.links.flatMap((judged) => {
    const found = tell(examination, judged);
    return found === undefined ? [] : { subject: linkSubject(judged.link.ends), ...found };
  }),
);

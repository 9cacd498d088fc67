import { needsFastLink } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { linkSubject } from '../../model/subject.ts';
import { joinProse, named, namedEnd, type Prose, prose } from '../../model/text/prose.ts';
import { speedText } from '../../model/text/units.ts';
import { endWords, moveText, namedEnds, viewText } from '../cabling/cabling-text.ts';
import type { JudgedLink } from '../cabling/judge-link.ts';
import type { MoveGroup } from '../cabling/moves.ts';
import { isSameEnd, type ReceptacleView } from '../cabling/receptacle-view.ts';
import { viewAt } from '../cabling/see-receptacles.ts';
import type { Examination } from '../examination.ts';
import { rdmaSeverity } from '../rdma-severity.ts';
import type { Rule } from '../rule.ts';
import { bridgesFirst } from './before-cables.ts';

const upperFirst = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

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
type Cure = Pick<Diagnostic, 'hint' | 'handsAt'>;

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

function tell(examination: Examination, judged: JudgedLink): readonly Diagnostic[] {
  const { judgement, link } = judged;
  const subject = linkSubject(link.ends);
  const nodes = link.ends.map(({ node }) => node);
  const plugStraight = `plug the cable straight from ${endWords(link.ends[0])} into ${endWords(link.ends[1])}`;
  const straight = act(examination, [link], plugStraight);
  switch (judgement.kind) {
    case 'as-declared':
      return judgement.bitsPerSecond === undefined && needsFastLink(examination.desired, link.ends)
        ? [diagnose('cabling/speed-unknown', { subject, detail: 'macOS says at neither end how fast it is.' })]
        : [];
    case 'missing': {
      const isEmpty = judged.views.every((view) => view.kind === 'empty');
      const detail = isEmpty ? 'No cable is plugged in at either end.' : seenAt(judged);
      return [diagnose('cabling/missing', { subject, detail, ...cure(examination, judged) })];
    }
    case 'elsewhere':
      return [diagnose('cabling/elsewhere', { subject, detail: seenAt(judged), ...cure(examination, judged) })];
    case 'slow':
      // A Mac that can do no more is told as such; no cable would help.
      return judgement.limitedBy.length > 0
        ? []
        : [
            diagnose('cabling/slow', {
              subject,
              severity: rdmaSeverity(examination, nodes) === 'error' ? 'error' : 'warning',
              detail: `It runs at ${speedText(judgement.bitsPerSecond)}: no RDMA below 80 Gb/s.`,
              ...cure(examination, judged),
            }),
          ];
    case 'one-sided': {
      // Who sees a dock and nothing behind it will not see more later.
      const isDock = judged.views.some((view) => view.kind === 'device');
      const hint = isDock ? straight : prose`Look again; if it stays: ${straight}`;
      return [diagnose('cabling/one-sided', { subject, detail: oneSided(judged), hint, handsAt: nodes })];
    }
    case 'through-hub':
      return [
        diagnose('cabling/through-hub', {
          subject,
          detail: 'A dock or hub stands between the two Macs.',
          hint: straight,
          handsAt: nodes,
        }),
      ];
    case 'no-receptacle':
      return [diagnose('cabling/no-receptacle', { subject, detail: noReceptacle(examination, judged) })];
    case 'unknown':
      return judged.views.every((view) => view.kind === 'silent')
        ? [
            diagnose('cabling/no-answer', {
              subject,
              detail: 'Something is plugged in at both ends, and nothing answers.',
              hint: act(examination, [link], 'unplug the cable at one end, wait ten seconds, plug it in again'),
            }),
          ]
        : [];
  }
}

/** Declared links that are not as the file says. A link with an end that nobody could look at is not judged. */
export const cables: Rule = (examination) => examination.cabling.links.flatMap((judged) => tell(examination, judged));

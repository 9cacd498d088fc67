import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { nodeSubject } from '../../model/subject.ts';
import { blank, meshwright } from '../../model/text/command.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { ExaminedNode } from '../examination.ts';
import type { Rule } from '../rule.ts';
import { type Held, holdsOf, releaseText } from './node-holds.ts';

function told({ name }: ExaminedNode, held: Held): Diagnostic {
  const { reason, until, isOver, by } = held;
  const who = by === undefined ? 'by the cluster file' : `by ${escapeText(by)}`;
  const why = escapeText(reason).replace(/\.$/, '');
  if (isOver) {
    return diagnose('hold/expired', {
      subject: nodeSubject(name),
      detail: prose`${named(name)} was held ${who} until ${until ?? ''}: ${why}. That day is over, so it is changed again as any other.`,
      hint: prose`Say that it may: ${releaseText(name, held)}. Or hold it for longer: ${meshwright('hold', name, '--until', blank('DATE'))}`,
    });
  }
  const end = until === undefined ? '' : ` until ${until}`;
  return diagnose('hold/held', {
    subject: nodeSubject(name),
    detail: prose`${named(name)} is held ${who}${end}: ${why}.`,
    hint: prose`When it may be changed again: ${releaseText(name, held)}`,
  });
}

/** Nodes that are left alone, and those of which the time for that is over. */
export const holds: Rule = ({ nodes }) =>
  nodes.flatMap((node) => holdsOf(node.desired, node.facts).map((held) => told(node, held)));

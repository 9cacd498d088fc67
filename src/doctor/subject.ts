import { type Link, type LinkEnd, linkEndText } from '../model/link.ts';

/** `node studio-3`: the subject of a finding about one node. */
export const nodeSubject = (name: string): string => `node ${name}`;

/** `nodes studio-1, studio-3`: the subject of a finding about several nodes together. */
export const nodesSubject = (names: readonly string[]): string =>
  names.length === 1 ? nodeSubject(names[0] ?? '') : `nodes ${names.join(', ')}`;

/** `link studio-1:2 <-> studio-4:1`: the subject of a finding about a cable, declared or seen. */
export const linkSubject = (ends: Link['ends']): string => `link ${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`;

/** `receptacle studio-1:2`: the subject of a finding about what is plugged in at one place. */
export const receptacleSubject = (end: LinkEnd): string => `receptacle ${linkEndText(end)}`;

/** The names of the nodes that a subject is about, in the order in which it names them; empty for any other text. */
export function subjectNodes(subject: string): readonly string[] {
  const [kind, ...words] = subject.split(/[\s,]+/);
  switch (kind) {
    case 'node':
    case 'nodes':
      return words;
    case 'link':
    case 'receptacle':
      return words.filter((word) => word.includes(':')).map((word) => word.slice(0, word.indexOf(':')));
    default:
      return [];
  }
}

/** The nodes that a finding is about, or its placement. */
export const subjectNames = (subject = ''): readonly string[] =>
  subject.startsWith('placement ') ? [subject.slice('placement '.length)] : subjectNodes(subject);

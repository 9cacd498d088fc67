import { type Link, type LinkEnd, linkEndText } from './node.ts';

/** Which of several properties of one thing: the door of a placement, the old versions of a runtime. */
export type AddressPart =
  | ('door' | 'inside' | 'keys')
  | ('rank' | 'service-file')
  | ('live' | 'kept')
  | ('interface' | 'preferences' | 'service')
  | ('computer' | 'bonjour' | 'host')
  | ('sleep' | 'restart-after-power-loss')
  | ('files' | 'loaded')
  | ('services' | 'jobs' | 'trees' | 'accounts' | 'network' | 'access' | 'value' | 'daemon')
  | 'old';

/** What a property is about. Decisions read these parts; no code takes an address apart again. */
export interface AddressParts {
  /** The kind of its resource, or a kind of reading that only gates compare, such as `rank`. */
  readonly kind: string;
  /** Of a gateway. */
  readonly port?: number;
  readonly receptacle?: number;
  readonly placement?: string;
  /** Of a runtime, a model, an account, a daemon or a baseline value. */
  readonly name?: string;
  readonly part?: AddressPart;
}

/** Something with an address. The text is its key in plans, journals and gates; `about` never leaves the program. */
export interface Addressed {
  /** `<kind>` or `<kind>/<name>`, such as `placement/kimi`. */
  readonly address: string;
  readonly about: AddressParts;
}

/** The address of these parts, in the order in which they are given: `link-address`, 2, `live`. */
export const addressed = (about: AddressParts): Addressed => ({ address: Object.values(about).join('/'), about });

/** The kind in an address that a person typed. */
export const typedKind = (typed: string): string => typed.split('/')[0] ?? '';

/** What a diagnostic is about. {@link subjectText} gives its words. */
export type Subject =
  | { readonly kind: 'node'; readonly names: readonly string[] }
  /** A cable, declared or seen; a rule about the file has the words of the file. */
  | { readonly kind: 'link'; readonly ends: Link['ends']; readonly text: string }
  | { readonly kind: 'receptacle'; readonly end: LinkEnd }
  | { readonly kind: 'placement' | 'runtime' | 'model'; readonly name: string }
  /** A file, an address or whatever else has a name of its own. */
  | { readonly kind: 'name'; readonly name: string };

/** A finding about one node. */
export const nodeSubject = (name: string): Subject => ({ kind: 'node', names: [name] });

/** A finding about several nodes together. */
export const nodesSubject = (names: readonly string[]): Subject => ({ kind: 'node', names });

/** A finding about a cable, declared or seen. */
export const linkSubject = (
  ends: Link['ends'],
  text = `${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`,
): Subject => ({ kind: 'link', ends, text });

/** A finding about what is plugged in at one place. */
export const receptacleSubject = (end: LinkEnd): Subject => ({ kind: 'receptacle', end });

/** A finding about a placement. */
export const placementSubject = (name: string): Subject => ({ kind: 'placement', name });

/** A finding about a runtime. */
export const runtimeSubject = (name: string): Subject => ({ kind: 'runtime', name });

/** A finding about a model. */
export const modelSubject = (name: string): Subject => ({ kind: 'model', name });

/** A finding about a file or anything else that has a name of its own. */
export const namedSubject = (name: string): Subject => ({ kind: 'name', name });

/** The subject without the word for its kind: `studio-1, studio-3`, `studio-1:2 <-> studio-4:1`, `kimi`. */
export function subjectName(subject: Subject): string {
  switch (subject.kind) {
    case 'node':
      return subject.names.join(', ');
    case 'link':
      return subject.text;
    case 'receptacle':
      return linkEndText(subject.end);
    default:
      return subject.name;
  }
}

/** As screens and JSON have it: `node studio-3`, `link studio-1:2 <-> studio-4:1`, `placement kimi`; empty for none. */
export function subjectText(subject: Subject | undefined): string {
  if (subject === undefined) return '';
  const name = subjectName(subject);
  if (subject.kind === 'name') return name;
  return subject.kind === 'node' && subject.names.length > 1 ? `nodes ${name}` : `${subject.kind} ${name}`;
}

/** The ends of cables that a subject names. */
export function subjectEnds(subject: Subject | undefined): readonly LinkEnd[] {
  if (subject?.kind === 'link') return subject.ends;
  return subject?.kind === 'receptacle' ? [subject.end] : [];
}

/** The names of the nodes that a subject is about, in the order in which it names them. */
export const subjectNodes = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'node' ? subject.names : subjectEnds(subject).map(({ node }) => node);

/** The nodes that a finding is about, or its placement. */
export const subjectNames = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'placement' ? [subject.name] : subjectNodes(subject);

/** Whether a subject is this placement. */
export const isPlacement = (subject: Subject | undefined, name: string): boolean =>
  subject?.kind === 'placement' && subject.name === name;

/** Whether two subjects are the same, or both are missing. */
export const isSameSubject = (a: Subject | undefined, b: Subject | undefined): boolean =>
  a?.kind === b?.kind && subjectText(a) === subjectText(b);

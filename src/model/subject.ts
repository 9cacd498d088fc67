import { type Link, type LinkEnd, linkEndText } from './node.ts';

/** One of several properties of one thing, such as whether a placement's gateway is open. */
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

/** The parts of a property's address. Decisions read these parts; no code parses an address. */
export interface AddressParts {
  /** Its resource kind, or a kind of reading that only gates compare, such as `rank`. */
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

/** A diagnostic's subject; {@link subjectText} gives its text. */
export type Subject =
  | { readonly kind: 'node'; readonly names: readonly string[] }
  /** A cable, declared or seen; rules about the file use the file's text. */
  | { readonly kind: 'link'; readonly ends: Link['ends']; readonly text: string }
  | { readonly kind: 'receptacle'; readonly end: LinkEnd }
  | { readonly kind: 'placement' | 'runtime' | 'model'; readonly name: string }
  /** A file, an address or anything else with its own name. */
  | { readonly kind: 'name'; readonly name: string };

export const nodeSubject = (name: string): Subject => ({ kind: 'node', names: [name] });

export const nodesSubject = (names: readonly string[]): Subject => ({ kind: 'node', names });

export const linkSubject = (
  ends: Link['ends'],
  text = `${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`,
): Subject => ({ kind: 'link', ends, text });

/** A finding about what is plugged in at one place. */
export const receptacleSubject = (end: LinkEnd): Subject => ({ kind: 'receptacle', end });

export const placementSubject = (name: string): Subject => ({ kind: 'placement', name });

export const runtimeSubject = (name: string): Subject => ({ kind: 'runtime', name });

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

/** The names of a subject's nodes, in its order. */
export const subjectNodes = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'node' ? subject.names : subjectEnds(subject).map(({ node }) => node);

/** The nodes that a finding is about, or its placement. */
export const subjectNames = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'placement' ? [subject.name] : subjectNodes(subject);

export const isPlacement = (subject: Subject | undefined, name: string): boolean =>
  subject?.kind === 'placement' && subject.name === name;

/** Whether two subjects are the same, or both are missing. */
export const isSameSubject = (a: Subject | undefined, b: Subject | undefined): boolean =>
  a?.kind === b?.kind && subjectText(a) === subjectText(b);

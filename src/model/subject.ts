import { type Link, type LinkEnd, linkEndText } from './node.ts';

/** One of several properties with the same kind and name: `endpoint` is whether a placement's gateway is open. */
export type AddressPart =
  | ('endpoint' | 'in-flight' | 'keys' | 'replicas')
  | ('rank' | 'service-file')
  | ('live' | 'kept')
  | ('interface' | 'preferences' | 'service')
  | ('computer' | 'bonjour' | 'host')
  | ('sleep' | 'restart-after-power-loss')
  | ('files' | 'installed' | 'loaded' | 'packages')
  | ('services' | 'jobs' | 'trees' | 'accounts' | 'network' | 'access' | 'value' | 'daemon')
  | 'old';

/** The parts of a property's address. Decisions read these parts; no code parses an address. */
export interface AddressParts {
  /** The property's resource kind, or a kind of reading that only gates compare, such as `rank`. */
  readonly kind: string;
  /** A gateway's port. */
  readonly port?: number;
  readonly receptacle?: number;
  readonly placement?: string;
  /** The name of a runtime, model, account, daemon or baseline value. */
  readonly name?: string;
  /** One version of a model: the first 16 digits of its digest. */
  readonly version?: string;
  readonly part?: AddressPart;
}

/** Something with an address. Plans, journals and gates use the text as a key; `about` never leaves the program. */
export interface Addressed {
  /** `<kind>` or `<kind>/<name>`, such as `placement/kimi`. */
  readonly address: string;
  readonly about: AddressParts;
}

/** Joins parts to an address, in the order of their keys: `link-address`, 2, `live`. */
export const addressed = (about: AddressParts): Addressed => ({ address: Object.values(about).join('/'), about });

/** Returns the kind in an address that a person entered. */
export const typedKind = (typed: string): string => typed.split('/')[0] ?? '';

/** A diagnostic's subject; {@link subjectText} formats it. */
export type Subject =
  | { readonly kind: 'node'; readonly names: readonly string[] }
  /** A cable, declared or observed; for rules about the file, `text` is the file's text. */
  | { readonly kind: 'link'; readonly ends: Link['ends']; readonly text: string }
  | { readonly kind: 'receptacle'; readonly end: LinkEnd }
  | { readonly kind: 'placement' | 'runtime' | 'model'; readonly name: string }
  /** A file, an address or anything else with a name. */
  | { readonly kind: 'name'; readonly name: string };

export const nodeSubject = (name: string): Subject => ({ kind: 'node', names: [name] });

export const nodesSubject = (names: readonly string[]): Subject => ({ kind: 'node', names });

export const linkSubject = (
  ends: Link['ends'],
  text = `${linkEndText(ends[0])} <-> ${linkEndText(ends[1])}`,
): Subject => ({ kind: 'link', ends, text });

export const receptacleSubject = (end: LinkEnd): Subject => ({ kind: 'receptacle', end });

export const placementSubject = (name: string): Subject => ({ kind: 'placement', name });

export const runtimeSubject = (name: string): Subject => ({ kind: 'runtime', name });

export const modelSubject = (name: string): Subject => ({ kind: 'model', name });

/** The subject of a finding about a file or anything else with a name. */
export const namedSubject = (name: string): Subject => ({ kind: 'name', name });

/** Formats a subject without its kind: `studio-1, studio-3`, `studio-1:2 <-> studio-4:1`, `kimi`. */
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

/** Formats a subject for screens and JSON: `node studio-3`, `link studio-1:2 <-> studio-4:1`; empty if undefined. */
export function subjectText(subject: Subject | undefined): string {
  if (subject === undefined) return '';
  const name = subjectName(subject);
  if (subject.kind === 'name') return name;
  return subject.kind === 'node' && subject.names.length > 1 ? `nodes ${name}` : `${subject.kind} ${name}`;
}

export function subjectEnds(subject: Subject | undefined): readonly LinkEnd[] {
  if (subject?.kind === 'link') return subject.ends;
  return subject?.kind === 'receptacle' ? [subject.end] : [];
}

/** The names of a subject's nodes, in the subject's order. */
export const subjectNodes = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'node' ? subject.names : subjectEnds(subject).map(({ node }) => node);

/** The names of the nodes that a finding is about, or of its placement. */
export const subjectNames = (subject: Subject | undefined): readonly string[] =>
  subject?.kind === 'placement' ? [subject.name] : subjectNodes(subject);

export const isPlacement = (subject: Subject | undefined, name: string): boolean =>
  subject?.kind === 'placement' && subject.name === name;

/** True if two subjects are the same, or both are missing. */
export const isSameSubject = (a: Subject | undefined, b: Subject | undefined): boolean =>
  a?.kind === b?.kind && subjectText(a) === subjectText(b);

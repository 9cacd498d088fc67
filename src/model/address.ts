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

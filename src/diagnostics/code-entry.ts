import type { FactsNode } from '../model/documents.generated.ts';
import type { Prose } from '../model/text/prose.ts';
/** An error stops the run, a warning does not, and a notice is only for information. */
export type Severity = 'error' | 'warning' | 'notice';

/**
 * `hands`: only a person at the rack or at the Mac's console can fix it. `urgent`: it does harm until it is fixed, so it
 * is shown first. `whole-detail`: the detail includes the summary. `apply-first`: the next apply clears it.
 */
type GeneralTrait = 'hands' | 'urgent' | 'whole-detail' | 'unknown-facts' | 'apply-first' | 'interrupted';

/** `passing`: it may be over soon, and nothing was sent. */
type ConnectionTrait = 'looks-off' | 'dropped' | 'passing';

type LoginTrait = 'strange-key' | 'changed-key' | 'login-refused' | 'sudo-password';

/** `maybe-locked`: the preboot key is unknown. `not-unlocked`: a person has to unlock the Mac or give a password. */
type RestartTrait = 'locked' | 'maybe-locked' | 'not-unlocked' | 'still-answers' | 'no-return';

/**
 * `fixed-hint`: the hint has no text from the file, so no secret. `in-file`: it is about a runtime's version, whose place
 * in the file is shown.
 */
type FileTrait = 'missing-key' | 'ambiguous-value' | 'fixed-hint' | 'pins-changed' | 'in-file';

/**
 * `unplugs`: the hint may ask a person to unplug a cable. `holds-starts`: even as a warning, it blocks starts over the
 * cable. `darkens`: the RDMA ports at the far ends of the Mac's cables go down. `suspects-cable`: only a measurement shows
 * whether a cable is the cause.
 */
type CableTrait = 'unplugs' | 'holds-starts' | 'wrong-port' | 'rdma-switch' | 'darkens' | 'suspects-cable';

/** The states of a receptacle without RDMA. */
type PortTrait = 'no-device' | 'port-down' | 'port-not-active' | 'interface-down' | 'bridged' | 'no-address' | 'no-gid';

type PlacementTrait = 'spent-device' | 'no-memory' | 'mixed-macos' | 'mixed-builds' | 'local-network' | 'fallback';

type RunTrait = 'closed-gateway' | 'unasked-gateway' | 'no-token' | 'lost-lease' | 'wrong-digest' | 'wrong-files';

/** What decisions ask about a problem, besides its area and severity. */
export type Trait =
  | (GeneralTrait | ConnectionTrait | LoginTrait | RestartTrait | FileTrait)
  | (CableTrait | PortTrait | PlacementTrait | RunTrait);

/** A code's entry in the registry; `docs/errors.md` is generated from these entries. */
export interface CodeEntry {
  /** `error` unless given. */
  readonly severity?: Severity;
  /**
   * The exit code of a command that fails with this code; 1 unless given. 5: nothing was changed; 64: wrong usage;
   * 65: invalid file; 70: bug in meshwright; 75: another run has a lease.
   */
  readonly exit?: 5 | 64 | 65 | 70 | 75;
  readonly traits?: readonly Trait[];
  /** Always the same text without user data, so that readers recognize the kind of problem. */
  readonly summary: string;
  /** Why the problem occurs, for `docs/errors.md`. */
  readonly cause: string;
  /** The facts that show the problem, if its area alone does not determine them; a rule names its facts itself. */
  readonly evidence?: readonly (keyof FactsNode)[];
  /** The default hint, which most rules replace with a more specific one. */
  readonly hint: Prose;
}

/** A code with its entry: everything that a diagnostic needs. */
export interface Code extends CodeEntry {
  readonly code: string;
  readonly severity: Severity;
}

export type CodesOf<T extends Readonly<Record<string, CodeEntry>>> = { readonly [K in keyof T]: T[K] & Code };

/** Gives all codes of a table the same exit code. */
export const withExit = <T extends Readonly<Record<string, CodeEntry>>>(exit: CodeEntry['exit'], entries: T): T =>
  Object.fromEntries(Object.entries(entries).map(([code, entry]) => [code, { exit, ...entry }])) as unknown as T;

/** Adds the code (the entry's key) and the default severity to each entry. */
export const defineCodes = <T extends Readonly<Record<string, CodeEntry>>>(entries: T): CodesOf<T> =>
  Object.fromEntries(
    Object.entries(entries).map(([code, entry]) => [code, { code, severity: 'error', ...entry }]),
  ) as CodesOf<T>;

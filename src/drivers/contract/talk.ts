import type { DiagnosticCode } from '../../diagnostics/codes.ts';
import type { NodeName } from '../../model/node.ts';
import type { Prose } from '../../model/text/prose.ts';

/** One request of a dialogue, made on a node to its own loopback address. */
export interface TalkRequest {
  readonly node: NodeName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly port: number;
  /** With its leading slash, its query included. */
  readonly path: string;
  /** JSON as text. */
  readonly body?: string;
  /** How long it is waited for, in milliseconds; absent: as long as any. */
  readonly limitMs?: number;
}

/** What came back. */
export interface Heard {
  /** 0 when there was no answer at all. */
  readonly status: number;
  /** Set where nobody knows whether it was asked at all: its node was not reached, or the answer came back cut. */
  readonly isUnasked?: true;
  /** Set where nobody listens at its port: it was refused at once, whatever time that took. */
  readonly isRefused?: true;
  readonly body: string;
  /** Since the dialogue began, in milliseconds. */
  readonly atMs: number;
}

/** The next thing to ask, and what follows from each answer. */
export interface Asking {
  readonly kind: 'ask';
  readonly request: TalkRequest;
  /** How long to wait before it is asked. */
  readonly afterMs: number;
  /** How far it has come, in a few words. */
  readonly about: string;
  readonly hear: (heard: Heard) => Talk;
}

/**
 * Where a dialogue stands. It knows no clock and reaches nothing: somebody else asks, and hands over what was heard.
 */
export type Talk =
  | Asking
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'failed'; readonly code: DiagnosticCode; readonly reason: string; readonly hint?: Prose };

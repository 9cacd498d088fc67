/**
 * Where the text of an answer comes from, and how far it can be relied on: `apple` is written by Apple, `capture` was
 * printed by a real Mac and published, `modelled` was written after real output by its publisher, `published` was
 * reported without a capture, `unconfirmed` still waits for somebody with a Mac (docs/unverified.md).
 */
export interface Source {
  readonly grade: 'apple' | 'capture' | 'modelled' | 'published' | 'unconfirmed';
  /** Document, publisher or claim. */
  readonly text: string;
  /** The captured text in `test/cases/sim/captures`, which the answer is compared with. */
  readonly capture?: string;
}

/** An Apple document, such as TN3205 or a manual page. */
export const apple = (document: string): Source => ({ grade: 'apple', text: document });

/** Real output, kept as a file. */
export const capture = (name: string, publisher: string): Source => ({
  grade: 'capture',
  text: publisher,
  capture: name,
});

/** Output that its publisher wrote after what a real Mac printed, kept as a file. */
export const modelled = (name: string, publisher: string): Source => ({
  grade: 'modelled',
  text: publisher,
  capture: name,
});

/** Behaviour that was reported in public, without a capture of the whole output. */
export const published = (where: string): Source => ({ grade: 'published', text: where });

/** What is generally known and nobody has confirmed on a Mac for this project. */
export const unconfirmed = (claim: string): Source => ({ grade: 'unconfirmed', text: claim });

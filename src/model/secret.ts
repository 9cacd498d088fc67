/** Where a secret comes from; the file names a source and never holds the secret itself. */
export type SecretSource =
  /** An environment variable of the controller. */
  | { readonly kind: 'env'; readonly name: string }
  /** A file of the controller that nobody else may read. */
  | { readonly kind: 'file'; readonly path: string }
  /** What a program of the controller prints; no shell reads the words. It does not see these environment variables. */
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly hidden?: readonly string[] }
  /** A person at the terminal. */
  | { readonly kind: 'prompt' };

/** Where a key that clients send comes from: never from a prompt. */
export type ApiKeySource = Exclude<SecretSource, { readonly kind: 'prompt' }>;

/** What is shown in place of a secret. */
const hidden = '[secret]';

/** A secret that no template, no JSON and no inspection shows; only {@link Secret.reveal} gives it away. */
export interface Secret {
  /** The text itself: for the one message or standard input that needs it. */
  readonly reveal: () => string;
  readonly toString: () => string;
  readonly toJSON: () => string;
}

/** Wraps a text so that it cannot be shown by mistake. */
export function concealed(text: string): Secret {
  const shown = (): string => hidden;
  const secret = {
    reveal: () => text,
    toString: shown,
    toJSON: shown,
    [Symbol.for('nodejs.util.inspect.custom')]: shown,
  };
  // The text lives in the closure alone; functions of an object are named by an inspection that asks for them.
  return Object.freeze(Object.defineProperty(secret, 'reveal', { enumerable: false }));
}

/** A source in a few words: `env FILEVAULT_PASSWORD`, `file ~/x`, `command security`, `a prompt`. */
export function secretSourceText(source: SecretSource): string {
  switch (source.kind) {
    case 'env':
      return `env ${source.name}`;
    case 'file':
      return `file ${source.path}`;
    case 'command':
      // The other words may name what nobody else should read.
      return `command ${source.argv[0] ?? ''}`;
    case 'prompt':
      return 'a prompt';
  }
}

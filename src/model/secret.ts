/** A secret's source. The file contains only the source, never the secret itself. */
export type SecretSource =
  /** An environment variable of the controller. */
  | { readonly kind: 'env'; readonly name: string }
  /** A file on the controller that only its owner can read. */
  | { readonly kind: 'file'; readonly path: string }
  /** The output of a program on the controller, run without a shell and without the `hidden` environment variables. */
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly hidden?: readonly string[] }
  /** A prompt at the terminal. */
  | { readonly kind: 'prompt' };

/** The source of a client API key, which is never a prompt. */
export type ApiKeySource = Exclude<SecretSource, { readonly kind: 'prompt' }>;

/** Shown in place of a secret. */
const hidden = '[secret]';

/** A secret that templates, JSON and inspection never show; only {@link Secret.reveal} returns its text. */
export interface Secret {
  /** Returns the secret's text, for the message or standard input that needs it. */
  readonly reveal: () => string;
  readonly toString: () => string;
  readonly toJSON: () => string;
}

export function concealed(text: string): Secret {
  const shown = (): string => hidden;
  const secret = {
    reveal: () => text,
    toString: shown,
    toJSON: shown,
    [Symbol.for('nodejs.util.inspect.custom')]: shown,
  };
  // The text is only in the closure, because inspection can list an object's properties.
  return Object.freeze(Object.defineProperty(secret, 'reveal', { enumerable: false }));
}

/** Formats a source: `env FILEVAULT_PASSWORD`, `file ~/x`, `command security`, `a prompt`. */
export function secretSourceText(source: SecretSource): string {
  switch (source.kind) {
    case 'env':
      return `env ${source.name}`;
    case 'file':
      return `file ${source.path}`;
    case 'command':
      // The arguments can be confidential.
      return `command ${source.argv[0] ?? ''}`;
    case 'prompt':
      return 'a prompt';
  }
}

/**
 * What a cluster file asks of this computer beyond files in its own folder: to run a program, to read a variable or a
 * file, to contact a host that the file names, or to send a host the Hugging Face token.
 */
const trustKinds = ['program', 'env', 'file', 'host', 'token-host'] as const;

export interface TrustRequest {
  readonly kind: (typeof trustKinds)[number];
  /** The words of a program as typed in a shell, the name of a variable, an absolute path, or a host with its port. */
  readonly value: string;
  /** The words of a program, apart. */
  readonly words?: readonly string[];
  /** Who asks, such as `the API key of chat`. */
  readonly use: string;
}

/** The form of a value of `--trust`, in words. */
export const trustForm = `Enter KIND=VALUE, where KIND is one of ${trustKinds.join(', ')}.`;

export const isTrustWord = (word: string): boolean =>
  trustKinds.some((kind) => word.startsWith(`${kind}=`) && word.length > kind.length + 1);

/** A request as `--trust` takes it: `env=HF_TOKEN`. */
export const trustWord = ({ kind, value }: Pick<TrustRequest, 'kind' | 'value'>): string => `${kind}=${value}`;

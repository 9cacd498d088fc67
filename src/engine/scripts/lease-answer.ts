import type { ScriptEnd } from '../../node/script-result.ts';

/** A lease as somebody has seen it; without a run when its owner died before he had signed it. */
export interface SeenLease {
  readonly run?: string;
  readonly token?: number;
  readonly beat: number;
  /** Every line of the owner file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** How an attempt to take a lease ended. */
export type LeaseAnswer =
  /** The boot session of the node is empty where it could not be read. */
  | { readonly kind: 'taken'; readonly token: number; readonly bootSession: string }
  | { readonly kind: 'held'; readonly lease: SeenLease }
  | { readonly kind: 'failed'; readonly text: string };

/** Reads what the scripts that take a lease print. */
export function readLeaseAnswer({ exit, stdout, stderr }: ScriptEnd): LeaseAnswer {
  const [first = '', ...lines] = stdout.split('\n');
  const isSuccess = exit.kind === 'exited' && exit.code === 0;
  const [, token, bootSession = ''] = /^@taken (\d{1,15}) (\S*)$/.exec(first) ?? [];
  if (isSuccess && token !== undefined) return { kind: 'taken', token: Number(token), bootSession };
  if (isSuccess && first === '@held') return { kind: 'held', lease: seenLease(lines) };
  return { kind: 'failed', text: stderr.trim().split('\n').at(-1) || 'without a word' };
}

function seenLease(lines: readonly string[]): SeenLease {
  const entries = lines.flatMap((line) => {
    const [, key, value] = /^\|([a-z]+)=(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key, value ?? ''] as const];
  });
  const { beat, ...fields } = Object.fromEntries(entries) as Readonly<Record<string, string>>;
  const { run, token } = fields;
  const signed = run === undefined || !/^\d{1,15}$/.test(token ?? '') ? {} : { run, token: Number(token) };
  return { ...signed, beat: /^\d{1,15}$/.test(beat ?? '') ? Number(beat) : 0, fields };
}

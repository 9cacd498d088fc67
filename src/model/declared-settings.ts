import type { DesiredModel, DesiredPlacement, DesiredRuntime } from './desired.ts';
import { canonicalJson, shortDigest } from './digest.ts';
import { given } from './given.ts';
import { tokensText } from './text/units.ts';

/** The settings of a placement that people change, by key of the file, each as one short text. */
type Declared = Readonly<Record<string, string>>;

/** The word of the file for the ssh user. */
const login = 'login';

/** What the settings of a placement come from. */
interface DeclaredParts {
  readonly placement: DesiredPlacement;
  readonly runtime: Pick<DesiredRuntime, 'digest'>;
  readonly model: Pick<DesiredModel, 'digest'>;
  /** The account of its ranks; undefined is the ssh user. */
  readonly account: string | undefined;
}

/**
 * What a start keeps on its nodes beside its digest, as JSON on one line, so that a later plan can name what differs.
 * No `env` or `args`: they may hold what nobody should print.
 */
export function declaredText({ placement, runtime, model, account = login }: DeclaredParts): string {
  const { nodes, sharding = 'none', transport, contextTokens, parallel, endpointPort, backend } = placement;
  const version = ({ digest }: Pick<DesiredModel, 'digest'>): string =>
    digest === undefined ? '' : ` ${shortDigest(digest)}`;
  return canonicalJson({
    account,
    context: tokensText(contextTokens),
    model: `${placement.model}${version(model)}`,
    nodes: nodes.join(', '),
    parallel: String(parallel),
    port: String(endpointPort),
    runtime: `${placement.runtime}${version(runtime)}`,
    sharding,
    transport,
    ...given({ backend }),
  });
}

/** `context 8k (the file: 16k), transport rdma (the file: tcp)`: what runs and what is wanted; says so where that is not known. */
export function changedSettings(kept: string | undefined, wanted: string | undefined): string {
  const before = parsed(kept);
  const now = parsed(wanted);
  if (before === undefined || now === undefined) return 'which settings is not known, its record does not keep them';
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = keys.filter((key) => before[key] !== now[key]);
  if (changed.length === 0) return `settings other than ${keys.join(', ')}`;
  return changed.map((key) => `${key} ${before[key] ?? 'not set'} (the file: ${now[key] ?? 'not set'})`).join(', ');
}

function parsed(text: string | undefined): Declared | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isDeclared = isMap && Object.values(value).every((one) => typeof one === 'string');
    // Starts of before did not keep the account: all of them ran as the ssh user.
    return isDeclared ? { account: login, ...(value as Declared) } : undefined;
  } catch {
    return undefined;
  }
}

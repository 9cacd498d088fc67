import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from './desired.ts';
import { canonicalJson, jsonObject, parsedJson, shortDigest } from './digest.ts';
import { given } from './given.ts';
import { nodeName } from './node.ts';
import { tokensIn, tokensText } from './text/units.ts';

/** The placement settings that people change, as short texts by file key. */
type Declared = Readonly<Record<string, string>>;

/** The file's value for the SSH user. */
const login = 'login';

interface DeclaredParts {
  readonly placement: DesiredPlacement;
  readonly runtime: Pick<DesiredRuntime, 'digest'>;
  readonly model: Pick<DesiredModel, 'digest'>;
  readonly drafter?: Pick<DesiredModel, 'digest'>;
  /** The account of the placement's ranks; undefined means the SSH user. */
  readonly account: string | undefined;
  /** How its ranks communicate, if the driver has several ways. */
  readonly backend?: string;
  /** The number of cables between its nodes, and the addresses on those between its ranks; empty for a single node. */
  readonly cables: number;
  readonly addresses: readonly string[];
}

/**
 * Returns the settings that a start stores on its nodes next to the digest, as one line of JSON. A later plan uses them
 * to name differences. `env` and `args` are left out, because they can contain secrets.
 */
export function declaredText(parts: DeclaredParts): string {
  const { placement, runtime, model, drafter, account = login, backend, cables, addresses } = parts;
  const { nodes, sharding = 'none', transport, contextTokens, parallel, endpointPort, publication } = placement;
  const version = ({ digest }: Pick<DesiredModel, 'digest'>): string =>
    digest === undefined ? '' : ` ${shortDigest(digest)}`;
  return canonicalJson({
    account,
    context: tokensText(contextTokens),
    model: `${placement.model}${version(model)}`,
    nodes: nodes.join(', '),
    parallel: String(parallel),
    port: `${endpointPort}${publication === undefined ? '' : ' behind a gateway'}`,
    runtime: `${placement.runtime}${version(runtime)}`,
    sharding,
    transport,
    ...(nodes.length === 1 ? {} : { addresses: addresses.join(', '), cables: String(cables) }),
    ...given({ backend, drafter: placement.drafter && `${placement.drafter}${version(drafter ?? {})}` }),
  });
}

/**
 * Lists running settings that differ from the file: `context 8k (file: 16k), transport rdma (file: tcp)`.
 * @param versions names of runtime versions, by the first digits of their digests
 */
export function changedSettings(
  recorded: string | undefined,
  wanted: string | undefined,
  versions: DesiredFleet['versions'] = {},
): string {
  const before = withVersionName(parsed(recorded), versions);
  const now = withVersionName(parsed(wanted), versions);
  if (before === undefined || now === undefined)
    return 'which ones is unknown, because its record does not store settings';
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = keys.filter((key) => before[key] !== now[key]);
  if (changed.length === 0) return `settings other than ${keys.join(', ')}`;
  // A rolled-back version is in the lock, while the file still names the archive of the newer one. Some drivers need a
  // gateway that the file does not name.
  const source = (key: string): string => (key === 'runtime' || key === 'port' ? 'desired' : 'file');
  return changed
    .map((key) => `${key} ${before[key] ?? 'not set'} (${source(key)}: ${now[key] ?? 'not set'})`)
    .join(', ');
}

/**
 * A placement with recorded settings instead of the file's; undefined if the record has none. Versions of runtimes and
 * models, and what is not recorded, remain those of the file.
 */
export function placementAsDeclared(
  { sharding: _sharding, ...placement }: DesiredPlacement,
  recorded: string | undefined,
): DesiredPlacement | undefined {
  const before = parsed(recorded);
  if (before === undefined) return undefined;
  const { context = '', parallel, port = '', sharding, transport, nodes = '' } = before;
  return {
    ...placement,
    nodes: nodes.split(', ').map(nodeName),
    contextTokens: tokensIn(context),
    parallel: Number(parallel),
    endpointPort: Number.parseInt(port, 10),
    transport: transport === 'tcp' ? 'tcp' : 'rdma',
    ...(sharding === 'tensor' || sharding === 'pipeline' ? { sharding } : {}),
  };
}

/** The models, with versions, with which a rank was started: `kimi 0123456789abcdef`; undefined in older records. */
export function declaredModels(recorded: string | undefined): readonly string[] | undefined {
  const { model, drafter } = parsed(recorded) ?? {};
  if (model === undefined) return undefined;
  return drafter === undefined ? [model] : [model, drafter];
}

function withVersionName(
  declared: Declared | undefined,
  versions: NonNullable<DesiredFleet['versions']>,
): Declared | undefined {
  const [name = '', digest = ''] = declared?.['runtime']?.split(' ') ?? [];
  const version = versions[digest];
  return version === undefined ? declared : { ...declared, runtime: `${name} ${version} ${digest}` };
}

function parsed(text: string | undefined): Declared | undefined {
  const value = jsonObject(parsedJson(text ?? ''));
  const isDeclared = value !== undefined && Object.values(value).every((one) => typeof one === 'string');
  // Older records lack the account; their ranks all ran as the SSH user.
  return isDeclared ? { account: login, ...(value as Declared) } : undefined;
}

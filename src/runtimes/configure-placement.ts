import { rankPort } from '../desired/rank-port.ts';
import type { DesiredFleet, DesiredModel, DesiredPlacement, DesiredRuntime } from '../model/desired.ts';
import { canonicalJson, type Digest, digestOf } from '../model/digest.ts';
import type { Json } from '../model/json.ts';
import type { NodeName } from '../model/node.ts';
import type { RankRecord } from '../model/node-script.ts';
import type { Text } from '../model/step.ts';
import { treeFolder } from '../script/tree-paths.ts';
import type { RankCommand, TokenRequest } from './driver.ts';
import { rankAddresses } from './link-address.ts';
import { drivers } from './registry.ts';
import { serviceFileText } from './service-file.ts';

/** Everything that one member gets before it is started. */
export interface RankConfiguration {
  readonly node: NodeName;
  readonly record: RankRecord;
  /** The service file. */
  readonly service: Text;
  /** Body of the request for one token: JSON. */
  readonly request: string;
  /** Who it runs as; empty where the file names nobody: then it is whoever logs in to start it. */
  readonly user: string;
}

/** One start of a placement, in rank order. */
export interface Configured {
  readonly kind: 'configured';
  readonly digest: Digest;
  readonly ranks: readonly RankConfiguration[];
}

/** One start of a placement, or what the file does not say yet. */
export type Configuration =
  | Configured
  /** `missing` goes on "cannot be started: ". */
  | { readonly kind: 'incomplete'; readonly missing: string };

/** What a placement is made of, all of it resolved. */
interface Parts {
  readonly placement: DesiredPlacement;
  readonly runtime: DesiredRuntime & { readonly sha256: Digest };
  readonly model: DesiredModel & { readonly digest: Digest };
  readonly addresses: readonly string[];
  readonly users: Readonly<Record<string, string | undefined>>;
}

/**
 * What every member of a placement gets for one start. Its digest is that of everything but the number of the start,
 * so it is equal for all starts and on all members, and another one means that the file wants something else.
 */
export function configurePlacement(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  generation: number,
): Configuration {
  const parts = partsOf(placement, fleet);
  if (typeof parts === 'string') return { kind: 'incomplete', missing: parts };
  const { transport, sharding = 'none', contextTokens } = placement;
  const digest = digestOf({ transport, sharding, contextTokens, ranks: configureRanks(parts, 0).map(asJson) });
  const ranks = configureRanks(parts, generation).map(({ record, ...rest }) => ({
    ...rest,
    record: { ...record, digest },
  }));
  return { kind: 'configured', digest, ranks };
}

function partsOf(placement: DesiredPlacement, fleet: DesiredFleet): Parts | string {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const model = fleet.models.find(({ name }) => name === placement.model);
  if (runtime?.sha256 === undefined) return `the digest of runtime ${placement.runtime} is not known yet`;
  if (model?.digest === undefined) return `the files of model ${placement.model} are not known yet`;
  const addresses = rankAddresses(fleet.thunderbolt, placement.nodes);
  if (addresses === undefined) return 'a link between neighbouring ranks has no address';
  return {
    placement,
    runtime: { ...runtime, sha256: runtime.sha256 },
    model: { ...model, digest: model.digest },
    addresses,
    users: Object.fromEntries(fleet.nodes.map(({ name, user }) => [name, user])),
  };
}

type UnsealedRank = Omit<RankConfiguration, 'record'> & { readonly record: Omit<RankRecord, 'digest'> };

function configureRanks(parts: Parts, generation: number): readonly UnsealedRank[] {
  const { placement, runtime, model, addresses } = parts;
  const driver = drivers[runtime.driver];
  const token = driver.tokenRequest(placement, runtime);
  return placement.nodes.map((node, rank) => {
    const command = driver.configure({
      placement,
      runtime,
      node,
      rank,
      generation,
      port: rankPort(placement.name, generation),
      addresses,
      runtimeFolder: treeFolder({ kind: 'runtime', name: runtime.name, digest: runtime.sha256 }),
      modelFolder: treeFolder({ kind: 'model', name: model.name, digest: model.digest }),
    });
    const user = parts.users[node];
    return {
      node,
      record: recordOf(placement, { rank, generation, command, token }),
      service: serviceFileText({
        placement: placement.name,
        argv: command.argv,
        env: command.env,
        ...(user === undefined ? {} : { user }),
      }),
      request: canonicalJson(token.body),
      user: user ?? '',
    };
  });
}

interface RankStart {
  readonly rank: number;
  readonly generation: number;
  readonly command: RankCommand;
  readonly token: TokenRequest;
}

/**
 * The longest that an observation waits for a token of a mesh that has served already: no longer than an observation
 * itself may take by default, since a placement whose probe was cut off is unknown, not hung.
 */
const observedTokenMs = 20_000;

const recordOf = (placement: DesiredPlacement, start: RankStart): UnsealedRank['record'] => ({
  placement: placement.name,
  generation: start.generation,
  rank: start.rank,
  size: placement.nodes.length,
  port: start.command.joinedPort,
  endpointPort: placement.endpointPort,
  tokenPath: start.token.path,
  tokenPointer: start.token.pointer,
  tokenDeadlineMs: Math.min(placement.firstTokenMs, observedTokenMs),
});

const asJson = ({ node, record, service, request }: UnsealedRank): Json => ({
  node,
  record: { ...record },
  service: service.map((part) => (typeof part === 'string' ? part : { ...part })),
  request,
});

import { fileURLToPath } from 'node:url';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { digest } from '../../src/model/digest.ts';
import { known } from '../../src/model/known.ts';
import { nodeDoubleFiles } from '../../src/sim/doubles/node-archive.ts';
import { writeArchive } from '../../src/sim/doubles/tar-gz.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { type FileValue, filePart } from './converge-file.ts';

/** The key of the clients in tests. */
export const clientKey = 'key-of-a-client-0123456789';

/** The path of the Node double below the folder of a rack, as in a cluster file. */
export const nodeArchive = './dist/node-v22.0.0-darwin-arm64.tar.gz';

/** Publishes the one placement of a file. */
export function publish(file: FileValue, endpoint: FileValue = { apiKey: { env: 'CLIENT_KEY' } }): void {
  file['gateway'] = { node: nodeArchive };
  filePart(file, 'placements', 'chat')['endpoint'] = { port: 8_080, listen: 'lan', servedName: 'tiny', ...endpoint };
}

/** A fleet with the gateway that was built for the tests. */
export function withBuiltGateway(fleet: DesiredFleet): DesiredFleet {
  const { gateway } = fleet;
  if (gateway === undefined) return fleet;
  const source = fileURLToPath(new URL('../../dist/gateway/gateway.mjs', import.meta.url));
  return { ...fleet, gateway: { ...gateway, extras: gateway.extras.map((extra) => ({ ...extra, source })) } };
}

/** The hashes that the command line makes from {@link clientKey}. */
export const keysOf = ({ placements }: DesiredFleet) =>
  Object.fromEntries(
    placements
      .filter(({ publication }) => publication?.apiKeys !== undefined)
      .map(({ name }) => [name, known([digest(hashOf(clientKey))])]),
  );

/** Writes the Node double next to the other sources of a rack. */
export const writePublishedSources = (folder: string): Promise<unknown> =>
  writeArchive(`${folder}/${nodeArchive.slice(2)}`, nodeDoubleFiles('node-v22.0.0-darwin-arm64/bin/node'));

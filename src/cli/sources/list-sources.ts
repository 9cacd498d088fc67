import type { PlaceOf, SourceFacts, SourcePlace } from '../../desired/settle/settle-trees.ts';
import type { SourceKind } from '../../model/desired.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { needTrust, sourceRequests } from '../cluster/trust.ts';
import type { Run } from '../verb.ts';
import { hashLocal } from './controller-source.ts';
import { listRepositories } from './hub-source.ts';
import { type List, noFacts } from './list.ts';
import { listReleases } from './release-source.ts';
import { listServers } from './url-source.ts';

type Lists = { readonly [K in SourceKind]: List<K> };

/** How each kind of source is listed, in the order in which it happens. */
const lists: Omit<Lists, 'node'> = {
  release: listReleases,
  controller: hashLocal,
  url: listServers,
  hub: listRepositories,
};

/**
 * Lists these sources. Only commands that may start jobs on nodes list folders there; otherwise they are left out.
 * @throws FleetError `trust/needed`
 */
export async function listSources(
  run: Run,
  opened: Pick<OpenedCluster, 'fleet' | 'path'>,
  places: readonly SourcePlace[],
  node: Lists['node'] = async () => ({}),
): Promise<SourceFacts> {
  await needTrust(run, sourceRequests(places));
  const all: Lists = { ...lists, node };
  const found = noFacts();
  const list = async <K extends SourceKind>(kind: K): Promise<void> => {
    const own = places.filter((one): one is PlaceOf<K> => one.kind === kind);
    if (own.length === 0) return;
    const { archives, folders } = await all[kind](run, opened, own);
    Object.assign(found.archives, archives);
    Object.assign(found.folders, folders);
  };
  for (const kind of Object.keys(all) as SourceKind[]) await list(kind);
  return found;
}

import { readFileSync } from 'node:fs';
import { mirrored } from '../../desired/mirror.ts';
import type { DesiredModel, UnreadSource } from '../../model/desired.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { simulatedWeb } from '../../sim/hosts/control/run-folder.ts';
import { simFolder } from '../files/places.ts';
import type { Run } from '../verb.ts';

interface RehearsalWeb {
  /** The mirror through which every host answers. */
  readonly origin: string;
  /** The certificate of the only trusted authority. */
  readonly ca: string;
}

/**
 * The servers of the simulated fleet; undefined unless this run is a rehearsal.
 * @param realName what they stand in for, in the error if no fleet is running
 */
export async function rehearsalWeb(
  run: Run,
  clusterFile: string,
  realName: string,
): Promise<RehearsalWeb | UnreadSource | undefined> {
  if (run.options.sim !== true) return undefined;
  const web = await simulatedWeb(simFolder(run.env, clusterFile));
  if (web !== undefined) return { origin: web.origin, ca: readFileSync(web.caFile, 'utf8') };
  return {
    kind: 'unresolved',
    detail: `No simulated fleet is running, so nothing stands in for ${realName}.`,
    hint: prose`Start it: ${meshwright('sim up')}`,
  };
}

/** In a rehearsal, a model on a server comes from the simulated fleet, unless the cluster file lists its files. */
export async function withSimulatedServers(
  run: Run,
  clusterFile: string,
  models: readonly DesiredModel[],
): Promise<readonly DesiredModel[]> {
  const web = await rehearsalWeb(run, clusterFile, 'the servers of models');
  if (web === undefined || 'kind' in web) return models;
  const { origin } = web;
  return models.map((model) => {
    const { source, listedAt } = model;
    if (listedAt === undefined || source.kind !== 'url') return model;
    return { ...model, source: { ...source, base: mirrored(source.base, { mirror: origin }) } };
  });
}

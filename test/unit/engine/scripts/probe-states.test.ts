import { readFileSync } from 'node:fs';
import { keptFiles, keptRecordsWith } from '../../../../src/node/probes/kept-scripts.ts';
import { launchdServices } from '../../../../src/node/probes/launchd-services.ts';
import { placementRanks } from '../../../../src/node/probes/placement-ranks.ts';
import { rdmaPortsScript } from '../../../../src/node/probes/rdma-scripts.ts';
import { ours } from './mac-root.ts';
import { comparesTraces, type NodeState, tableOf } from './node-states.ts';
import { common } from './service-tools.ts';

const scripts: Readonly<Record<string, unknown>> = {
  records: keptRecordsWith(['names', 'power']).ask[2],
  files: keptFiles.ask[2],
  services: launchdServices.ask[2],
  ranks: placementRanks.ask[2],
  devices: rdmaPortsScript,
};
/** States by probe and title. A path below `@` is in meshwright's folder, and `../r` becomes its rollback folder. */
const states: Readonly<Record<string, Readonly<Record<string, NodeState>>>> = JSON.parse(
  readFileSync(new URL('../../../cases/probe-states.json', import.meta.url), 'utf8').replaceAll('"@/', `"${ours}/`),
);

// What a probe prints is on the golden page.
for (const [name, rows] of Object.entries(states)) {
  const table = tableOf(`the probe of ${name}`, common);
  const script = `cd "$R/.."; HOME=$R/home; mv r "$b/rollback" 2>/dev/null; (${scripts[name]}) >&2; unchanged`;
  for (const [title, state] of Object.entries(rows)) table(title, script).in(state).ends('unchanged');
}
comparesTraces('probe-states');

import { readFileSync } from 'node:fs';
import { launchdServices } from '../../../../src/node/probes/launchd-services.ts';
import { placementRanks } from '../../../../src/node/probes/placement-ranks.ts';
import { rdmaPortsScript } from '../../../../src/node/probes/rdma-scripts.ts';
import { installedFiles, storedRecordsWith } from '../../../../src/node/probes/stored-records-scripts.ts';
import { ours } from './mac-root.ts';
import { comparesTraces, type NodeState, tableOf } from './node-states.ts';
import { everyText } from './script-examples.ts';
import { common } from './service-tools.ts';

/** Runs a job. Removes files whose content or order depends on this computer, and files that a failed job unpacked. */
const runJob = `"$R/bin/sh" "$R/job/run"; cd "$R/opt/meshwright/staging"
rm -rf */tree.new "$R/job/there" "$R/job/links" "$R/job/inodes"; find . -type l -exec rm '{}' +`;
const jobs = ['fetch-archive', 'fetch-model', 'unpack-runtime', 'verify-model'];
const scripts: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(jobs.map((name) => [`job ${name}`, runJob])),
  'probe of records': storedRecordsWith(['names', 'power']).ask[2],
  'probe of files': installedFiles.ask[2],
  'probe of services': launchdServices.ask[2],
  'probe of ranks': placementRanks.ask[2],
  'probe of devices': rdmaPortsScript,
};
/** States by probe or job and title. A path below `@` is in meshwright's folder; `../r` becomes its folder of transactions. */
const states: Readonly<Record<string, Readonly<Record<string, NodeState>>>> = JSON.parse(
  readFileSync(new URL('../../../cases/probe-states.json', import.meta.url), 'utf8').replaceAll('"@/', `"${ours}/`),
);

const texts = new Map(everyText(''));
// What a probe or a job prints, calls and leaves is on the golden page.
for (const [name, rows] of Object.entries(states)) {
  const table = tableOf(`the ${name}`, common);
  const script = `cd "$R/.."; HOME=$R/home; mv r "$b/transaction" 2>/dev/null; (${scripts[name]}) >&2; unchanged`;
  const text = texts.get(name);
  const job = text === undefined ? {} : { 'job/run': text };
  for (const [title, state] of Object.entries(rows)) table(title, script).in(job, state).ends('unchanged');
}
comparesTraces('probe-states');

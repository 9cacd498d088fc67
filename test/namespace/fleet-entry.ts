import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { desiredRack } from '../rack/rack.ts';
import { connect, run } from '../rack/running.ts';
import { startNamespaceFleet } from './host/namespace-host.ts';

/** Starts a fleet in the folder, leaves a detached process, prints the run's id, and keeps running. */
const fleet = await startNamespaceFleet({
  folder: process.argv[2] ?? '',
  model: modelledFleet(desiredRack, 'leftovers'),
});
const client = await connect(fleet, 'studio-1');
await run(
  client,
  `/usr/bin/perl -MPOSIX -e 'fork and exit; POSIX::setsid(); exec "/bin/sleep", "300"' >/dev/null 2>&1 </dev/null`,
);
process.stdout.write(`${fleet.runId}\n`);
setInterval(() => undefined, 60_000);

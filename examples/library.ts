/**
 * Applies a cluster file to a simulated rack, as a program: `node --import tsx examples/library.ts cluster.yaml`.
 * Without `isSimulated` the same program reaches real Macs.
 */
import { FleetError, openCluster, plainText, readFact, startSimulatedRack, subjectText } from 'meshwright';

const file = process.argv[2] ?? 'cluster.yaml';
const rack = await startSimulatedRack({ file });
try {
  const cluster = openCluster({ file, isSimulated: true });

  const observation = await cluster.observe();
  for (const [name, { facts }] of Object.entries(observation.nodes)) {
    const rdma = readFact(facts, 'rdma-state');
    console.log(`${name}: RDMA ${rdma.kind === 'known' ? rdma.value : `unknown (${rdma.reason})`}`);
  }
  for (const finding of cluster.diagnose(observation)) {
    console.log(`${subjectText(finding.subject)}: ${plainText(finding.summary)}`);
  }

  const plan = await cluster.plan();
  console.log(`${plan.plan.changes.length} changes`);

  const report = await cluster.apply({ plan, allow: ['interrupt'] });
  console.log(`exit ${report.exit}, ${report.counts.changed} changed`);

  const after = await cluster.plan();
  console.log(`${after.plan.changes.length} changes left`);
} catch (error) {
  if (!(error instanceof FleetError)) throw error;
  for (const { code, detail } of error.diagnostics) console.error(`${code}: ${plainText(detail)}`);
  process.exitCode = 1;
} finally {
  await rack.stop();
}

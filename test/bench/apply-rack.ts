import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadCluster } from '../../src/engine/load-cluster.ts';
import { writeReferenceArchive, writeTinyModel } from '../../src/sim/doubles/reference.ts';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { bootFilePath } from '../../src/sim/hosts/fleet-host.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { markVariable } from '../../src/sim/hosts/ssh/ssh-user.ts';
import { islandNames, islands, lightenTools, rackText } from './rack.ts';
import { type RackRoots, type SshdRack, startSshdRack } from './sshd-rack.ts';

const archive = 'reference.tar.gz';
const model = 'tiny';

function placementLines(name: string, nodes: readonly string[]): readonly string[] {
  return [
    `  ${name}:`,
    `    { model: tiny, runtime: reference, nodes: [${nodes.join(', ')}],${nodes.length > 1 ? ' sharding: tensor,' : ''}`,
    '      transport: tcp, context: 8k, endpoint: { port: 8080 }, expect: { firstToken: 30s } }',
  ];
}

/** The rack of the observation benchmark, with settings and a placement on every island. */
function applyText(nodes: number): string {
  const command = [
    ...['{runtime}/bin/rank', '--rank', '{rank}', '--size', '{size}', '--listen', '{address}:{port}'],
    ...['--peers', '{peers}', '--model', '{model}', '--endpoint', '{endpoint}', '--generation', '{generation}'],
  ];
  return [
    rackText(nodes).trimEnd(),
    'power: { sleep: never, restartAfterPowerLoss: true }',
    'system: { wiredLimit: auto }',
    `runtimes: { reference: { driver: command, archive: ./${archive}, command: ${JSON.stringify(command)} } }`,
    `models: { tiny: { source: ./${model} } }`,
    'placements:',
    ...islands(nodes).flatMap((first) => placementLines(`island-${first + 1}`, islandNames(first, nodes))),
    '',
  ].join('\n');
}

/** Changeable Macs: a simulated fleet whose own ssh servers are not used. */
async function changingMacs(text: string, folder: string): Promise<RackRoots> {
  await writeReferenceArchive(join(folder, archive));
  await writeTinyModel(join(folder, model));
  const { fleet, diagnostics } = loadCluster(text, 'cluster.yaml');
  if (fleet === undefined)
    throw new Error(`the benchmark wrote an invalid cluster file: ${JSON.stringify(diagnostics)}`);
  const running = await startFleet({ folder: join(folder, 'fleet'), model: modelledFleet(fleet, 'bench') });
  const roots = new Map(Object.entries(running.nodes).map(([name, { root }]) => [name, root]));
  const marks = new Map<string, string>();
  for (const root of roots.values()) {
    marks.set(root, (await readFile(join(root, bootFilePath), 'utf8')).trim());
    await lightenTools(root);
  }
  return {
    roots,
    config: (root) => [
      // Connections and commands are counted from the log.
      'LogLevel VERBOSE',
      // Tells the simulator to which Mac a tool belongs.
      `SetEnv ${markVariable}=${marks.get(root)}`,
      // Tools refuse to write outside the root of their Mac. The login shell sets this root.
      `ForceCommand cd '${root}' && eval "$SSH_ORIGINAL_COMMAND"`,
    ],
    stop: running.stop,
  };
}

/** Starts a rack whose Macs can be changed, behind OpenSSH servers. */
export const startApplyRack = (size: number): Promise<SshdRack> =>
  startSshdRack({ size, text: applyText(size), macs: changingMacs });

const run = promisify(execFile);
const netstatPath = '/usr/sbin/netstat';

/**
 * Fixes the output of one simulated tool. The tool would search all processes of this machine, while a Mac answers
 * immediately; now it is as fast as the rack's other tools.
 */
export async function fixListeners({ nodes }: SshdRack): Promise<void> {
  for (const { root } of Object.values(nodes)) {
    const mark = (await readFile(join(root, bootFilePath), 'utf8')).trim();
    const tool = join(root, netstatPath);
    const words = ['-an', '-f', 'inet', '-p', 'tcp'];
    const { stdout } = await run(tool, words, { env: { ...process.env, [markVariable]: mark } });
    const answer = join(root, '.sim/netstat-answer');
    await writeFile(answer, stdout);
    await writeFile(tool, `#!/bin/sh\nexec /bin/cat '${answer}'\n`, { mode: 0o755 });
  }
}

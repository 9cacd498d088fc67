import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { hasSshd } from '../sshd/start-sshd.ts';
import { type CommandPlace, commandPlace } from './observe-command.ts';
import { observe, startExampleRack, timelessFacts, treesOf } from './observe-rack.ts';
import { type SshdRack, type SshdRackOptions, startSshdRack } from './observe-sshd.ts';

let simulated: Readonly<Record<string, unknown>>;
const rack = shared(() => startExampleRack());
beforeAll(async () => {
  const observed = await observe(rack.names.map((name) => rack.way(name)));
  simulated = Object.fromEntries(rack.names.map((name) => [name, timelessFacts(observed, name)]));
});

/** Runs `body` with one OpenSSH server per node. */
async function withServers(options: SshdRackOptions, body: (real: SshdRack) => Promise<void>): Promise<void> {
  const real = await startSshdRack(rack, options);
  try {
    await body(real);
  } finally {
    await real.stop();
  }
}

async function expectSimulatedFacts(real: SshdRack): Promise<void> {
  const observed = await observe(rack.names.map((name) => real.way(name)));
  expect(observed.failures).toEqual({});
  for (const name of rack.names) expect(timelessFacts(observed, name)).toEqual(simulated[name]);
}

describe.skipIf(!hasSshd())('an observation over OpenSSH', () => {
  it('gives the same facts as the simulated servers, with one connection and session per node', async () => {
    await withServers({}, async (real) => {
      const before = await treesOf(rack);
      await expectSimulatedFacts(real);
      for (const name of rack.names) {
        expect(real.counts(name)).toEqual({ connections: 1, sessions: 1 });
        expect(await real.commands(name)).toHaveLength(1);
      }
      expect(await treesOf(rack)).toEqual(before);
      expect(await rack.fleet.unknown()).toEqual(Object.fromEntries(rack.names.map((name) => [name, []])));
    });
  });

  it('ignores a banner, rc file output, and their control characters', async () => {
    const banner = join(rack.folder, 'banner');
    await writeFile(banner, 'Authorised use only.\n::warning::\u001b[31mred\u001b[0m\n');
    const noise = 'Welcome!\n::error file=a::b\n\u001b]0;title\u0007 begin 1 21\n0 1 0 0';
    await withServers({ config: [`Banner ${banner}`], noise }, expectSimulatedFacts);
  });

  it('needs only one session at a time', async () => {
    const config = [
      'MaxSessions 1',
      'AllowTcpForwarding no',
      'X11Forwarding no',
      'PermitTTY no',
      'AllowAgentForwarding no',
    ];
    await withServers({ config }, expectSimulatedFacts);
  });

  it('survives key exchanges during the answer', async () => {
    await withServers({ config: ['RekeyLimit 16', 'LogLevel DEBUG2'] }, async (real) => {
      await expectSimulatedFacts(real);
      for (const name of rack.names) {
        const exchanges = real.servers[name]?.log().match(/SSH2_MSG_NEWKEYS received/g)?.length ?? 0;
        expect(exchanges).toBeGreaterThan(1);
      }
    });
  });
});

describe.skipIf(!hasSshd())('the command record over OpenSSH', () => {
  let real: SshdRack;
  let place: CommandPlace;
  beforeAll(async () => {
    real = await startSshdRack(rack);
    const nodes = rack.names.map((name) => {
      const { port = 0, user = '', hostKey } = real.servers[name] ?? {};
      return [name, { port, user, hostKey: hostKey?.publicLine ?? '', root: rack.fleet.nodes[name]?.root ?? '' }];
    });
    place = await commandPlace(Object.fromEntries(nodes), rack.fleet.userKey.path);
  });
  afterAll(async () => {
    await real.stop();
    await place.remove();
  });

  /** The product's own record: the commands of a node, in order. */
  async function recorded(file: string, node: string): Promise<readonly string[]> {
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const all = lines.map((line) => JSON.parse(line) as { readonly node: string; readonly command: string });
    return all.flatMap((one) => (one.node === node ? [one.command] : []));
  }

  it('matches the commands that each server received, byte for byte', async () => {
    const file = join(place.folder, 'record.ndjson');
    const facts = await place.run('facts', '--json', '--record', file);
    const status = await place.run('status', '--json', '--record', file);
    const echoed = await place.run('exec', '--all', '--record', file, '--', 'printf', '%s\\n', "a'b \\ $HOME \u00fc");
    // Nothing was ever applied: the placement of the file is not serving.
    expect([facts.code, status.code, echoed.code]).toEqual([0, 1, 0]);
    expect(echoed.stdout).toContain("studio-1 | a'b \\ $HOME \u00fc\n");
    for (const name of rack.names) {
      const own = await recorded(file, name);
      // status asks the leader of the placement for its token with an extra command.
      const count = name === 'studio-1' ? 4 : 3;
      expect(own).toHaveLength(count);
      // Two commands of one observation start in any order.
      expect((await real.commands(name)).toSorted()).toEqual(own.toSorted());
      expect(await eventually(() => real.counts(name).sessions === count)).toBe(true);
      expect(real.counts(name).connections).toBe(3);
    }
  });

  it('does not change the facts that the command line prints', async () => {
    const { stdout } = await place.run('facts', '--json');
    const answer = JSON.parse(stdout) as { readonly nodes: Readonly<Record<string, Record<string, unknown>>> };
    for (const name of rack.names) {
      const { clock: _, ...facts } = answer.nodes[name] ?? {};
      expect(facts).toEqual(simulated[name]);
    }
  });
});

import { expect } from 'vitest';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import { subjectText } from '../../src/model/subject.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { connect, eventually, type Ran, type RunningRack, run, sh } from '../rack/running.ts';
import { observe } from '../scenarios/observe-rack.ts';
import type { SimHost } from './sim-host.ts';

/** A rack on one of the hosts, with the functions of the contract. */
export interface ContractRack {
  readonly host: SimHost;
  readonly fleet: RunningFleet;
  readonly names: readonly string[];
  readonly look: () => Promise<FleetObservation>;
  /** The findings of the product over SSH: `severity code subject`. */
  readonly find: () => Promise<readonly string[]>;
  /** One command line of the ssh user; `$R` is the root of the node. */
  readonly user: (node: string, script: string) => Promise<Ran>;
  /** One script as root, on standard input. */
  readonly root: (node: string, script: string) => Promise<Ran>;
  /** Restarts a Mac and waits until it is up again. */
  readonly reboot: (node: string) => Promise<void>;
  readonly bootSession: (node: string) => Promise<string>;
}

async function once(fleet: RunningFleet, node: string, command: string): Promise<Ran> {
  const client = await connect(fleet, node);
  try {
    return await run(client, command);
  } finally {
    client.end();
  }
}

/** The deadline for a Mac that is silent without power. */
const silenceMs = 8_000;

/** Reads the wired limit of a Mac. Returns a function that restores it as root. */
export async function keepWiredLimit(fleet: RunningFleet, node: string): Promise<() => Promise<void>> {
  const root = fleet.nodes[node]?.root ?? '';
  const limit = (await once(fleet, node, `'${root}/usr/sbin/sysctl' -n iogpu.wired_limit_mb`)).stdout.trim();
  const set = `'${root}/usr/bin/sudo' -n '${root}/usr/sbin/sysctl' iogpu.wired_limit_mb=${limit}`;
  return async () => {
    expect((await once(fleet, node, set)).code).toBe(0);
  };
}

/** Adds the functions of the contract to a rack. */
export function contractRack(host: SimHost, rack: RunningRack<RunningFleet>): ContractRack {
  const { fleet, names, desired } = rack;
  const rootOf = (node: string): string => fleet.nodes[node]?.root ?? '';
  const look = (): Promise<FleetObservation> =>
    observe(
      names.map((name) => rack.way(name)),
      Object.values(fleet.power()).includes('down') ? { deadlineMs: silenceMs } : {},
    );
  const user = (node: string, script: string): Promise<Ran> => once(fleet, node, `R='${rootOf(node)}'\n${script}`);
  const root = (node: string, script: string): Promise<Ran> => sh(fleet, node, script);
  const boots = (node: string): number =>
    fleet.effects().filter((one) => one.kind === 'boot' && one.node === node).length;
  return {
    host,
    fleet,
    names,
    look,
    user,
    root,
    find: async () =>
      diagnoseFleet(desired, await look()).map((one) => `${one.severity} ${one.code} ${subjectText(one.subject)}`),
    reboot: async (node) => {
      const before = boots(node);
      await root(node, '"$R/sbin/shutdown" -r now >/dev/null 2>&1 </dev/null &');
      expect(await eventually(() => boots(node) === before + 1 && fleet.power()[node] === 'up')).toBe(true);
    },
    bootSession: async (node) => (await user(node, '"$R/usr/sbin/sysctl" -n kern.bootsessionuuid')).stdout.trim(),
  };
}

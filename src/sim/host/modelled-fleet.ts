import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError, type NonEmpty } from '../../diagnostics/fleet-error.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type ActiveFault, applyFaults, faults, parseFault } from '../faults.ts';
import { macBehind, type SimulatedFleet } from '../fleet.ts';
import { nodeFiles } from '../render-node.ts';
import { simulateFleet } from '../simulate-fleet.ts';
import type { FaultAnswer, FleetModel, NodeView } from './fleet-model.ts';

/** Logs in where the file names nobody. */
const defaultUser = 'mesh';

const faultText = ({ fault, target }: ActiveFault): string => (target === '' ? fault : `${fault} ${target}`);

const refused = (diagnostics: NonEmpty<Diagnostic>): FaultAnswer => ({ kind: 'refused', diagnostics });

/** The target as the fault itself would write it, so that every spelling of it can be cleared. */
function canonical(healthy: SimulatedFleet, { fault, target }: ActiveFault): string {
  const result = faults[fault].apply(healthy, target);
  return result.kind === 'refused' ? target : result.target;
}

function remaining(
  healthy: SimulatedFleet,
  active: readonly ActiveFault[],
  words: readonly string[],
): readonly ActiveFault[] | NonEmpty<Diagnostic> {
  const [name, ...rest] = words;
  if (name === undefined) return [];
  const target = rest.join(' ');
  const parsed = parseFault(name, target);
  if (parsed.kind === 'refused') return [parsed.diagnostic];
  const wanted = canonical(healthy, parsed.active);
  const kept = active.filter((one) => one.fault !== name || (target !== '' && one.target !== wanted));
  if (kept.length < active.length) return kept;
  const detail = `${words.join(' ')} is not in force on the simulated fleet.`;
  return [diagnose('sim/bad-fault-target', { detail, hint: 'See what is: meshwright sim status' })];
}

const isDiagnostics = (value: readonly ActiveFault[] | NonEmpty<Diagnostic>): value is NonEmpty<Diagnostic> =>
  value[0] !== undefined && 'code' in value[0];

/**
 * The rack of a cluster file as a model for the host: healthy, until faults are set. The broken state is always made
 * anew from the healthy one, so that taking a fault away leaves no trace of it.
 *
 * @throws FleetError `sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`
 */
export function modelledFleet(desired: DesiredFleet, seed: string): FleetModel {
  const made = simulateFleet(desired, seed);
  if (made.kind === 'refused') throw new FleetError(made.diagnostics);
  const healthy = made.fleet;
  let fleet = healthy;
  let active: readonly ActiveFault[] = [];

  const listed = () => active.map((one) => ({ text: faultText(one) }));
  const become = (wanted: readonly ActiveFault[]): FaultAnswer => {
    const result = applyFaults(healthy, wanted);
    if (result.kind === 'refused') return refused(result.diagnostics);
    fleet = result.fleet;
    active = result.active;
    return { kind: 'done', faults: listed() };
  };
  return {
    name: desired.name,
    nodes: desired.nodes.map((node) => ({ name: node.name, user: node.user ?? defaultUser })),
    look: (node): NodeView => {
      const mac = macBehind(fleet, node);
      if (mac === undefined) throw new Error(`no simulated Mac for ${node}`);
      return { connection: mac.connection, files: nodeFiles(fleet, node) };
    },
    faults: listed,
    setFault: ([name, ...rest]) => {
      const parsed = parseFault(name ?? '', rest.join(' '));
      return parsed.kind === 'refused' ? refused([parsed.diagnostic]) : become([...active, parsed.active]);
    },
    clearFault: (words) => {
      const kept = remaining(healthy, active, words);
      return isDiagnostics(kept) ? refused(kept) : become(kept);
    },
  };
}

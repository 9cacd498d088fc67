import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { FleetError, type NonEmpty } from '../../diagnostics/fleet-error.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { type ActiveFault, faults, parseFault } from '../faults.ts';
import { macBehind, type SimulatedFleet } from '../fleet.ts';
import { workOfHands } from '../hands.ts';
import { append, beginHistory, faultsInForce, type History, withoutFaults } from '../history.ts';
import { readPlist } from '../launchd/plist-reader.ts';
import { reachOf } from '../launchd/reach.ts';
import type { MacState } from '../mac.ts';
import { isDict } from '../plist.ts';
import { createRenderer } from '../render-node.ts';
import { adopted, historyText, savedHistory } from '../saved-history.ts';
import { simulateFleet } from '../simulate-fleet.ts';
import type { FaultAnswer, FleetModel } from './fleet-model.ts';

/** Logs in where the file names nobody. */
const defaultUser = 'mesh';

const faultText = ({ fault, target }: ActiveFault): string => (target === '' ? fault : `${fault} ${target}`);

const refused = (diagnostics: NonEmpty<Diagnostic>): FaultAnswer => ({ kind: 'refused', diagnostics });

/** The target as the fault itself would write it, so that every spelling of it can be cleared. */
function canonical(fleet: SimulatedFleet, { fault, target }: ActiveFault): string {
  const result = faults[fault].apply(fleet, target);
  return result.kind === 'refused' ? target : result.target;
}

/** Which of the faults in force these words name: all without words, those of one name, or the one at a target. */
function named(history: History, words: readonly string[]): ((one: ActiveFault) => boolean) | NonEmpty<Diagnostic> {
  const [name, ...rest] = words;
  if (name === undefined) return () => true;
  const target = rest.join(' ');
  const parsed = parseFault(name, target);
  if (parsed.kind === 'refused') return [parsed.diagnostic];
  const wanted = canonical(history.start, parsed.active);
  const isNamed = (one: ActiveFault): boolean => one.fault === name && (target === '' || one.target === wanted);
  if (faultsInForce(history).some(isNamed)) return isNamed;
  const detail = `${words.join(' ')} is not in force on the simulated fleet.`;
  return [diagnose('sim/bad-fault-target', { detail, hint: 'See what is: meshwright sim status' })];
}

/** One fault more. One that is in force already at this target is set anew, since it may have been mended in part. */
function withFault(history: History, active: ActiveFault): History | NonEmpty<Diagnostic> {
  const target = canonical(history.start, active);
  const isSame = (one: ActiveFault): boolean => one.fault === active.fault && one.target === target;
  const without = faultsInForce(history).some(isSame) ? withoutFaults(history, isSame) : undefined;
  if (without?.kind === 'refused') return history;
  const { history: next, happened } = append(without?.history ?? history, { kind: 'fault', ...active });
  if (happened.kind === 'done') return next;
  return without === undefined ? [happened.diagnostic] : history;
}

const isDiagnostics = (value: object): value is NonEmpty<Diagnostic> => Array.isArray(value);

/**
 * The rack of a cluster file as a model for the host: healthy, until faults are set or somebody changes something.
 * Its state is always what follows from everything that happened, so that taking a fault away leaves no trace of it.
 *
 * @param saved what {@link FleetModel.save} gave in an earlier run: those Macs go on, new ones join them
 * @throws FleetError `sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`
 */
export function modelledFleet(desired: DesiredFleet, seed: string, saved?: string): FleetModel {
  const made = simulateFleet(desired, seed);
  if (made.kind === 'refused') throw new FleetError(made.diagnostics);
  const before = saved === undefined ? undefined : savedHistory(saved);
  let history = before === undefined ? beginHistory(made.fleet) : adopted(before, made.fleet);

  const macAt = (node: string): MacState => {
    const mac = macBehind(history.fleet, node);
    if (mac === undefined) throw new Error(`no simulated Mac for ${node}`);
    return mac;
  };
  const render = createRenderer();
  const listed = () => faultsInForce(history).map((one) => ({ text: faultText(one) }));
  const become = (wanted: History): FaultAnswer => {
    history = wanted;
    return { kind: 'done', faults: listed() };
  };
  return {
    name: desired.name,
    nodes: desired.nodes.map((node) => ({ name: node.name, user: node.user ?? defaultUser })),
    look: (node) => {
      const { connection, ailments, bootSession } = macAt(node);
      return {
        connection,
        ailments,
        files: render(history.fleet, node),
        bootCount: bootSession.count,
        reach: reachOf(history.fleet, node),
      };
    },
    faults: listed,
    setFault: ([name, ...rest]) => {
      const parsed = parseFault(name ?? '', rest.join(' '));
      if (parsed.kind === 'refused') return refused([parsed.diagnostic]);
      const wanted = withFault(history, parsed.active);
      return isDiagnostics(wanted) ? refused(wanted) : become(wanted);
    },
    clearFault: (words) => {
      const isGone = named(history, words);
      if (isDiagnostics(isGone)) return refused(isGone);
      const cleared = withoutFaults(history, isGone);
      return cleared.kind === 'refused' ? refused([cleared.diagnostic]) : become(cleared.history);
    },
    write: (write) => {
      const { history: next, happened } = append(history, { kind: 'write', ...write });
      const isChange = next !== history;
      history = next;
      if (happened.kind === 'refused' || happened.written === undefined) throw new Error('a write is never refused');
      const { stdout, stderr, exitCode, isKnown, power } = happened.written;
      return { stdout, stderr, exitCode, isKnown, isChange, ...(power && { power }) };
    },
    reread: (node, text) => {
      const read = readPlist(text);
      const preferences = read.kind === 'plist' && isDict(read.value) ? read.value : {};
      history = append(history, { kind: 'preferences', mac: macAt(node).name, preferences }).history;
    },
    boot: (node, atEpochSeconds) => {
      history = append(history, { kind: 'boot', mac: macAt(node).name, atEpochSeconds }).history;
    },
    hands: () => {
      const { history: next, done, visited } = workOfHands(history, made.fleet.cables);
      history = next;
      return { done, restarts: visited };
    },
    isKept: (node) => before?.start.macs.some(({ name }) => name === node) === true,
    save: () => historyText(history),
  };
}

import { diagnose } from '../../diagnostics/diagnose.ts';
import { type Diagnostic, FleetError, type NonEmpty } from '../../diagnostics/diagnostic.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { linkEndText } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { type ActiveFault, faults, parseFault } from '../faults/faults.ts';
import { parseHands } from '../hands.ts';
import { type Cable, isSameEnd } from '../model/cables.ts';
import { type MacState, macBehind, macNamed, type SimulatedFleet } from '../model/fleet.ts';
import {
  adopted,
  append,
  beginHistory,
  faultsIn,
  faultsInForce,
  type History,
  historyText,
  type SimEvent,
  savedHistory,
  withoutFaults,
} from '../model/history.ts';
import { hasRdmaInSettings } from '../model/macos-builds.ts';
import { automaticLoginOf, type NodeFile } from '../model/node-files.ts';
import { isDict, type PlistValue, readPlist } from '../model/plist.ts';
import { type UsableAddresses, wholeReachOf, wiringOf } from '../model/wiring.ts';
import { nodeFiles } from '../render-node.ts';
import { defaultUser, outOfBox, simulateFleet } from '../simulate-fleet.ts';
import type { ActsAnswer, FaultAnswer, FleetModel } from './fleet-model.ts';

/** The Mac that answers at a node's address. */
function macAt({ history }: Book, node: string): MacState {
  const mac = macBehind(history.fleet, node);
  if (mac === undefined) throw new Error(`no simulated Mac for ${node}`);
  return mac;
}

function toolVerbs(book: Book): Pick<FleetModel, 'write' | 'reread' | 'happen'> {
  return {
    write: (write) => {
      const { history, happened } = append(book.history, { kind: 'write', ...write });
      const isChange = history !== book.history;
      book.history = history;
      if (happened.kind === 'refused' || happened.written === undefined) throw new Error('a write is never refused');
      const { fleet: _, ...answer } = happened.written;
      return { ...answer, isChange };
    },
    reread: (node, text) => {
      const read = readPlist(text);
      const preferences = read.kind === 'plist' && isDict(read.value) ? read.value : {};
      const event = { kind: 'preferences', mac: macAt(book, node).name, preferences } as const;
      book.history = append(book.history, event).history;
    },
    happen: (node, event) => {
      book.history = append(book.history, { ...event, mac: macAt(book, node).name }).history;
    },
  };
}

/** Does all these acts or none. */
function actWith(book: Book, words: readonly string[]): ActsAnswer {
  const parsed = parseHands(book.history.fleet, words);
  if (parsed.kind === 'refused') {
    const { detail, hint } = parsed;
    return { kind: 'refused', diagnostics: [diagnose('sim/impossible-act', { detail, hint })] };
  }
  let { history } = book;
  const done: string[] = [];
  for (const act of parsed.acts) {
    const next = append(history, { kind: 'hands', act });
    if (next.happened.kind === 'refused') return { kind: 'refused', diagnostics: [next.happened.diagnostic] };
    history = next.history;
    done.push(next.happened.text ?? '');
  }
  book.history = history;
  const updated = history.fleet.macs.filter(({ installed }) => installed !== undefined);
  return { kind: 'done', done, restarts: updated.map(({ name }) => name) };
}

/** The Macs and cables that determine a node's files: its own Mac and the far ends of its cables. */
function seenFrom(fleet: SimulatedFleet, node: string): readonly unknown[] {
  const name = macBehind(fleet, node)?.name ?? node;
  const far = fleet.cables.flatMap(({ ends }) =>
    ends.some((end) => end.node === name) ? ends.map((end) => end.node) : [],
  );
  const macs = [node, name, ...far].map((one) => macNamed(fleet, one));
  return [fleet.cables, fleet.hanging, fleet.strangers, name, ...macs];
}

/** A node gets the same list of files as long as nothing visible to the node has changed. */
function createViews(book: Book, named: UsableAddresses['far']): FleetModel['viewOf'] {
  const rendered = new Map<string, { readonly seen: readonly unknown[]; readonly files: readonly NodeFile[] }>();
  const render = (fleet: SimulatedFleet, node: string): readonly NodeFile[] => {
    const seen = seenFrom(fleet, node);
    const last = rendered.get(node);
    if (last?.seen.length === seen.length && seen.every((one, at) => one === last.seen[at])) return last.files;
    const files = nodeFiles(fleet, node);
    rendered.set(node, { seen, files });
    return files;
  };
  return (node) => {
    const { connection, ailments, bootSession, password, hasKey, power } = macAt(book, node);
    const { fleet } = book.history;
    return {
      connection,
      ...given({ mac: macNamed(fleet, node)?.hardwareUuid, wiring: wiringOf(fleet, node) }),
      password,
      hasKey,
      ailments,
      comesBackAfterPowerLoss: power.restartsAfterPowerLoss,
      files: render(fleet, node),
      bootCount: bootSession.count,
      reach: wholeReachOf(fleet, node, named),
    };
  };
}

/**
 * The rack of a cluster file as a model for the host. The rack is healthy until a fault or another event changes it.
 * With `isFactory`, the cables are plugged in, but each Mac has its factory settings. The state is always derived from
 * the history, so that a cleared fault leaves no trace.
 *
 * @param saved the result of {@link FleetModel.save} in an earlier run: its Macs are kept, and new Macs are added
 * @throws FleetError `sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`
 */
export function modelledFleet(desired: DesiredFleet, seed: string, saved?: string, isFactory = false): FleetModel {
  const declared = simulateFleet(desired, seed);
  if (declared.kind === 'refused') throw new FleetError(declared.diagnostics);
  const macs = isFactory ? declared.fleet.macs.map(outOfBox) : declared.fleet.macs;
  const fleet = { ...declared.fleet, macs };
  const before = saved === undefined ? undefined : savedHistory(saved);
  const book: Book = { history: before === undefined ? beginHistory(fleet) : adopted(before, fleet) };
  const named = desired.nodes.map(({ name, host }) => ({ node: name, address: host }));
  return {
    name: desired.name,
    nodes: desired.nodes.map(({ name, user = defaultUser, outlet }) => ({
      name,
      user,
      ...given({ outlet: outlet?.name }),
    })),
    viewOf: createViews(book, named),
    ...faultVerbs(book),
    ...toolVerbs(book),
    hands: () => workOfHands(book, fleet.cables, desired),
    act: (words) => actWith(book, words),
    reusesDisk: (node) => before?.start.macs.some(({ name }) => name === node) === true,
    save: () => historyText(book.history),
  };
}

interface Book {
  history: History;
}

const faultText = ({ fault, target }: ActiveFault): string => (target === '' ? fault : `${fault} ${target}`);

const refused = (diagnostics: NonEmpty<Diagnostic>): FaultAnswer => ({ kind: 'refused', diagnostics });

/** The canonical form of a fault's target, so that any spelling of the target can clear the fault. */
function canonical(fleet: SimulatedFleet, { fault, target }: ActiveFault): string {
  const result = faults[fault].apply(fleet, target);
  return result.kind === 'refused' ? target : result.target;
}

/** The filter for the faults that the arguments select: all, all with one name, or the one at a target. */
function selected(history: History, words: readonly string[]): ((one: ActiveFault) => boolean) | NonEmpty<Diagnostic> {
  const [name, ...rest] = words;
  if (name === undefined) return () => true;
  const target = rest.join(' ');
  const parsed = parseFault(name, target);
  if (parsed.kind === 'refused') return [parsed.diagnostic];
  const wanted = canonical(history.start, parsed.active);
  const isSelected = (one: ActiveFault): boolean => one.fault === name && (target === '' || one.target === wanted);
  if (faultsIn(history).some(isSelected)) return isSelected;
  const detail = `${words.join(' ')} is not an active fault of the simulated fleet.`;
  return [diagnose('sim/bad-fault-target', { detail, hint: prose`Active faults: ${meshwright('sim status')}` })];
}

/** Adds a fault. If the fault is already active at this target, it is set again, because it may be partially fixed. */
function withFault(history: History, active: ActiveFault): History | NonEmpty<Diagnostic> {
  const target = canonical(history.start, active);
  const isSame = (one: ActiveFault): boolean => one.fault === active.fault && one.target === target;
  const without = faultsIn(history).some(isSame) ? withoutFaults(history, isSame) : undefined;
  if (without?.kind === 'refused') return history;
  const { history: next, happened } = append(without?.history ?? history, { kind: 'fault', ...active });
  if (happened.kind === 'done') return next;
  return without === undefined ? [happened.diagnostic] : history;
}

/** Clearing the fault of a locked Mac enters the password too, or the boot would lock the Mac again. */
const unlockedOf = (history: History, gone: readonly ActiveFault[]): History =>
  gone
    .filter(({ fault }) => fault === 'filevault-locked')
    .reduce((one, { target }) => append(one, { kind: 'unlock', mac: target }).history, history);

const isDiagnostics = (value: object): value is NonEmpty<Diagnostic> => Array.isArray(value);

function faultVerbs(book: Book): Pick<FleetModel, 'faults' | 'setFault' | 'clearFault'> {
  const listed = () => faultsInForce(book.history).map((one) => ({ text: faultText(one) }));
  const become = (wanted: History): FaultAnswer => {
    book.history = wanted;
    return { kind: 'done', faults: listed() };
  };
  return {
    faults: listed,
    setFault: ([name, ...rest]) => {
      const parsed = parseFault(name ?? '', rest.join(' '));
      if (parsed.kind === 'refused') return refused([parsed.diagnostic]);
      const wanted = withFault(book.history, parsed.active);
      return isDiagnostics(wanted) ? refused(wanted) : become(wanted);
    },
    clearFault: (words) => {
      const isGone = selected(book.history, words);
      if (isDiagnostics(isGone)) return refused(isGone);
      const cleared = withoutFaults(book.history, isGone);
      if (cleared.kind === 'refused') return refused([cleared.diagnostic]);
      return become(unlockedOf(cleared.history, faultsIn(book.history).filter(isGone)));
    },
  };
}

/** Whether a person at the rack fixes this fault. */
const byHands = (fault: ActiveFault): boolean =>
  /^(?:cable|hub)-/.test(fault.fault) ||
  ['rdma-disabled', 'filevault-locked', 'remote-login-off'].includes(fault.fault);

const cableText = ({ ends }: Cable): string => ends.map(linkEndText).join(' <-> ');

function cableWork({ cables: before, hanging }: SimulatedFleet, after: readonly Cable[]): readonly string[] {
  const inPlace = (cable: Cable, cables: readonly Cable[]): Cable | undefined =>
    cables.find(({ ends }) => ends.every((end) => cable.ends.some((one) => isSameEnd(one, end))));
  return [
    ...before.filter((cable) => inPlace(cable, after) === undefined).map((one) => `unplugged ${cableText(one)}`),
    ...hanging.map(({ end }) => `removed the cable from ${linkEndText(end)}`),
    ...after.flatMap((cable) => {
      const old = inPlace(cable, before);
      if (old === undefined) return [`plugged in ${cableText(cable)}`];
      if (old.dock !== undefined && cable.dock === undefined) return [`removed the dock from ${cableText(cable)}`];
      if (old.strayCarrier !== undefined && cable.strayCarrier === undefined)
        return [`plugged ${cableText(cable)} in again`];
      return old.gigabitsPerSecond === cable.gigabitsPerSecond && old.isSlow === cable.isSlow
        ? []
        : [`plugged in a cable of ${cable.gigabitsPerSecond} Gb/s at ${cableText(cable)}`];
    }),
  ];
}

/** The Macs for which a condition was true before, but is not afterwards. */
function changed(before: SimulatedFleet, after: SimulatedFleet, isWrong: (mac: MacState) => boolean) {
  const wrong = before.macs.filter(isWrong).map(({ name }) => name);
  return after.macs.filter((mac) => !isWrong(mac)).flatMap(({ name }) => (wrong.includes(name) ? [name] : []));
}

/** The place of the RDMA switch on this Mac. */
const switchPlace = (fleet: SimulatedFleet, name: string): string =>
  hasRdmaInSettings(macNamed(fleet, name)?.macos.version ?? '') ? 'System Settings' : 'Recovery';

function loginOn(fleet: SimulatedFleet, name: string): PlistValue | undefined {
  const mac = macNamed(fleet, name);
  return mac && automaticLoginOf(mac);
}

/**
 * Does everything that a person at the rack can do: plugs in all cables as declared, enables RDMA in the place that
 * this macOS provides, enters the FileVault password, sets automatic login and enables Remote Login. The caller
 * performs the restarts after RDMA was enabled.
 */
function workOfHands(book: Book, cables: readonly Cable[], { nodes, system: { automaticLogin } }: DesiredFleet) {
  const before = book.history.fleet;
  const cleared = withoutFaults(book.history, byHands);
  const loggedIn = automaticLogin === undefined ? [] : nodes;
  const events: readonly SimEvent[] = [
    { kind: 'cables', cables },
    ...before.macs.flatMap(({ name }): readonly SimEvent[] => [
      { kind: 'enable-rdma', mac: name },
      { kind: 'unlock', mac: name },
    ]),
    ...loggedIn.map(({ name, user = defaultUser }): SimEvent => {
      const event = { kind: 'automatic-login', mac: name } as const;
      return automaticLogin === 'required' ? { ...event, user } : event;
    }),
  ];
  const start = cleared.kind === 'history' ? cleared.history : book.history;
  book.history = events.reduce((one, event) => append(one, event).history, start);
  const after = book.history.fleet;
  const restarts = changed(before, after, (mac) => !mac.isRdmaEnabled);
  const chosen = loggedIn.filter(({ name }) => loginOn(before, name) !== loginOn(after, name));
  const unlocked = changed(before, after, (mac) => mac.connection.filevault === 'preboot');
  const shared = changed(before, after, (mac) => mac.connection.isRemoteLoginOff === true);
  return {
    done: [
      ...cableWork(before, after.cables),
      ...restarts.map((name) => `enabled RDMA on ${name} in ${switchPlace(before, name)}, and restarted the Mac`),
      ...chosen.map(({ name }) => `set automatic login on ${name}: ${String(loginOn(after, name) ?? 'off')}`),
      ...unlocked.map((name) => `unlocked ${name} with its password`),
      ...shared.map((name) => `enabled Remote Login on ${name} in Sharing`),
    ],
    restarts,
  };
}

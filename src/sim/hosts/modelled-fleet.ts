import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { readPlist } from '../launchd/plist-reader.ts';
import { wholeReachOf } from '../launchd/reach.ts';
import { type HandsWish, workOfHands } from '../manual/manual-acts.ts';
import { parseHands } from '../manual/words.ts';
import { wiringOf } from '../model/cables/wiring.ts';
import { macBehind, macNamed } from '../model/fleet.ts';
import { append, beginHistory } from '../model/history.ts';
import type { MacState } from '../model/mac.ts';
import { defaultUser } from '../model/new-mac.ts';
import { outOfBox } from '../model/out-of-box.ts';
import { isDict } from '../model/plist.ts';
import { createRenderer } from '../render-node.ts';
import { adopted, historyText, savedHistory } from '../saved-history.ts';
import { simulateFleet } from '../simulate-fleet.ts';
import { type Book, faultVerbs } from './control/fault-verbs.ts';
import type { ActsAnswer, FleetModel } from './fleet-model.ts';

/** The Mac that answers at a node's address. */
function macAt({ history }: Book, node: string): MacState {
  const mac = macBehind(history.fleet, node);
  if (mac === undefined) throw new Error(`no simulated Mac for ${node}`);
  return mac;
}

/** What happens to Macs by the tools that run on them. */
function toolVerbs(
  book: Book,
): Pick<FleetModel, 'write' | 'reread' | 'sendTcp' | 'killed' | 'processesEnded' | 'daemon' | 'boot' | 'unlock'> {
  return {
    write: (write) => {
      const { history, happened } = append(book.history, { kind: 'write', ...write });
      const isChange = history !== book.history;
      book.history = history;
      if (happened.kind === 'refused' || happened.written === undefined) throw new Error('a write is never refused');
      const { stdout, stderr, exitCode, isKnown, power } = happened.written;
      return { stdout, stderr, exitCode, isKnown, isChange, ...(power && { power }) };
    },
    reread: (node, text) => {
      const read = readPlist(text);
      const preferences = read.kind === 'plist' && isDict(read.value) ? read.value : {};
      const event = { kind: 'preferences', mac: macAt(book, node).name, preferences } as const;
      book.history = append(book.history, event).history;
    },
    sendTcp: (node) => {
      book.history = append(book.history, { kind: 'tcp-load', mac: macAt(book, node).name }).history;
    },
    killed: (node) => {
      book.history = append(book.history, { kind: 'killed', mac: macAt(book, node).name }).history;
    },
    processesEnded: (node, pids) => {
      book.history = append(book.history, { kind: 'processes-ended', mac: macAt(book, node).name, pids }).history;
    },
    unlock: (node) => {
      book.history = append(book.history, { kind: 'unlock', mac: macAt(book, node).name }).history;
    },
    daemon: (node, what) => {
      const mac = macAt(book, node).name;
      const event =
        what === 'ran'
          ? ({ kind: 'daemon-run', mac } as const)
          : ({ kind: 'daemon', mac, isStopped: what === 'disabled' } as const);
      book.history = append(book.history, event).history;
    },
    boot: (node, atEpochSeconds) => {
      const event = { kind: 'boot', mac: macAt(book, node).name, atEpochSeconds } as const;
      book.history = append(book.history, event).history;
    },
  };
}

/** Moves plugs as told, and writes it down when all of it could be done. */
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
  return { kind: 'done', done };
}

function lookWith(book: Book): FleetModel['look'] {
  const render = createRenderer();
  return (node) => {
    const { connection, ailments, bootSession, password, hasKey, power } = macAt(book, node);
    const { fleet } = book.history;
    const mac = macNamed(fleet, node)?.hardwareUuid;
    const files = render(fleet, node);
    const wiring = wiringOf(fleet, node);
    return {
      connection,
      ...(mac !== undefined && { mac }),
      account: { password, hasKey },
      ailments,
      comesBackAfterPowerLoss: power.restartsAfterPowerLoss,
      files,
      bootCount: bootSession.count,
      reach: wholeReachOf(fleet, node),
      ...(wiring !== undefined && { wiring }),
    };
  };
}

/** Whom the file wants each Mac to log in by itself: the account of the node, or nobody. */
function automaticLogins({ nodes, system }: DesiredFleet): HandsWish['automaticLogins'] {
  const { automaticLogin: wanted } = system;
  return wanted === undefined
    ? {}
    : Object.fromEntries(nodes.map(({ name, user }) => [name, wanted === 'required' ? (user ?? defaultUser) : null]));
}

/**
 * The rack of a cluster file as a model for the host: healthy, until faults are set or somebody changes something; or
 * with its cables plugged in, and each Mac as it comes out of its box.
 * Its state is always what follows from everything that happened, so that taking a fault away leaves no trace of it.
 *
 * @param saved what {@link FleetModel.save} gave in an earlier run: those Macs go on, new ones join them
 * @throws FleetError `sim/unknown-model`, `sim/unusable-link`, `sim/pool-too-small`
 */
export function modelledFleet(desired: DesiredFleet, seed: string, saved?: string, isFactory = false): FleetModel {
  const declared = simulateFleet(desired, seed);
  if (declared.kind === 'refused') throw new FleetError(declared.diagnostics);
  const made = isFactory
    ? { ...declared, fleet: { ...declared.fleet, macs: declared.fleet.macs.map(outOfBox) } }
    : declared;
  const before = saved === undefined ? undefined : savedHistory(saved);
  const book: Book = { history: before === undefined ? beginHistory(made.fleet) : adopted(before, made.fleet) };
  return {
    name: desired.name,
    nodes: desired.nodes.map((node) => ({ name: node.name, user: node.user ?? defaultUser })),
    look: lookWith(book),
    ...faultVerbs(book),
    ...toolVerbs(book),
    hands: () => {
      const { history, done, visited } = workOfHands(book.history, {
        cables: made.fleet.cables,
        automaticLogins: automaticLogins(desired),
      });
      book.history = history;
      return { done, restarts: visited };
    },
    act: (words) => actWith(book, words),
    isKept: (node) => before?.start.macs.some(({ name }) => name === node) === true,
    save: () => historyText(book.history),
  };
}

import { diagnose } from '../../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { NonEmpty } from '../../../diagnostics/fleet-error.ts';
import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import { type ActiveFault, faults, parseFault } from '../../faults/faults.ts';
import type { SimulatedFleet } from '../../model/fleet.ts';
import { append, faultsIn, faultsInForce, type History, withoutFaults } from '../../model/history.ts';
import type { FaultAnswer, FleetModel } from '../fleet-model.ts';

/** The history of a fleet, which its verbs replace. */
export interface Book {
  history: History;
}

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
  if (faultsIn(history).some(isNamed)) return isNamed;
  const detail = `${words.join(' ')} is not in force on the simulated fleet.`;
  return [diagnose('sim/bad-fault-target', { detail, hint: prose`See what is: ${meshwright('sim status')}` })];
}

/** One fault more. One that is in force already at this target is set anew, since it may have been mended in part. */
function withFault(history: History, active: ActiveFault): History | NonEmpty<Diagnostic> {
  const target = canonical(history.start, active);
  const isSame = (one: ActiveFault): boolean => one.fault === active.fault && one.target === target;
  const without = faultsIn(history).some(isSame) ? withoutFaults(history, isSame) : undefined;
  if (without?.kind === 'refused') return history;
  const { history: next, happened } = append(without?.history ?? history, { kind: 'fault', ...active });
  if (happened.kind === 'done') return next;
  return without === undefined ? [happened.diagnostic] : history;
}

/** A lock is cleared by the password: where the file itself wants FileVault, the start alone leads to it again. */
const unlockedOf = (history: History, gone: readonly ActiveFault[]): History =>
  gone
    .filter(({ fault }) => fault === 'filevault-locked')
    .reduce((one, { target }) => append(one, { kind: 'unlock', mac: target }).history, history);

const isDiagnostics = (value: object): value is NonEmpty<Diagnostic> => Array.isArray(value);

/** How faults of a fleet are set, cleared and told. */
export function faultVerbs(book: Book): Pick<FleetModel, 'faults' | 'setFault' | 'clearFault'> {
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
      const isGone = named(book.history, words);
      if (isDiagnostics(isGone)) return refused(isGone);
      const cleared = withoutFaults(book.history, isGone);
      if (cleared.kind === 'refused') return refused([cleared.diagnostic]);
      return become(unlockedOf(cleared.history, faultsIn(book.history).filter(isGone)));
    },
  };
}

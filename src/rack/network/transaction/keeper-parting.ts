/**
 * What a change of a node does with the keeper. A change of the network that waits for its confirmation keeps it from
 * doing anything; what it may go on to keep is decided by how the change ends, before that wait is over. Data that say
 * something else than the node is to have are taken away, whole: a keeper without data keeps nothing until the run that
 * took them brings new ones.
 */
import type { NetworkCall } from '../../../model/node-script.ts';
import {
  addressLine,
  bridgeLine,
  keeperData,
  keeperLabel,
  keeperPlist,
  outdatedMark,
  outdatedName,
  wiredLine,
} from '../../../node/paths/keeper-files.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { quote } from '../../../node/quote.ts';

/** Which lines of the data are about a change. */
interface Touched {
  /** Says what the change makes, so that it must go when the change is taken back. */
  readonly agrees?: string;
  /** Patterns of lines that say otherwise, so that they must go when the change stays. */
  readonly differs: readonly string[];
}

const receptacleOf = (hardwarePort: string): number => Number(hardwarePort.replace(/^\D+/, ''));

/** Whatever is kept at the receptacle of a hardware port. */
const atReceptacle = (hardwarePort: string): string => `${quote(`address ${receptacleOf(hardwarePort)} `)}*`;

const withAddress = (address: string): string => `address' '*${quote(` ${address} `)}*`;

function touchedLines(call: NetworkCall): Touched {
  switch (call.name) {
    case 'remove-bridge':
      return { agrees: quote(bridgeLine), differs: [] };
    case 'set-link-address': {
      const { hardwarePort, address, prefixLength } = call.args;
      const agrees = quote(addressLine(receptacleOf(hardwarePort), address, prefixLength));
      return { agrees, differs: [atReceptacle(hardwarePort), withAddress(address)] };
    }
    case 'clear-link-address':
      return { differs: [atReceptacle(call.args.hardwarePort)] };
    case 'order-services':
    case 'restore-network':
      return { differs: [] };
  }
}

const data = pathWord(keeperData);
const dropData = `${pathWord(tool.rm)} -f ${data}`;

/** Marks in the folder of a transaction: the data of the keeper go when it ends like this. */
const mark = { rolled: 'keeper-rolled', confirmed: outdatedName } as const;

const unmarked = "failed write 'the change could not be marked for the keeper'";

/** Lines that leave marks in the folder `$q` of a transaction, by what the keeper keeps now. */
export function partingLines(call: NetworkCall): string {
  const { agrees, differs } = touchedLines(call);
  const arms = [
    ...(agrees === undefined ? [] : [`(${agrees}) true >"$q/${mark.rolled}" || ${unmarked} ;;`]),
    ...(differs.length === 0 ? [] : [`(${differs.join(' | ')}) true >"$q/${mark.confirmed}" || ${unmarked} ;;`]),
  ];
  return arms.length === 0
    ? ':'
    : `[ ! -e ${data} ] || while IFS= read -r x; do
  case $x in
    ${arms.join('\n    ')}
  esac
done <${data}`;
}

/** Where the change in `$rb/rolling` is put back, before it ends. */
export const partingOfRolled = `[ ! -e "$rb/rolling/${mark.rolled}" ] || ${dropData}`;

/**
 * Where the change in `$rb/confirmed` was confirmed: only whoever won the rename may say that the data are outdated.
 * Until they are gone the mark keeps the keeper from doing anything, and the next change, or the keeper itself, takes
 * them away for a run that died here.
 */
export const partingOfConfirmed = `[ ! -e ${pathWord(outdatedMark)} ] || ${pathWord(tool.rm)} -f ${data} ${pathWord(outdatedMark)}`;

/** Another wired limit than the one that the keeper keeps. */
export const partingOfWired = (megabytes: number): string => `[ ! -e ${data} ] || while IFS= read -r x; do
  case $x in (${quote(wiredLine(megabytes))}) ;; ('wired '*) ${dropData} ;; esac
done <${data}`;

/** A tenth of a second each: a round takes one or two seconds. */
const looks = { patient: 40, all: 60 } as const;

/**
 * `quiet` waits until no round of the keeper is under way; one that begins later finds the pending change. Needs `look`
 * of a service. A round that hangs is ended. It fails when a round is there after all, or when launchd does not say.
 */
export const quietFunction = `quiet() {
  [ -e ${pathWord(keeperPlist)} ] || return 0
  n=0
  until k=$(L=system/${keeperLabel}; look 2>/dev/null || exit 0; printf '%s' "$pid") && [ -z "$k" ]; do
    n=$((n + 1))
    [ "$n" -lt ${looks.all} ] || return 1
    [ "$n" -lt ${looks.patient} ] || [ -z "$k" ] || kill -s KILL "$k" 2>/dev/null
    ${pathWord(tool.sleep)} 0.1
  done
}`;

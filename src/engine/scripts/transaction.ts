import type { NetworkCall } from '../../model/node-script.ts';
import { serviceFunctions } from '../../node/launchd-service.ts';
import { networkSetupFunctions } from '../../node/network-setup.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { partingLines, partingOfConfirmed, quietFunction } from '../../rack/network/transaction/keeper-parting.ts';
import {
  aboutWords,
  armFunctions,
  isOurs,
  rollbackFunctions,
  rollbackLabel,
  standsExit,
  type TransactionNote,
} from '../../rack/network/transaction/rollback-script.ts';
import { restoreText, saveLines, touchedNetwork } from '../../rack/network/transaction/saved-network.ts';
import { leaseBeat } from './lease.ts';
import { scriptBody } from './registry.ts';

/** A change of the network that is to be confirmed. */
export interface TransactionRequest extends TransactionNote {
  readonly call: NetworkCall;
  /** After so many seconds without a confirmation the node puts everything back. */
  readonly seconds: number;
}

/** What both halves of a transaction begin with. */
const prologue = (about: TransactionNote): string => `${serviceFunctions(rollbackLabel)}
${rollbackFunctions}
${armFunctions}
${isOurs(about)}`;

/**
 * Saves the network, arms the rollback, and only then changes the network; the first half of a transaction. What fails
 * is put back at once, unless its script says that the rest is to stand; what had nothing to change is disarmed.
 * Otherwise the rollback stays armed, and the node waits for {@link confirmBody}.
 */
export function transactionBody({ call, seconds, ...about }: TransactionRequest): string {
  const touched = touchedNetwork(call);
  return `${prologue(about)}
${networkSetupFunctions}
${quietFunction}
if [ -e "$rb/pending" ] || [ -e "$rb/rolling" ]; then
  failed rollback-pending 'another network change is to be settled first'
fi
${partingOfConfirmed}
${pathWord(tool.rm)} -rf ${pathWord(place.rollback)}
q="$rb/new.$$"
must mkdir ${pathWord(tool.mkdir)} -p "$q"
${saveLines(touched)}
write "$q/restore" ${quote(restoreText(touched))}
write "$q/about" ${aboutWords(about, seconds)}
${partingLines(call)}
arm "$q"
e=$(
${scriptBody(call)}
)
rc=$?
printf '%s\\n' "$e"
case $rc:$e in
  (0:*@changed | ${standsExit}:*) write "$rb/pending/verdict" "$rc$N" ;;
  (0:*@unchanged) unarm ;;
  (*) if claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  fi ;;
esac
exit "$rc"`;
}

/** Looks at a transaction that another process works on, four in a second. */
const looks = 240;

/**
 * Confirms a change of the network over a new connection, unless the node was quicker; the second half of a
 * transaction. It moves the beat of the lease on first. May be sent again: what was confirmed stays so. It fails with
 * `rolled-back` when everything is as it was before, and with `no-transaction` when the first half has never come to
 * change anything.
 */
export const confirmBody = (about: TransactionNote): string => `${prologue(about)}
cd "$b/lease" || exit 1
${leaseBeat}
if isours "$rb/confirmed"; then
  ${partingOfConfirmed}
  unchanged
fi
n=0
while isours "$rb/pending" && ischanging && [ "$n" -lt ${looks} ]; do
  n=$((n + 1))
  ${pathWord(tool.sleep)} 0.25
done
if isours "$rb/pending"; then
  if [ -e "$rb/pending/verdict" ]; then
    if claim "$rb/pending" "$rb/confirmed"; then
      ${partingOfConfirmed}
      disarm
      changed
    fi
  elif claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  fi
fi
while isours "$rb/rolling" && isalive "$ap" && [ "$n" -lt ${looks} ]; do
  n=$((n + 1))
  ${pathWord(tool.sleep)} 0.25
done
isours "$rb/rolling" && failed rolling-back 'the node is still putting its network back'
isours "$rb/rolled" && failed rolled-back 'nobody confirmed the change in time: the network is as it was before'
failed no-transaction 'the node knows of no such change'`;

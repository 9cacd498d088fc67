import type { ClockOffset } from '../../model/facts/mac.ts';
import { type Known, known, unknown } from '../../model/known.ts';
import { durationText } from '../../model/text/units.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readText } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact } from '../fact.ts';

/** `date -u +%s`: the node's clock in whole seconds, because macOS does not know `%N`. */
const date = probe('date', [tool.date, '-u', '+%s'], 5_000, 1_024);

/**
 * The node's clock minus the controller's. `date` prints whole seconds and ran at some moment between the request and
 * the answer, so the value is the middle of the possible range, and its uncertainty is half the width of the range.
 */
export const clockFact = defineFact({
  name: 'clock',
  from: [date],
  parse: ([answer], asked): Known<ClockOffset> => {
    const text = readText(answer);
    if (text.kind === 'unknown') return text;
    const seconds = wholeNumber(/^(\d{9,11})\n$/.exec(text.value)?.[1]);
    if (seconds === undefined) return garbled(answer, 'printed no number of seconds');
    const { sentAtEpochMs, receivedAtEpochMs } = asked;
    if (receivedAtEpochMs < sentAtEpochMs) {
      return unknown('failed', "This computer's clock was set back during the observation.");
    }
    return known({
      offsetMs: Math.round(seconds * 1000 + 500 - (sentAtEpochMs + receivedAtEpochMs) / 2),
      uncertaintyMs: Math.ceil((receivedAtEpochMs - sentAtEpochMs) / 2 + 500),
    });
  },
  text: ({ offsetMs, uncertaintyMs }, plusMinus) => {
    const side = offsetMs < 0 ? 'behind' : 'ahead of';
    return `${durationText(offsetMs)} ${side} this computer (${plusMinus}${durationText(uncertaintyMs)})`;
  },
});

import type { BridgePreference } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { isInterface } from '../../node/answers/grammar.ts';
import { asList, asObject, garbled, readJson, textOf } from '../../node/answers/read-answer.ts';
import { place, tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { defineFact, readEach } from '../fact.ts';

/** The bridges in the network preferences; the file can be read without root. */
const bridgeKey = probe(
  'bridge-key',
  [tool.plutil, '-extract', 'VirtualNetworkInterfaces.Bridge', 'json', '-o', '-', place.networkPreferences],
  5_000,
  65_536,
);

const noSuchKey = /^[^\n]*: No value at that key path\b[^\n]*: VirtualNetworkInterfaces\.Bridge\n?$/;

/**
 * The bridges in the network preferences, from
 *
 *     {"bridge0":{"Options":{"__AUTO__":"thunderbolt-bridge"},"Interfaces":["en1","en6","en2"]}}
 *
 * A Mac whose bridge was deleted prints `{}`. For a key that never existed, plutil prints an error.
 */
export const bridgePreferencesFact = defineFact({
  name: 'bridge-preferences',
  from: [bridgeKey],
  parse: ([answer]): Known<readonly BridgePreference[]> => {
    if (answer !== undefined && saysNoSuchKey(answer)) return known([]);
    return andThen(readJson(answer), (json) => {
      const object = asObject(json);
      if (object === undefined) return garbled(answer, 'described no bridges');
      return readEach(Object.entries(object), bridgeOf, garbled(answer, 'described an unreadable bridge'));
    });
  },
  text: (bridges) =>
    bridges.map(({ name, interfaces, auto }) => {
      const maker = auto === undefined ? '' : `, made by macOS (${auto})`;
      return `${name} with ${interfaces.length === 0 ? 'no members' : interfaces.join(' ')}${maker}`;
    }),
});

/**
 * True for exit code 1 with one line that names the key path, on stdout or stderr depending on the macOS version. No
 * other failure means that the key is absent.
 */
function saysNoSuchKey(answer: Answer): boolean {
  const { exit, missing, isLate, isTruncated, isUtf8 } = answer;
  if (missing !== undefined || isLate || isTruncated || !isUtf8) return false;
  const isRefusal = exit.kind === 'exited' && exit.code === 1;
  return isRefusal && noSuchKey.test(answer.stdout + answer.stderr);
}

function bridgeOf([name, value]: readonly [string, unknown]): BridgePreference | undefined {
  const object = asObject(value);
  const members = asList(object?.['Interfaces']);
  if (object === undefined || members === undefined || !isInterface(name)) return undefined;
  const interfaces = members.filter((one): one is string => typeof one === 'string' && isInterface(one));
  if (interfaces.length !== members.length) return undefined;
  const options = asObject(object['Options']);
  const auto = options === undefined ? undefined : textOf(options, '__AUTO__');
  return { name, interfaces, ...given({ auto }) };
}

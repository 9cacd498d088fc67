import { enrollCard } from '../../engine/diagnose/enroll-card.ts';
import { enrollCardJson, enrollCardText } from '../../report/doctor/enroll-card-text.ts';
import { openCluster, targetedNodes } from '../cluster/open-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { showJson } from '../terminal/diagnostics-output.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import { usageError } from '../verb/options.ts';
import type { Run } from '../verb/verb.ts';

/** Options that mean something to whoever is connected to; a card connects to nobody. */
const connecting = ['expect', 'replace', 'user', 'port', 'identity', 'passwordEnv', 'passwordFile'];

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A card is for a page of this width. */
const pageColumns = 80;

/** `enroll --card`: what a person has to do at each of these Macs, one page each, from the file alone. */
export function showCards(run: Run): ExitCode {
  const given = connecting.find((name) => run.own[name] !== undefined);
  if (given !== undefined) {
    throw usageError(`${flagOf(given)} means nothing with --card, which reaches no Mac.`, 'Leave one of the two out.');
  }
  const { fleet } = openCluster(run);
  const words = run.own['all'] === true ? namedTargets(run, fleet) : run.words;
  const cards = targetedNodes(run, fleet, words).map((node) => enrollCard(fleet, node));
  if (run.options.json) {
    showJson(run.console, { formatVersion: 1, cards: cards.map((card) => enrollCardJson(card, run.console)) });
    return exitCode.done;
  }
  const { isSimulated } = run.console;
  const columns = Math.min(pageColumns, run.console.columns);
  // A printer begins a new page at a form feed; a terminal gets a line.
  const between = run.console.isOutTty ? `${'-'.repeat(columns)}\n` : '\f';
  run.console.out(cards.map((card) => enrollCardText(card, { columns, isSimulated })).join(between));
  return exitCode.done;
}

import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import { cableEvents } from '../../engine/cables/cable-events.ts';
import { subjectText } from '../../model/subject.ts';
import { doneLine, eventLines, watchParagraphs } from '../../report/cables/watch-text.ts';
import { findingLines } from '../../report/finding-lines.ts';
import { mergeFindings } from '../../report/merge-findings.ts';
import type { Page } from '../../report/page.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { isLive, type LiveBlock, liveBlock } from '../terminal/live-block.ts';
import { pageFor } from '../terminal/paint.ts';
import { exitOfSignal } from '../terminal/signals.ts';
import { type ExitCode, exitCode } from '../verb/exit-codes.ts';
import type { Run } from '../verb/verb.ts';
import { codeForCables } from './cable-verdicts.ts';
import { lostLines } from './lost-lines.ts';
import { showCables } from './show-cables.ts';
import { type Sight, watchCables } from './watch-cables.ts';

/**
 * Guides the hands at the rack until every link is as declared. On a terminal the last lines are written over; elsewhere
 * every change is a line, and with `--json` only the last look is told, as one document.
 */
export async function guideHands(run: Run, cluster: OpenedCluster, ways: Ways): Promise<ExitCode> {
  const { isSimulated } = ways;
  const guide = { cluster, page: pageFor(run.console) };
  const stageOf = ({ observation, work, isWhole }: Sight): Stage => {
    if (codeForCables(cluster.fleet, observation, work) !== exitCode.done) return 'open';
    return isWhole ? 'done' : 'to-confirm';
  };
  const tell = run.options.json === true ? () => undefined : teller(run, guide);
  const last = await watchCables(run, {
    cluster,
    ways,
    onSight: (sight, before) => {
      const stage = stageOf(sight);
      tell(sight, before, stage);
      return stage === 'done';
    },
  });
  if (last === undefined) return exitOfSignal(run.signal) ?? exitCode.failed;
  const { observation, work } = last;
  if (run.options.json === true) showCables(run, { cluster, work, isSimulated });
  return exitOfSignal(run.signal) ?? codeForCables(cluster.fleet, observation, work);
}

interface Guide {
  readonly cluster: OpenedCluster;
  readonly page: Page;
}

/** `to-confirm` is done as far as the receptacles show; the next look asks for all that cables are judged by. */
type Stage = 'open' | 'to-confirm' | 'done';

type Tell = (sight: Sight, before: Sight | undefined, stage: Stage) => void;

/** Tells what has changed since the last look, and below it what is to be done next. */
function teller({ console }: Run, { cluster, page }: Guide): Tell {
  const block: LiveBlock = liveBlock(console);
  let shown: readonly (readonly string[])[] = [];
  return (sight, before, stage) => {
    const { work, lost } = sight;
    const news = [
      ...lostLines(sight, before, page),
      ...newFindings(sight, before).flatMap((one) => [...findingLines(one, page), '']),
      ...(before === undefined ? [] : cableEvents(before.work, work).flatMap((event) => eventLines(event, page))),
    ];
    const done = [[doneLine(cluster.fleet.thunderbolt.links.length, page)]];
    const open = (): typeof shown => watchParagraphs({ work, lost }, page);
    const paragraphs = { done: () => done, 'to-confirm': () => shown, open }[stage]();
    const isShown = (lines: readonly string[]): boolean => shown.some((one) => one.join('\n') === lines.join('\n'));
    if (isLive(console)) block.show(news, paragraphs.flat());
    else block.show([...news, ...paragraphs.filter((lines) => !isShown(lines)).flat()], []);
    shown = paragraphs;
  };
}

/** What no act puts right and was not told before; why a node cannot be seen is told with its name. */
function newFindings(sight: Sight, before: Sight | undefined) {
  const failures = Object.values(sight.observation.failures).flat();
  const keyOf = ({ code, subject, detail }: Diagnostic): string =>
    [code, subjectText(subject), plainText(detail)].join('\n');
  const told = new Set([...(before?.work.findings ?? []), ...failures].map(keyOf));
  const isNew = (one: Diagnostic): boolean => !told.has(keyOf(one)) && !failures.some(({ code }) => code === one.code);
  return mergeFindings(sight.work.findings.filter(isNew));
}

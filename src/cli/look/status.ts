import { proseText } from '../../diagnostics/prose-text.ts';
import { aside, meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { statusJson } from '../../report/status/status-json.ts';
import { seenLines, statusText } from '../../report/status/status-text.ts';
import { codeForNodes } from '../exit-codes.ts';
import { isLive, liveBlock, pageFor, showJson } from '../terminal/console.ts';
import type { Run, VerbBody } from '../verb.ts';
import { type FoundLook, lookForFindings, nodeVerdict } from './look-for-findings.ts';

/** The cures of what is broken are for real Macs; nobody needs a power button here. */
const mending = prose`\n  This rack is simulated: ${aside(meshwright('sim fault', '--clear'))} mends what was broken.\n`;

/** `status [NODE…]`: placements and Macs in one table each, and what is wrong with them. */
export const status: VerbBody = async (run) => {
  const { names, isBroken, ...shown } = await lookWithRows(run);
  if (run.options.json) showJson(run.console, statusJson(shown));
  else {
    run.console.out(statusText({ ...shown, ...pageFor(run.console) }));
    if (shown.isSimulated && isBroken) run.console.out(proseText(mending, run.console));
  }
  return codeForNodes(names.map((name) => nodeVerdict(name, shown)));
};

/** A look that ends within this time is shown as one page, without rows before it. */
const quickMs = 1000;

/** On a terminal, where a look takes longer, the rows of the Macs seen so far stand where the whole page comes later. */
async function lookWithRows(run: Run): Promise<FoundLook> {
  if (run.options.json || !isLive(run.console)) return lookForFindings(run);
  const block = liveBlock(run.console);
  let rows: readonly string[] = [];
  let isSlow = false;
  const show = (): void => {
    if (isSlow) block.show([], rows);
  };
  const timer = setTimeout(() => {
    isSlow = true;
    show();
  }, quickMs);
  try {
    return await lookForFindings(run, (seen) => {
      rows = seenLines({ ...seen, ...pageFor(run.console) });
      show();
    });
  } finally {
    clearTimeout(timer);
    block.show([], []);
  }
}

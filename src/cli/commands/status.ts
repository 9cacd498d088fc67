import { statusJson } from '../../report/status-json.ts';
import { statusText } from '../../report/status-text.ts';
import { showJson } from '../diagnostics-output.ts';
import { codeForNodes } from '../exit-codes.ts';
import { lookForFindings } from '../look-for-findings.ts';
import { nodeVerdict } from '../node-verdict.ts';
import { paintFor } from '../paint.ts';
import type { VerbBody } from '../verb.ts';

/** The cures of what is broken are for real Macs; nobody needs a power button here. */
const mending = '\n  This rack is simulated: meshwright sim fault --clear mends what was broken.\n';

/** `status [NODE…]`: placements and Macs in one table each, and what is wrong with them. */
export const status: VerbBody = async (run) => {
  const { names, isBroken, ...shown } = await lookForFindings(run);
  const { columns, hasUnicode, hasColor } = run.console;
  if (run.options.json) showJson(run.console, statusJson(shown));
  else {
    const paint = paintFor(hasColor);
    run.console.out(statusText({ ...shown, columns, unicode: hasUnicode, paint }));
    if (shown.isSimulated && isBroken) run.console.out(mending);
  }
  return codeForNodes(names.map((name) => nodeVerdict(name, shown)));
};

import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type BenchTextInput, benchText } from '../../report/bench/bench-text.ts';
import { diagnosticsJson, logFindings, showDiagnostics, showJson } from '../terminal/diagnostics-output.ts';
import { pageFor } from '../terminal/paint.ts';
import type { Run } from '../verb/verb.ts';

/** What a measurement shows. */
export interface BenchShown extends Omit<BenchTextInput, 'columns' | 'unicode' | 'paint'> {
  readonly diagnostics: readonly Diagnostic[];
}

/** Shows a measurement as text, or as one JSON document. */
export function showBench(run: Run, shown: BenchShown): void {
  const { console } = run;
  const { diagnostics, isSimulated, isCounted, words, maxTokens, levels, published, ...about } = shown;
  logFindings(run, diagnostics);
  if (run.options.json) {
    showJson(console, {
      formatVersion: 1,
      ...(isSimulated ? { simulated: true } : {}),
      ...about,
      question: { words, maxTokens },
      tokensAre: isCounted ? 'counted-by-runtime' : 'pieces-of-text',
      levels: levels.length === 0 ? null : levels,
      published: published.map(({ words: _words, ...one }) => one),
      diagnostics: diagnosticsJson(run.console, diagnostics),
    });
    return;
  }
  console.out(benchText({ ...shown, ...pageFor(console) }));
  showDiagnostics(console, diagnostics);
}

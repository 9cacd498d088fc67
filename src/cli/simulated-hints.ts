import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Plan } from '../plan/plan.ts';

/** A command of ours that reaches nodes, up to the end of its line or sentence. */
const reachingCommand =
  /\bmeshwright (?:enroll|replace|facts|status|doctor|exec|plan|apply|drift|history|logs|ask|start|stop|drain|restart|reboot|shutdown|run|uninstall|forget|lease|unlock|secrets|hold|release|launch|bench|rollback)\b(?:[^\n.;,`]|[.,](?=[\w/]))*/g;

/**
 * The same text with `--sim` behind every command that it says to type, before the ` --` of one that takes another
 * command: a rehearsal must never reach a real node.
 */
export const simulatedText = (text: string): string =>
  text.replace(reachingCommand, (found) => (/ --sim\b/.test(found) ? found : found.replace(/( -- .*)?$/, ' --sim$1')));

/** The same diagnostics with `--sim` behind every command that they say to type. */
export function simulatedHints(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((one) => ({ ...one, hint: simulatedText(one.hint) }));
}

/** The same plan with `--sim` behind every command that its work list and its diagnostics say to type. */
export function simulatedPlan(plan: Plan): Plan {
  return {
    ...plan,
    blockers: plan.blockers.map((one) => ({ ...one, action: simulatedText(one.action) })),
    diagnostics: simulatedHints(plan.diagnostics),
  };
}

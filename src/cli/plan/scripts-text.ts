import { escapeLines } from '../../diagnostics/escape.ts';
import { aroundScripts, type StepScript } from '../../engine/scripts/step-scripts.ts';

const line = '# ----------------------------------------------------------------------';

/** What a line of the plan begins with, so that a shell reads over it. */
export const commentMark = '# ';

/** Every script of root of a plan, whole and in its order, behind the plan's own text, for people who read what they allow. */
export function scriptsText(plan: string, scripts: readonly StepScript[]): string {
  const comments = plan
    .trimEnd()
    .split('\n')
    .map((text) => `${commentMark}${text}`.trimEnd());
  if (scripts.length === 0) return `${[...comments, '#', '# It sends no script to root.'].join('\n')}\n`;
  const titles = scripts.map(({ step }) => `#   ${step}`);
  const head = [
    ...comments,
    '#',
    `# ${scripts.length === 1 ? '1 script' : `${scripts.length} scripts`} for root, each sent alone, by standard input, to: sudo -n /bin/sh -s`,
    ...titles,
    '#',
    '# In the place of RUN, token 0, CONFIG, USER and HOST stands what the run itself is and has.',
  ];
  const parts = [
    head.join('\n'),
    [line, '# Around every one of them:', line, aroundScripts()].join('\n'),
    ...scripts.map(({ step, text }) => [line, `# ${step}`, line, text].join('\n')),
  ];
  return escapeLines(`${parts.join('\n\n')}\n`);
}

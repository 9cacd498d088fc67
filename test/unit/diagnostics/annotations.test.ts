import { describe, expect, it } from 'vitest';
import { repositoryPathIn } from '../../../src/cli/terminal/console.ts';
import { annotationsText } from '../../../src/diagnostics/annotations.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import { nodeSubject } from '../../../src/model/subject.ts';

const where = { file: 'cluster.yaml', line: 41, column: 11, endLine: 41, endColumn: 20 };
const problem = diagnose('schema/unknown-key', { detail: 'There is no key "nodez".', hint: 'Use nodes.', where });
const reader = { isSimulated: false };
const text = (one: typeof problem): string => annotationsText([one], (file) => file, reader);

describe('annotations', () => {
  it('mark a diagnostic on its line and column', () => {
    expect(text(problem)).toBe(
      `::error file=cluster.yaml,line=41,col=11,title=schema/unknown-key::${problem.summary}%0AThere is no key "nodez".%0AUse nodes.\n`,
    );
    expect(text({ ...problem, severity: 'warning' })).toMatch(/^::warning file=/);
  });

  it('are missing for a diagnostic without a place', () => {
    expect(
      annotationsText([diagnose('ssh/refused', { subject: nodeSubject('a'), detail: 'No.' })], String, reader),
    ).toBe('');
  });

  it('cannot contain another command, whatever the file contains', () => {
    const hostile = 'x\n::error file=a::b\r##[error]c%0A::d::\u001b[2J';
    const shown = text({ ...problem, detail: hostile, where: { ...where, file: 'a,line=1:b\n::error::.yaml' } });
    expect(shown.match(/\n/g)).toHaveLength(1);
    expect(shown.match(/(^|\n)::/g)).toHaveLength(1);
    expect(shown).toContain('file=a%2Cline=1%3Ab\\u{a}');
    expect(shown).toContain('%250A');
    expect(shown).not.toContain('##[');
    expect(shown).not.toContain('\u001b');
  });
});

describe('the path of an annotation', () => {
  it('is relative to the checked-out repository', () => {
    const path = repositoryPathIn({ GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: '/build/rack' }, '/build/rack/racks/one');
    expect([path?.('cluster.yaml'), path?.('/build/rack/two.yaml')]).toEqual(['racks/one/cluster.yaml', 'two.yaml']);
  });

  it('remains as shown if the command runs outside of the repository', () => {
    const path = repositoryPathIn({ GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: '/build/rack' }, '/elsewhere/head');
    expect(path?.('cluster.yaml')).toBe('cluster.yaml');
  });

  it('does not exist outside of GitHub', () => {
    expect(repositoryPathIn({ CI: 'true' }, '/work')).toBeUndefined();
  });
});

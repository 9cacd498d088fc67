import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../src/cli/run.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { ciSteps, meshwrightLines } from '../ci-examples.ts';
import { shellWords } from '../readme-text.ts';
import { filesBelow, textOf } from './sources.ts';

/** The command and arguments of a command line, or the error. */
function parsed(line: string): unknown {
  try {
    const found = parseCommandLine(verbs, { out: () => undefined, columns: 80 }, shellWords(line).slice(1));
    return found.kind === 'verb' ? [found.invocation.verb.name, ...found.invocation.words] : found.kind;
  } catch (error) {
    return String(error);
  }
}

describe.each(Object.entries(ciSteps))('examples/ci/%s.yml', (_, steps) => {
  it('has the jobs described in docs/ci.md', () => {
    expect([...new Set(steps.map(({ job }) => job))].sort()).toEqual(['apply', 'drift', 'plan', 'rollout', 'upgrade']);
  });

  it('contains only valid commands and options', () => {
    const lines = steps.flatMap(({ job, script }) => meshwrightLines(script).map((line) => [job, parsed(line)]));
    expect(lines).toEqual([
      ['plan', ['validate']],
      ['plan', ['plan']],
      ['apply', ['apply']],
      ['upgrade', ['upgrade macos']],
      ['drift', ['drift']],
      ['rollout', ['run', 'rollout.yaml']],
      ['rollout', ['status']],
    ]);
  });

  it('contains only meshwright commands that this test finds', () => {
    const found = steps.flatMap(({ script }) => meshwrightLines(script)).length;
    const named = steps.flatMap(({ script }) => script.match(/\bmeshwright (?!commit)[a-z]/g) ?? []).length;
    expect(named).toBe(found);
  });
});

describe('an action in a workflow', () => {
  it.each([...filesBelow('.github/workflows'), 'examples/ci/github.yml', 'examples/ci/action.yml'])(
    'is pinned to a commit in %s',
    (file) => {
      const uses = [...textOf(file).matchAll(/\buses: (?!\.\/)(.*)/g)].map(([, action]) => action);
      expect(uses).not.toEqual([]);
      expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action ?? ''))).toEqual([]);
    },
  );
});

describe('the workflow for pull requests', () => {
  it('is taken from the default branch, and refuses forks', () => {
    const { on, jobs } = parse(textOf('examples/ci/github.yml'));
    expect(Object.keys(on)).toEqual(['pull_request_target', 'push', 'schedule', 'workflow_dispatch']);
    expect(jobs.plan.if).toBe(
      "github.event_name == 'pull_request_target' && github.event.pull_request.head.repo.full_name == github.repository",
    );
  });

  it('puts no text from outside into a script', () => {
    const scripts = ciSteps.github.map(({ script }) => script);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });
});

describe('consent in CI', () => {
  it.each(filesBelow('examples/ci'))('is never read from a text of a commit or a request: %s', (file) => {
    const texts =
      /COMMIT_(?:MESSAGE|TITLE|DESCRIPTION|TAG_MESSAGE)|REQUEST_(?:TITLE|DESCRIPTION|LABELS)|head_commit|\.message\b/;
    expect(textOf(file).match(texts)).toBeNull();
  });

  it('on GitLab is the start of a job by a person', () => {
    const { apply, plan } = parse(textOf('examples/ci/gitlab.yml'));
    expect(apply.rules.map(({ when }: { readonly when?: string }) => when)).toEqual(['manual']);
    expect([apply.environment, JSON.stringify(plan).includes('--allow')]).toEqual(['rack', false]);
  });
});

describe('the job that updates macOS', () => {
  it('runs on the default branch only, and after what was reviewed is applied', () => {
    const { apply, upgrade } = parse(textOf('examples/ci/gitlab.yml'));
    expect([upgrade.rules.map((rule: { readonly if: string }) => rule.if), upgrade.needs]).toEqual([
      [apply.rules[0].if],
      ['plan', 'apply'],
    ]);
    const { jobs } = parse(textOf('examples/ci/github.yml'));
    expect([jobs.upgrade.if, jobs.upgrade.needs]).toEqual(["github.event_name == 'push'", 'apply']);
    expect([jobs.upgrade.environment, upgrade.environment]).toEqual(['rack', 'rack']);
  });
});

describe('a release', () => {
  it('attests the package and its SBOM before it publishes them', () => {
    const { jobs } = parse(textOf('.github/workflows/release.yml'));
    const steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: unknown }[] =
      jobs.package.steps;
    const attests = steps.findIndex(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'));
    const attaches = steps.findIndex(({ run }) => run?.includes('gh release create'));
    expect(steps[attests]?.with).toEqual({ 'subject-path': 'meshwright-*.tgz\nmeshwright-*.cdx.json\n' });
    expect(steps[attaches]?.run).toContain('meshwright-*.tgz meshwright-*.cdx.json');
    expect(attests).toBeLessThan(attaches);
    expect(jobs.package.permissions).toMatchObject({ 'id-token': 'write', attestations: 'write' });
  });
});

describe('the command parser used by these tests', () => {
  it('rejects an unknown option and an unknown command', () => {
    expect([parsed('meshwright plan --markdown'), parsed('meshwright mend')]).toEqual([
      expect.stringContaining('--markdown'),
      expect.stringContaining('mend'),
    ]);
  });
});

describe('docs/ci.md', () => {
  it('has a row for every job, with the commands from both examples', () => {
    const rows = [...textOf('docs/ci.md').matchAll(/^\| `([a-z]+)` \|[^|]*\| ([^|]*) \|/gm)];
    const shown = Object.fromEntries(rows.map(([, job, commands = '']) => [job, commands]));
    // The page leaves out which file, and where the other files are.
    const short = (line: string): string =>
      line.replaceAll(/ (?:-f|--base-lock) \S+|^meshwright | --no-color|"|\$RUNNER_TEMP\/(?:reviewed\/)?/g, '');
    for (const { job, script } of Object.values(ciSteps).flat()) {
      for (const line of meshwrightLines(script).filter((one) => !one.includes(' status '))) {
        const commands = [...(shown[job] ?? '').matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
        expect(
          commands.filter((command) => short(line).startsWith(command)),
          `${job}: ${line}`,
        ).toHaveLength(1);
      }
    }
  });
});

describe('examples/ci/rollout.yaml', () => {
  it('has the same meaning in YAML 1.1 as in YAML 1.2', () => {
    const text = textOf('examples/ci/rollout.yaml');
    expect(parse(text, { version: '1.1', merge: true })).toEqual(parse(text));
  });
});

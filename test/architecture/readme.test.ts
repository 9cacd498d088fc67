import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseCommandLine } from '../../src/cli/run.ts';
import { verbs } from '../../src/cli/verbs.ts';
import { publishedSpeeds } from '../../src/drivers/known/tables.generated.ts';
import { sessionClaims } from '../cli/readme-session.ts';
import { prose, readme, sentences, sessionCommands, shellWords } from '../readme-text.ts';
import { filesBelow, root, textOf } from './sources.ts';

/** Asserts that these are complete, valid command lines. */
function accepts(...lines: readonly string[]): void {
  for (const line of lines) {
    const [program, ...words] = shellWords(line);
    const parsed = parseCommandLine(verbs, { out: () => undefined, columns: 80 }, words);
    expect([line, program, parsed.kind]).toEqual([line, 'meshwright', 'verb']);
  }
}

/** Asserts that a page or a source contains this text. */
const contains = (path: string, text: string | RegExp): void => {
  expect(textOf(path).replaceAll(/\s+/g, ' ')).toMatch(text);
};

/** Asserts that these tests, which prove a claim, exist. */
function provenBy(...tests: readonly string[]): void {
  expect(tests.filter((path) => !existsSync(join(root, path)) || !/\bit(?:\.|\()/.test(textOf(path)))).toEqual([]);
}

const example: Readonly<Record<string, unknown>> = parse(textOf('cluster.example.yaml'));
const schema = JSON.parse(textOf('schemas/cluster.schema.json')) as { properties: Readonly<Record<string, unknown>> };

/** The published speed that `bench` shows next to a measurement, for four Macs. */
const published = (model: string, runtime: string, transport: string) =>
  Object.values(publishedSpeeds)
    .flat()
    .find(
      (one) =>
        one.nodes === 4 && one.model.includes(model) && one.runtime.startsWith(runtime) && one.transport === transport,
    );

/** The target of the reference `[test]`. */
const cited = /^\[test\]: (\S+)$/m.exec(readme)?.[1];

/** Claims of the README with their checks. Claims that need a rack are in `sessionClaims`. */
const claims: Readonly<Record<string, () => void>> = {
  'One file, `cluster.yaml`, declares the Macs, the Thunderbolt cables between them, the models, and where each model runs.':
    () => {
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['nodes', 'models', 'placements']));
      expect(example['thunderbolt']).toHaveProperty('links');
    },
  'two 512 GB and two 256 GB Mac Studios have 1.5 TB of memory': () => {
    const nodes = Object.values(example['nodes'] as Record<string, { hardware: { memory: string } }>);
    const sizes = nodes.map(({ hardware }) => Number.parseInt(hardware.memory, 10)).sort();
    expect(sizes).toEqual([256, 256, 512, 512]);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1.5 * 1024);
  },
  "RDMA over Thunderbolt 5 cut the latency from 300 µs to under 50 µs [in Jeff Geerling's test of such a rack][test]":
    () => expect(cited).toBe(published('Qwen3-235B', 'exo', 'rdma')?.source),
  'There Qwen3 235B ran at 31.9 tokens per second on four Macs with exo over RDMA': () =>
    expect(published('Qwen3-235B', 'exo', 'rdma')).toMatchObject({ generationSpeed: 31.9, source: cited }),
  'and at 15.2 with llama.cpp over TCP': () =>
    expect(published('Qwen3-235B', 'llama.cpp', 'tcp')).toMatchObject({ generationSpeed: 15.2, source: cited }),
  'meshwright plans every change before it makes it': () =>
    expect(verbs.find(({ name }) => name === 'apply')?.more).toMatch(/shows the plan/i),
  'runs [exo](docs/exo.md), [MLX](docs/mlx.md), [llama.cpp](docs/llamacpp.md) or a program of your own': () => {
    const { runtimes } = parse(textOf('docs/cluster.full.yaml')) as { runtimes: Record<string, { driver: string }> };
    const drivers = new Set(Object.values(runtimes).map(({ driver }) => driver));
    expect([...drivers].sort()).toEqual(['command', 'exo', 'llamacpp-rpc', 'mlx']);
  },
  'says which cable, setting or process is wrong and what to do about it': () => accepts('meshwright doctor'),
  'Both commands work on a fresh machine with Node 20.19 or later': () => {
    const { engines, scripts } = JSON.parse(textOf('package.json')) as Record<string, Record<string, string>>;
    expect([engines?.['node'], scripts?.['demo'] !== undefined, scripts?.['test']]).toEqual([
      '>=20.19',
      true,
      'vitest run',
    ]);
  },
  'on macOS or on Linux with perl, curl and ps.': () => contains('CONTRIBUTING.md', /perl, curl and ps/),
  'Nothing is compiled from C or C++.': () => contains('.npmrc', 'ignore-scripts=true'),
  '[docs/rehearsal.md](docs/rehearsal.md) shows how to break the simulated rack, how to connect Open WebUI or another client to it, and how to rehearse a change of your own.':
    () => contains('docs/rehearsal.md', /Open WebUI.*sim fault cable-swapped .*next\.yaml/),
  'copy an [example](docs/first-rack.md#1-write-the-file) for two, three or four Macs,': () => {
    const named = [...textOf('docs/first-rack.md').matchAll(/\(\.\.\/((?:examples\/)?[\w.-]+\.yaml)\)/g)].map(
      ([, path = '']) => path,
    );
    const files = [
      ...filesBelow('examples').filter((path) => /^examples\/[^/]+\.yaml$/.test(path)),
      'cluster.example.yaml',
    ];
    expect(named.sort()).toEqual(files.sort());
    const sizes = files.map((path) => Object.keys((parse(textOf(path)) as { nodes: object }).nodes).length);
    expect(new Set(sizes)).toEqual(new Set([2, 3, 4]));
  },
  'edit `cluster.yaml` ([every key](docs/cluster-yaml.md)), then run `meshwright validate`': () =>
    accepts('meshwright validate'),
  '`meshwright plan` and `meshwright apply`.': () => accepts('meshwright plan', 'meshwright apply'),
  '`meshwright enroll --card` (a page of instructions for each Mac), `meshwright enroll --all`': () =>
    accepts('meshwright enroll --card', 'meshwright enroll --all'),
  'create the account, turn on Remote Login, and allow full disk access for remote users': () =>
    contains('docs/enroll.md', /Remote Login/),
  'turn it on in Recovery or, from macOS 27 on, in System Settings': () =>
    contains('docs/rdma.md', /27 and later.*System Settings/),
  'No known command can do this over SSH.': () => {
    const sent = filesBelow('src').filter((path) => path.endsWith('.sh'));
    expect(sent.length).toBeGreaterThan(20);
    expect(sent.filter((path) => textOf(path).includes('rdma_ctl enable'))).toEqual([]);
  },
  'plug them in': () => accepts('meshwright cables --watch'),
  'press the power button on any Mac that is off': () => contains('docs/rehearsal.md', /sim power-on studio-2/),
  '(`meshwright unlock` sends a FileVault password over SSH.)': () => accepts('meshwright unlock studio-1'),
  'With `--wait-for-hands` it waits for you instead.': () => accepts('meshwright apply --wait-for-hands'),
  "It follows Apple's documentation and published captures, and is tested on simulated Macs and with real OpenSSH.":
    () => provenBy('test/scenarios/demo-sshd.slow.test.ts'),
  'The real mlx-lm and llama.cpp run in the tests, but only over TCP; exo does not.': () =>
    provenBy('test/namespace/mlx-real.test.ts', 'test/namespace/llama.test.ts'),
  '[docs/unverified.md](docs/unverified.md) lists the assumptions, each with the command that would confirm it.': () =>
    expect(textOf('docs/unverified.md').match(/^\|[^|]+\|[^|]+\|[^|]*`/gm)?.length).toBeGreaterThan(50),
  '[Ten minutes with two Macs and a cable](docs/unverified.md#ten-minutes-with-two-macs-and-a-cable) would help everyone.':
    () => contains('docs/unverified.md', /## Ten minutes with two Macs and a cable/),
  'Observing a Mac changes none of its settings.': () =>
    contains('docs/adr/0002-one-exec-per-observation.md', /mktemp -d/),
  'If meshwright gets an answer that it does not expect, it treats the fact as unknown': () =>
    provenBy('test/property/facts-seeded-damage.sampled.test.ts'),
  'it never changes a setting whose value is unknown.': () => provenBy('test/property/plan.sampled.test.ts'),
  'Before the first `apply` on real Macs, read the plan, start with one Mac (`--nodes studio-1`), and keep a record of every command (`--record sent.ndjson`)':
    () => accepts('meshwright apply --nodes studio-1 --record sent.ndjson'),
  '**A run may be interrupted at any time.**': () =>
    provenBy('test/scenarios/kill-apply.slow.test.ts', 'test/cli/kill-drawn.slow.test.ts'),
  '**Two runs never change one Mac at the same time.** Each run takes a lease on every Mac that it changes.': () =>
    provenBy('test/cli/lease-held.slow.test.ts'),
  '**Nothing is interrupted without your consent.**': () => accepts('meshwright apply --allow interrupt'),
  '**A placement is serving only if it returned a token.**': () => contains('docs/mesh.md', /token/),
  '**`apply` removes what you removed from the file** if the Mac shows that meshwright put it there: ranks, addresses, and all older versions of a runtime but one. Models stay.':
    () => provenBy('test/scenarios/converge-moves.slow.test.ts', 'test/scenarios/converge-traces.slow.test.ts'),
  '`uninstall` removes meshwright itself from a Mac.': () => accepts('meshwright uninstall studio-1'),
  '[docs/commands.md](docs/commands.md) has every command, the exit codes, and where files are stored.': () =>
    contains('docs/commands.md', /## Exit codes.*## Files/),
  'meshwright refuses each of these today, a command with exit code 64 and a key with exit code 65:': () =>
    provenBy('test/cli/readme-missing.test.ts'),
  '[All pages](docs/README.md)': () => contains('docs/README.md', /cluster-yaml\.md/),
};

/** Sentences without a claim about the program. */
const background = [
  'meshwright turns a few Mac Studios into one machine for large language models.',
  'A *runtime* is the program that runs a model, such as exo.',
  'A *placement* is one model on some of the Macs, and its processes there are its *ranks*.',
  "A *lease* is one run's exclusive right to change a Mac.",
  'meshwright is not on npm yet, so these commands build it first:',
  '**Why several Macs?**',
  'They can serve a model that is too large for one of them:',
  '**Why RDMA?**',
  '**Why meshwright?**',
  'Every token needs many short messages between the Macs.',
  'Such a rack is usually kept alive with shell history, hand-written hostfiles and `pkill`.',
  'three bridged Macs in a ring take the office network down.',
  '**All of this was written without a Mac Studio.**',
];

const accepted = [...Object.keys(claims), ...Object.keys(sessionClaims), ...background];

/** The words of a text without markup and punctuation. */
const bare = (part: string): string =>
  part
    .replaceAll(/^- |\*\*|[.,;:)(]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The rest of a sentence after all claims are removed. */
function unclaimed(sentence: string): string {
  const longestFirst = accepted.map(bare).sort((a, b) => b.length - a.length);
  if (longestFirst.some((claim) => claim.includes(bare(sentence)))) return '';
  return longestFirst.reduce((rest, claim) => rest.replace(claim, ' '), bare(sentence)).trim();
}

/** Permitted remainders: headings of list items, and words that join claims. */
const joints = /^(?:Setup|RDMA|Cables|Power|and|On your rack)?$/;

describe('README.md', () => {
  it.each(Object.keys(claims))('makes only true claims: %s', (claim) => {
    expect(prose).toContain(claim);
    claims[claim]?.();
  });

  it.each([...Object.keys(sessionClaims), ...background])('contains: %s', (claim) => {
    expect(prose).toContain(claim);
  });

  it('contains only sentences that are in these tables', () => {
    expect(sentences.length).toBeGreaterThan(40);
    expect(sentences.map(unclaimed).filter((rest) => !joints.test(rest))).toEqual([]);
  });

  it('shows only commands and options that exist', () => {
    accepts(...sessionCommands.map((command) => command.split(' && ')[0] ?? ''));
    const quoted = [...readme.matchAll(/`(meshwright [^`]+)`/g)].map(([, command = '']) => command);
    expect(quoted.length).toBeGreaterThan(5);
    accepts(...quoted);
    const options = verbs.flatMap(({ options: own }) => own.map(({ flags }) => flags.split(' ')[0]));
    const named = [...readme.matchAll(/`(--[a-z-]+)/g)].map(([, name]) => name);
    const global = ['--nodes', '--record', '--yes'];
    expect(named.filter((name) => ![...options, ...global].includes(name))).toEqual([]);
  });

  it('lists only existing everyday commands', () => {
    const everyday = /## Everyday commands\n\n([\s\S]*?)\n\n/.exec(readme)?.[1] ?? '';
    const rows = [...everyday.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
    const names = verbs.filter(({ isHidden }) => isHidden !== true).map(({ name }) => name);
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter((name) => !names.includes(name ?? ''))).toEqual([]);
  });

  it('has at most 150 lines and links only to existing files', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
    expect(targets.length).toBeGreaterThan(15);
    expect(targets.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('links to every page', () => {
    const linked = [...textOf('docs/README.md').matchAll(/\]\(([\w.-]+\.md)\)/g)].map(([, path]) => `docs/${path}`);
    const pages = filesBelow('docs').filter((path) => /^docs\/[^/]+\.md$/.test(path) && path !== 'docs/README.md');
    expect([...new Set(linked)].sort()).toEqual(pages);
  });
});

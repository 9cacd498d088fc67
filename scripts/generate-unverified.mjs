/**
 * Lists every unconfirmed answer of the simulated Macs in `docs/unverified.md`, between two markers: rows of grade
 * `unconfirmed` in src/sim/tools, base tools of that grade, and the tools' output for unknown arguments.
 */
import { loadCluster } from '../src/engine/load-cluster.ts';
import { baseTools } from '../src/sim/hosts/base-tools/all-base-tools.ts';
import { simulateFleet } from '../src/sim/simulate-fleet.ts';
import { tools } from '../src/sim/tools/registry.ts';
import { formsOf } from '../test/unit/sim/tools/command-forms.ts';
import { writeGeneratedPart } from './written-page.mjs';

/** A Mac Studio, a Mac mini with Thunderbolt 4 and a laptop, which together have every row. */
const racks = ['remove', 'keep'].map(
  (bridge) => `schema: 1
name: unverified
nodes:
  studio: { host: 192.0.2.1, hardware: { model: "Mac15,14" } }
  mini: { host: 192.0.2.2, hardware: { model: "Mac16,10" } }
  laptop: { host: 192.0.2.3, hardware: { model: "Mac17,7" } }
thunderbolt:
  bridge: ${bridge}
  addressing: { pool: 10.77.0.0/24 }
  links: [studio:2 <-> laptop:2]
`,
);

/** Number of commands shown per claim; further ones differ only in a name. */
const shownAtMost = 3;

writeGeneratedPart('docs/unverified.md', 'src/sim/tools', rows().join('\n'));

function rows() {
  const commandsByClaim = new Map();
  for (const { command, source } of racks.flatMap(forms)) {
    if (source.grade !== 'unconfirmed') continue;
    const commands = commandsByClaim.get(source.text) ?? [];
    commandsByClaim.set(source.text, new Set([...commands, ...alternatives(command)]));
  }
  const sorted = [...commandsByClaim].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    '| the simulated answer | run on a Mac |',
    '|---|---|',
    ...sorted.map(([claim, commands]) => row(claim, commands)),
  ];
}

function row(claim, commands) {
  const all = [...commands].sort();
  const shown = all.slice(0, shownAtMost).map(runnable);
  const more = all.length > shownAtMost ? [`${all.length - shownAtMost} more like these`] : [];
  return `| ${cell(claim)} | ${cell([...shown, ...more].join(', '))} |`;
}

/** An sh pattern after the tool's path stands for several command lines, in which a person replaces NAME. */
function runnable(command) {
  const [, path, pattern] = /^(\S+) \((.+)\)$/.exec(command) ?? [];
  const commands = path === undefined ? [command] : pattern.split(' | ').map((one) => `${path} ${typed(one)}`);
  return commands.map((one) => one.replace(/^(.+?)( as a user without root)?$/, '`$1; echo $?`$2')).join(', ');
}

/** One command line for each alternative in a word such as `on|off`, which a shell would take for a pipe. */
function alternatives(command) {
  const [words] = /\S+\|\S+/.exec(command) ?? [];
  if (words === undefined) return [command];
  return words.split('|').flatMap((one) => alternatives(command.replace(words, one)));
}

/** A pattern without its number of arguments and quotes, and with NAME for its wildcards. */
function typed(pattern) {
  return pattern.replaceAll(/^'?\d+:|'/g, '').replaceAll(/\*\[![^\]]+\]\*|\*/g, 'NAME');
}

function cell(words) {
  return words.replaceAll('|', '\\|');
}

/** Every answer of every Mac in a rack, and every tool's refusal. */
function forms(rack) {
  const { fleet: desired } = loadCluster(rack, 'unverified');
  if (desired === undefined) throw new Error('the rack in this script is no longer a valid cluster file');
  const made = simulateFleet(desired, 'unverified');
  if (made.kind === 'refused') throw new Error(made.diagnostics.map(({ detail }) => detail).join('\n'));
  const { fleet } = made;
  const refusals = tools.map(({ path, usage }) => ({ command: `${path} -Z`, source: usage.source }));
  const base = baseTools.flatMap(({ path, forms: words, source }) =>
    words.split(' | ').map((one) => ({ command: `${path} ${one}`, source })),
  );
  return [...fleet.macs.flatMap((mac) => formsOf({ fleet, mac })), ...refusals, ...base];
}

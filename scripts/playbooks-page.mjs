/** The page about playbooks: the keys and tasks from the schema, with the shipped playbooks as examples. */
import { readFileSync } from 'node:fs';
import { ownPlaybooks } from '../src/engine/playbooks/own-playbooks.ts';
import { tasks } from '../src/engine/playbooks/playbook.ts';
import { keyTable } from './docs-pages.mjs';

const { $defs, description } = JSON.parse(readFileSync('schemas/playbook.schema.json', 'utf8'));

/** A part of the schema without references. */
function inlined(part) {
  if (Array.isArray(part)) return part.map(inlined);
  if (typeof part !== 'object' || part === null) return part;
  const { $ref, ...own } = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, inlined(value)]));
  if ($ref === undefined) return own;
  const target = inlined($defs[$ref.replace('#/$defs/', '')]);
  return { ...target, ...own, description: [own.description, target.description].filter(Boolean).join(' ') };
}

/** One playbook for each optional key of a play that decides what happens between batches. */
const examples = {
  windows: `about: Reboots the rack in the nights of the weekend, one unit after another.
plays:
  - nodes: all
    serial: unit
    windows:                                    # after 05:30, no further unit begins
      - { days: [fri, sat], from: "22:00", to: "05:30", zone: Europe/Berlin }
    tasks:
      - reboot: {}
      - wait: { for: observed, deadline: 15m }
      - converge: { only: [wired-limit] }
      - start: {}
`,
  blockers: `about: Restarts placements only while no client waits for an answer, and nothing else forbids it.
plays:
  - nodes: all
    serial: unit
    blockers:
      - requests: 0                             # of the batch's placements, counted by their gateways
      - file: /var/run/no-restart               # exists on no Mac of the batch
      - command: [/usr/bin/curl, -fs, -m, "10", "http://monitor.lan/silenced/{node}"]
    tasks:
      - restart: {}
`,
  respect: `about: Reboots up to four Macs at a time, but never two placements that serve.
plays:
  - nodes: all
    serial: 4                                   # Macs without a placement that come next fill the batch
    respect: placements
    tasks:
      - reboot: {}
      - wait: { for: observed, deadline: 15m }
      - converge: { only: [wired-limit] }
      - start: {}
`,
  rescue: `about: Brings back what a restart left down, and tells the person on call.
plays:
  - nodes: all
    serial: unit
    tasks:
      - restart: {}
    rescue:                                     # for all Macs of a batch in which a Mac failed
      - recover: {}
      - notify: { command: [./page.sh, "{placements} on {nodes} failed"] }
`,
  bake: `about: Applies the file to one unit, and to all others if this unit has served for ten minutes.
plays:
  - nodes: all
    serial: [unit, "100%"]
    bake: 10m
    tasks:
      - converge: {}
`,
  maxFailures: `about: Sets power and memory limits, and tolerates two Macs that are switched off.
plays:
  - nodes: all
    serial: 1
    maxFailures: 2                              # ends at the third Mac that fails or cannot be observed
    tasks:
      - converge: { only: [power, wired-limit] }
`,
};

export function playbooksPage() {
  const { task: _, ...defs } = $defs;
  const { rescue, tasks: list, ...keys } = defs.play.properties;
  const playKeys = {
    ...inlined(keys),
    rescue: { description: rescue.description, type: 'array' },
    tasks: { description: list.description, type: 'array' },
  };
  const rows = Object.entries($defs.task.properties).map(([name, part]) => taskRow(name, inlined(part)));
  return `<!-- Generated from schemas/playbook.schema.json by \`npm run generate\`; never edited by hand. -->
# Playbooks

${description}

\`\`\`sh
meshwright run ./night.yaml --check                      # shows every batch with its effects, changes nothing
meshwright run ./night.yaml                              # shows the same, asks once, and runs
meshwright run ./night.yaml --yes --allow interrupt      # in CI
meshwright run rolling-reboot --all                      # one of the playbooks below
\`\`\`

The keys of the file are \`playbook: 1\`, \`about\` (one sentence, shown before it runs) and \`plays\`. A play is a list of
tasks for some Macs. Unknown keys and names are refused, all at once, with their places in the file. To let an editor
complete the keys, begin the file with \`# yaml-language-server: $schema=./schemas/playbook.schema.json\`.

## Rolling changes

Macs that a placement connects are a **unit**: if one of them stops, the placement stops. Placements that share a Mac are
one unit, and a fallback's Macs belong to it. If a task may stop placements, a batch consists of whole units, so that no
placement is interrupted twice, and a number or share that is smaller than a unit is refused. \`serial: unit\` takes one
unit at a time; the first one is the canary. If there is only one unit, no canary can go first, and the preview says
that everything stops.

A batch ends with the play's \`bake\` time, in which its placements must return tokens. If a Mac of the batch failed, the
play's \`rescue\` tasks run. If more Macs failed than \`maxFailures\` allows, no further batch begins, and the other units
stay untouched. A Mac whose result is unknown counts as failed. At the end, everything that the last play has baked is
checked once more, because a Mac can be lost while later batches run.

\`stop\`, \`restart\`, \`reboot\` and \`shutdown\` drain first: gateways refuse new requests, and requests in flight get
30 s. Add \`drain\` before them for a longer time. A placement without a gateway is drained by stopping it. A placement
that hangs or whose state is unknown cannot be drained: the playbook ends before the batch begins, unless \`recover\` or a
\`drain\` with a \`deadline\` comes first in the play.

## Consent

All batches are shown before the first task, with their rescues and the effects of the whole playbook, and one question is
asked. Without a terminal, \`--yes\` and \`--allow\` answer it. During the run, a plan with other disruptive effects needs
another yes; without a terminal, it ends the run. If a play chooses its Macs by label, the cluster file is read again
before each task: a Mac that lost its label is left out, and a Mac that got it is not added.

\`--check\` takes the same path and ends before the question. It runs no program and sends no notice, and it evaluates
neither \`windows\` nor \`blockers\`. It exits with 2 if there is something to do. What \`recover\` does depends on what
it measures when it runs, so the preview says the most that it may do.

## Examples

Each is a whole playbook.

${Object.entries(examples)
  .map(([key, text]) => `\`${key}\`:\n\n\`\`\`yaml\nplaybook: 1\n${text}\`\`\`\n`)
  .join('\n')}
## Keys of a play

${keyTable({ properties: playKeys, required: $defs.play.required })}

## Tasks

A task is a map with one key. A file may use these tasks, and no others:

| task | meaning | may disturb | a second time |
|---|---|---|---|
${rows.join('\n')}

Their arguments:

${keyTable({ properties: inlined($defs.task.properties), onlyBelow: true })}

## Playbooks that are included

\`run\` takes these by name. A file of yours never replaces one of them, but you can copy and change it.

${ownPlaybooks.map(exampleText).join('\n')}`;
}

function taskRow(name, { description: meaning }) {
  const { disturbs = 'nothing', twice } = tasks[name];
  return `| \`${name}\` | ${[meaning, disturbs, twice].map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

function exampleText(name) {
  const text = readFileSync(`playbooks/${name}.yaml`, 'utf8').replace(/^#.*\n/, '');
  return `### ${name}\n\n\`\`\`yaml\n${text}\`\`\`\n`;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allProbes, factNames } from '../../src/engine/observe/facts.ts';
import { parseFrames } from '../../src/node/frames.ts';
import { factsText } from '../../src/report/facts-text.ts';
import { type HostileNode, saying, startHostileNode } from '../hostile/hostile-node.ts';
import { everyPoison, harmIn, markFile, poisons } from '../hostile/poison.ts';
import { recordFrames, type Said, saidBy } from '../hostile/recorded-frames.ts';
import { shared } from '../rack/kept-running.ts';
import { plainPage } from '../rack/page.ts';
import { observedFleet } from '../rack/rack.ts';
import { makeSshCase } from '../sshd/ssh-case.ts';
import { commandPlace, type Printed } from './observe-command.ts';
import { observe, startExampleRack, unknownFacts } from './observe-rack.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const probes = allProbes();
const rack = shared(() => startExampleRack());
const keys = makeSshCase('mesh');
let honest: readonly Said[];
beforeAll(async () => {
  const { bytes } = await recordFrames(rack.way('studio-1'), boundary);
  honest = saidBy(parseFrames(bytes, { probes, boundary }));
});
afterAll(() => keys.remove());

const textOf = ({ out }: Said): string => out.toString();

/** The honest answers, with some changed by probe name. */
const but = (changes: Readonly<Record<string, (text: string) => string>>): readonly Said[] =>
  honest.map((said, index) => {
    const change = changes[probes[index]?.name ?? ''];
    return change === undefined ? said : { ...said, out: change(textOf(said)) };
  });

/** Replaces every string value of a JSON text, but no key. */
function poisonJson(text: string, poison: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) => (typeof value === 'string' ? poison : value));
}

/** The same for a property list in XML, whose strings have no escapes for such characters. */
const poisonXml = (text: string, poison: string): string =>
  text.replaceAll(/<string>[^<]*/g, () => `<string>${poison.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}`);

const isXml = (text: string): boolean => text.startsWith('<?xml');
const isJson = (text: string): boolean => text.trimStart().startsWith('{') || text.trimStart().startsWith('[');
const oneLine = (text: string): string => text.replaceAll(/[\n\r]+/g, ' ').trim();

/** The output of a hostile node, and its required result. */
interface Row {
  readonly output: () => readonly Said[];
  /** Facts that become unknown, and the reasons. All others are known, some of them from a second source. */
  readonly unknown: Readonly<Record<string, string>> | 'every';
  /** Exit codes of `facts` and `status` if they observe only this node. */
  readonly exits: readonly [facts: number, status: number];
}

/** The documented result of everything that well-formed frames can contain. */
const table: Readonly<Record<string, Row>> = {
  'poison as the whole output of every tool': {
    output: () => honest.map(() => ({ out: everyPoison })),
    unknown: 'every',
    exits: [0, 1],
  },
  'poison on stderr of every tool, which fails': {
    output: () => honest.map(() => ({ out: '', err: everyPoison, code: 1 })),
    unknown: 'every',
    exits: [0, 1],
  },
  'printable poison on stderr of every tool, which fails': {
    output: () => honest.map((_, index) => ({ out: '', err: `${poisonAt(index)}\n`, code: 1 })),
    unknown: 'every',
    exits: [0, 1],
  },
  'poison in every string of every JSON answer and property list': {
    output: () =>
      honest.map((said) => {
        const text = textOf(said);
        if (isXml(text)) return { ...said, out: poisonXml(text, everyPoison) };
        return isJson(text) ? { ...said, out: poisonJson(text, everyPoison) } : said;
      }),
    unknown: { thunderbolt: 'garbled', 'service-addresses': 'garbled' },
    exits: [0, 1],
  },
  'invalid UTF-8 in every answer': {
    output: () =>
      honest.map((said) => ({
        ...said,
        out: Buffer.concat([Buffer.from(said.out), Buffer.from([0xff, 0xfe, 0xc0, 0xaf])]),
      })),
    unknown: 'every',
    exits: [0, 1],
  },
  'JSON and property lists that are cut, nested too deeply, or have keys of JavaScript objects': {
    output: () => {
      const json = [
        '{"SPHardwareDataType":[{"serial',
        `${'['.repeat(200_000)}`,
        '{"__proto__":{"serial_number":"ABCDEFGH12"}}',
      ];
      let next = 0;
      return honest.map((said) => {
        const text = textOf(said);
        if (isXml(text)) return { ...said, out: text.replace('<dict>', '<array>'.repeat(8_000)) };
        return isJson(text) ? { ...said, out: json[next++ % json.length] ?? '' } : said;
      });
    },
    unknown: { thunderbolt: 'garbled', 'bridge-preferences': 'garbled', 'service-addresses': 'garbled' },
    exits: [0, 1],
  },
  'impossible numbers': {
    output: () =>
      but({
        sysctl: (text) =>
          text
            .replace(/^hw\.memsize: .*$/m, 'hw.memsize: 99999999999999999999999')
            .replace(/^iogpu\.wired_limit_mb: .*$/m, 'iogpu.wired_limit_mb: -1')
            .replace(/sec = \d+/, 'sec = 1e400'),
        'data-volume': (text) => text.replaceAll(/ \d{6,}/g, ' 18446744073709551616'),
        'pmset-custom': (text) => text.replaceAll(/ \d+$/gm, ' NaN'),
        date: () => '-99999999999\n',
      }),
    unknown: {
      hardware: 'garbled',
      'wired-limit': 'garbled',
      'boot-session': 'garbled',
      'disk-space': 'garbled',
      power: 'garbled',
      clock: 'garbled',
    },
    exits: [0, 1],
  },
  'a serial number with a line break and a command': {
    output: () =>
      but({
        'hardware-profile': (text) => text.replace(/"serial_number" *: *"[^"]*"/, '"serial_number":"ABC\\n::error::x"'),
      }),
    unknown: {},
    exits: [0, 0],
  },
};

const printable = Object.values(poisons).map(oneLine);
const poisonAt = (index: number): string => printable[index % printable.length] ?? '';

async function withRow(row: Row, body: (node: HostileNode) => Promise<void>): Promise<void> {
  const node = await startHostileNode(keys.host, { onExec: saying(row.output()) });
  try {
    await body(node);
  } finally {
    await node.stop();
  }
}

/** Expects output that no terminal, shell or CI obeys. */
function expectHarmless({ stdout, stderr }: Printed): void {
  expect(harmIn(stdout)).toEqual([]);
  expect(harmIn(stderr)).toEqual([]);
}

describe('a node with hostile tools', () => {
  it.each(Object.entries(table))('gives the documented facts and harmless output with %s', async (_, row) => {
    await withRow(row, async (node) => {
      const observed = await observe([node.way(rack, 'studio-1')]);
      expect(observed.failures).toEqual({});
      const unknown = unknownFacts(observed, 'studio-1');
      if (row.unknown === 'every') expect(Object.keys(unknown).toSorted()).toEqual(factNames.toSorted());
      else expect(unknown).toEqual(row.unknown);

      const place = await commandPlace({ 'studio-1': node.run }, rack.fleet.userKey.path);
      const verbs = ['facts', 'status'].flatMap((verb) => [[verb], [verb, '--json']]);
      const printed = await Promise.all(verbs.map((words) => place.run(...words, 'studio-1')));
      for (const one of printed) expectHarmless(one);
      const [facts, status] = row.exits;
      expect(printed.map(({ code }) => code)).toEqual([facts, facts, status, status]);
      const json = JSON.parse(printed[1]?.stdout ?? '') as { readonly nodes: Readonly<Record<string, object>> };
      expect(Object.keys(json.nodes['studio-1'] ?? {})).toHaveLength(factNames.length);
      expect(existsSync(join(place.folder, markFile))).toBe(false);
      await place.remove();
    });
  });
});

describe('the harm detector', () => {
  it.each(Object.entries(poisons))('detects poison of kind %s unless it is harmless in raw form', (name, text) => {
    const isForEvaluators = ['template', 'shell', 'javascript', 'markup', 'lookup'].includes(name);
    expect(harmIn(text).length > 0).toBe(!isForEvaluators);
  });
});

describe('text from a node on the facts page', () => {
  const withName = (chip: string) =>
    observedFleet({ names: ['studio-1'], values: { 'studio-1': { hardware: { model: chip, chip, memoryBytes: 1 } } } });
  const page = (text: string, columns: number): string =>
    factsText(
      { observation: withName(text), order: ['studio-1'], names: factNames },
      plainPage({ columns, unicode: true, isSimulated: true }),
    );

  it.each(Object.entries(poisons))('is rendered harmless with poison of kind %s', (_, text) => {
    for (const columns of [20, 40, 80, 200]) expect(harmIn(page(text, columns))).toEqual([]);
  });

  it('never wraps so that a command ends up at the start of a line', () => {
    for (let before = 0; before < 200; before += 1) {
      expect(harmIn(page(`${'x'.repeat(before)}::error file=a::${'y'.repeat(50)}##[error]`, 80))).toEqual([]);
      expect(harmIn(page(`${'x'.repeat(before)}::error::boom`, 37))).toEqual([]);
    }
  });
});

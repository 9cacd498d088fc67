import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const load = (text: string | Uint8Array) => loadCluster(text, 'cluster.yaml');
const places = (text: string) => load(text).diagnostics.map((one) => [one.code, one.where?.line, one.where?.column]);
const head = 'schema: 1\nname: rack\n';

describe('loadCluster', () => {
  it('reports syntax and semantic problems together, sorted by position', () => {
    const text = `${head}nodes:
  studio-1: { host: studio-1.lan, hots: x, hardware: { model: "Mac16,11" } }
  studio-2: { host: studio-1.lan }
macos: { version: 26.10, accept: ">=27 <26" }
thunderbolt:
  bridge: gone
  links:
    - studio-1:9 <-> studio-2:1
    - studio-1:2 <-> studio-3:1
    - nonsense
`;
    expect(places(text)).toEqual([
      ['schema/unknown-key', 4, 35],
      ['topology/duplicate-address', 5, 21],
      ['version/not-text', 6, 19],
      ['version/bad-range', 6, 34],
      ['schema/not-allowed', 8, 11],
      ['topology/no-such-receptacle', 10, 7],
      ['topology/unknown-node', 11, 22],
      ['schema/bad-form', 12, 7],
    ]);
    expect(load(text).fleet).toBeUndefined();
  });

  it('reports all missing keys in one diagnostic, next to other problems', () => {
    const problems = (text: string) => load(text).diagnostics.map(({ code, detail, hint }) => [code, detail, hint]);
    const all = [
      'schema/missing-key',
      'The file has no `schema`, `name` or `nodes`.',
      'Add them, such as `schema: 1`, `name: studio-rack` and `nodes:`.',
    ];
    expect(problems('{}\n')).toEqual([all]);
    expect(problems('ssh: {user: a}\n')).toEqual([all]);
    expect(problems('x: 1\n').map(([code]) => code)).toEqual(['schema/missing-key', 'schema/unknown-key']);
    expect(places(`${head}nodes:\n  Studio_1: {}\n`)).toEqual([
      ['schema/bad-name', 4, 3],
      ['schema/missing-key', 4, 3],
    ]);
    expect(problems('schema: 1\nnodes: { a: { host: a.lan } }\n')).toEqual([
      ['schema/missing-key', 'The file has no `name`.', 'Add it, such as `name: studio-rack`.'],
    ]);
    expect(load('{}\n').diagnostics[0]?.label).toBe('schema, name and nodes are missing');
  });

  it('suggests quotes around a number only if the quotes make the value valid', () => {
    const hint = (line: string) => load(`${head}nodes: { a: { ${line} } }\n`).diagnostics.map((one) => one.hint);
    expect(hint('host: 10.1')).toEqual([expect.stringContaining('an IPv4 address')]);
    expect(hint('host: 1e3')).toEqual(['Put it in quotes: "1e3"']);
    expect(hint('host: a.lan, user: 12')).toEqual([expect.stringContaining('beginning with a letter or `_`')]);
    expect(hint('host: a.lan, labels: { shelf: 3 }')).toEqual(['Put it in quotes: "3"']);
  });

  it('refuses hexadecimal numbers and every number that YAML 1.1 reads differently', () => {
    const codes = (port: string) =>
      load(`${head}nodes: { a: { host: a.lan, port: ${port} } }\n`).diagnostics.map((one) => one.code);
    for (const port of ['022', '0o26', '2e1', '2.2e1', '0x16'])
      expect([port, codes(port)]).toEqual([port, ['yaml/ambiguous-number']]);
    for (const port of ['22', '+22']) expect([port, codes(port)]).toEqual([port, []]);
  });

  it('reports positions as editors count them, despite a byte order mark and CRLF', () => {
    const text = `${head}nodes: { a: { host: a.lan, prot: 1 } }\n`;
    expect(places(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual([['schema/unknown-key', 3, 28]]);
    expect(places(`\ufeffscheme: 1\n`)[0]).toEqual(['schema/missing-key', 1, 1]);
    const bytes = new TextEncoder().encode(`\ufeff${text.replaceAll('\n', '\r\n')}`);
    expect(load(bytes).diagnostics[0]?.where).toMatchObject({ line: 3, column: 28, endColumn: 32 });
  });

  it('keeps names and other text exactly as written', () => {
    const { fleet } = load(`${head}nodes:
  "no": { host: "on", labels: { "y": "off", "1e3": "0755" } }
  constructor: { host: c.lan }
  12: { host: "1e3.lan" }
  "007": { host: d.lan }
`);
    expect(fleet?.nodes.map((node) => [node.name, node.host, node.labels])).toEqual([
      ['007', 'd.lan', {}],
      ['12', '1e3.lan', {}],
      ['constructor', 'c.lan', {}],
      ['no', 'on', { y: 'off', '1e3': '0755' }],
    ]);
  });

  it('reads unquoted YAML 1.1 values such as no and 1e3 as text, with a warning', () => {
    const { fleet, diagnostics } = load(`${head}nodes:\n  no: { host: on }\n  1e3: { host: yes }\n`);
    expect(fleet?.nodes.map((node) => [node.name, node.host])).toEqual([
      ['1e3', 'yes'],
      ['no', 'on'],
    ]);
    expect(diagnostics.map((one) => one.severity)).toEqual(['warning', 'warning', 'warning', 'warning']);
  });

  it("expands aliases and merge keys, preferring the node's own keys", () => {
    const { spec, diagnostics } = load(`${head}nodes:
  a: &a { host: a.lan, port: 2222, hardware: &studio { model: "Mac15,14" } }
  b: { <<: *a, host: b.lan }
  c: { host: c.lan, hardware: *studio, <<: [{ user: ana }, { user: eve, port: 2200 }] }
`);
    expect(diagnostics).toEqual([]);
    expect(spec?.nodes).toEqual({
      a: { host: 'a.lan', port: 2222, hardware: { model: 'Mac15,14' } },
      b: { host: 'b.lan', port: 2222, hardware: { model: 'Mac15,14' } },
      c: { host: 'c.lan', user: 'ana', port: 2200, hardware: { model: 'Mac15,14' } },
    });
  });

  it("reports a mistake behind an alias once, at the mistake's own position", () => {
    const text = `${head}nodes:
  a: { host: a.lan, hardware: &h { model: studio } }
  b: { host: b.lan, hardware: *h }
`;
    expect(places(text)).toEqual([['schema/bad-form', 4, 43]]);
  });

  it('does not change prototypes', () => {
    load(`${head}nodes: { __proto__: { polluted: 1 }, a: { <<: { __proto__: { polluted: 1 } } } }\n`);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const { spec } = load(`${head}nodes: { a: { host: a.lan } }\n`);
    expect(Object.getPrototypeOf(spec?.nodes)).toBeNull();
  });

  it('accepts addresses of every kind', () => {
    const hosts = ['studio-1', 'studio_1.lan.', '10.0.0.11', '::1', 'fe80::1%en0', '2001:db8::10.0.0.1'];
    const nodes = hosts.map((host, index) => `  n${index}: { host: "${host}" }\n`).join('');
    expect(load(`${head}nodes:\n${nodes}`).diagnostics).toEqual([]);
  });

  it('suggests a correction that can be typed', () => {
    const hint = (line: string) => load(`${head}nodes: { a: { host: a.lan } }\n${line}\n`).diagnostics[0]?.hint;
    expect(hint('thunderbolt: { lniks: [] }')).toBe('Did you mean `links`?');
    expect(hint('macos: { version: 26.10 }')).toBe('Put it in quotes: "26.10"');
    expect(hint('power: { restartAfterPowerLoss: off }')).toBe('Write false: in YAML 1.2, off is text.');
    expect(hint('system: { fileVault: enable }')).toBe('Did you mean `enabled`? Allowed: any, enabled or disabled.');
    expect(hint('ssh: { port: "2222" }')).toBe('Write 2222 without quotes.');
    expect(hint('port: 22')).toBe('`port` belongs under ssh, nodes.<name> or placements.<name>.endpoint.');
    expect(hint('ssh:')).toBe('Add a value, or remove the key.');
  });

  it('accepts a Mac with Thunderbolt 4 in a file that requires RDMA, but shows a notice', () => {
    const text = `${head}nodes:
  a: { host: a.lan, hardware: { model: "Mac16,10" } }
  b: { host: b.lan }
thunderbolt: { rdma: required, links: ["a:1 <-> b:1"] }
`;
    expect(load(text).diagnostics.map((one) => [one.code, one.severity])).toEqual([['topology/no-rdma', 'notice']]);
  });

  it('names the first matching avoid entry, preferring entries for all Macs', () => {
    const problems = (avoid: string) =>
      load(`${head}nodes: { a: { host: a.lan }, b: { host: b.lan } }
thunderbolt:
  avoid:
${avoid}
  links: [ 'a:3 <-> b:1' ]
`).diagnostics.map(({ code, detail }) => [code, /\((.*)\)/.exec(plainText(detail))?.[1]]);
    expect(problems('    - a:3\n    - 3\n    - 3')).toEqual([['topology/avoided-receptacle', 'line 7']]);
    expect(problems('    - a:4\n    - a:3\n    - a:3')).toEqual([['topology/avoided-receptacle', 'line 7']]);
  });
});

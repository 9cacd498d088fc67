import { describe, expect, it } from 'vitest';
import {
  type Configured,
  configurePlacement,
  type RankConfiguration,
} from '../../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../../src/drivers/contract/driver.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { nodeName } from '../../../src/model/node.ts';
import type { Text } from '../../../src/model/step.ts';
import { renderPath } from '../../../src/node/paths/node-paths.ts';
import { asLogin, fleetOfDriver, type MeshChanges, meshFleet } from '../../rack/placements.ts';

const render = (text: Text, prefix = ''): string => text.map((part) => partText(part, prefix)).join('');

function partText(part: Text[number], prefix: string): string {
  if (typeof part === 'string') return part;
  return part.kind === 'login-user' ? 'LOGIN' : renderPath(part, prefix);
}

function configured(fleet: DesiredFleet, generation = 5): Configured {
  const [kimi] = fleet.placements;
  if (kimi === undefined) throw new Error('the fleet has no placement');
  const configuration = configurePlacement(kimi, asLogin(fleet), generation, lastingNames);
  if (configuration.kind === 'incomplete') throw new Error(configuration.missing);
  return configuration;
}

function rankOf(changes: MeshChanges, rank: number): RankConfiguration {
  const found = configured(meshFleet(changes)).ranks[rank];
  if (found === undefined) throw new Error(`the placement has no rank ${rank}`);
  return found;
}

/** The command line in the service file, still escaped. */
const argvOf = ({ service }: RankConfiguration, prefix = ''): readonly string[] =>
  [...(/<array>(.*)<\/array>/s.exec(render(service, prefix))?.[1] ?? '').matchAll(/<string>(.*)<\/string>/g)].map(
    (match) => match[1] ?? '',
  );

describe('the configuration of a placement', () => {
  it('gives each rank its service file', () => {
    const runtime = digestOf('archive').slice(0, 16);
    const model = digestOf('model').slice(0, 16);
    const { port } = rankOf({}, 1).record;
    expect(render(rankOf({}, 1).service)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
\t<key>EnvironmentVariables</key>
\t<dict/>
\t<key>ExitTimeOut</key>
\t<integer>10</integer>
\t<key>KeepAlive</key>
\t<false/>
\t<key>Label</key>
\t<string>dev.meshwright.rank.kimi</string>
\t<key>ProcessType</key>
\t<string>Interactive</string>
\t<key>ProgramArguments</key>
\t<array>
\t\t<string>/opt/meshwright/runtimes/reference/${runtime}/bin/rank</string>
\t\t<string>--rank</string>
\t\t<string>1</string>
\t\t<string>--listen</string>
\t\t<string>10.77.0.2:${port}</string>
\t\t<string>--model=/opt/meshwright/models/tiny/${model}</string>
\t</array>
\t<key>RunAtLoad</key>
\t<false/>
\t<key>SoftResourceLimits</key>
\t<dict>
\t\t<key>NumberOfFiles</key>
\t\t<integer>65535</integer>
\t</dict>
\t<key>StandardErrorPath</key>
\t<string>/Library/Application Support/meshwright/log/kimi.log</string>
\t<key>StandardOutPath</key>
\t<string>/Library/Application Support/meshwright/log/kimi.log</string>
\t<key>UserName</key>
\t<string>LOGIN</string>
</dict>
</plist>
`);
  });

  it('gives each rank its record, all with the same digest', () => {
    const { digest, ranks } = configured(meshFleet());
    expect(ranks.map(({ node, record }) => [node, record.rank])).toEqual([
      ['studio-1', 0],
      ['studio-2', 1],
      ['studio-3', 2],
    ]);
    expect(new Set(ranks.map(({ record }) => record.port)).size).toBe(1);
    expect(ranks[0]?.record).toEqual({
      placement: 'kimi',
      digest,
      generation: 5,
      rank: 0,
      size: 3,
      port: ranks[0]?.record.port,
      meetPort: 0,
      endpointPort: 8_080,
      tokenPath: '/v1/chat/completions',
      tokenPointer: '/choices/0/message/content',
      tokenDeadlineMs: 20_000,
      logPattern: '',
      driver: 'command',
      declared: expect.stringContaining('"context":"4k"'),
    });
  });

  it('records a limit of one request at a time only for an mlx mesh', () => {
    const requests = (driver: string) => configured(fleetOfDriver(driver)).ranks.map(({ record }) => record.requests);
    expect([requests('mlx'), requests('exo')]).toEqual([
      ['one', 'one', 'one'],
      [undefined, undefined, undefined],
    ]);
    const alone = fleetOfDriver('mlx', { placement: { nodes: [nodeName('studio-2')] } });
    expect(configured(alone).ranks[0]?.record.requests).toBeUndefined();
  });

  it.each(['exo', 'llamacpp-rpc', 'mlx', 'command'])('records where %s counts tokens, if anywhere', (driver) => {
    const { ranks } = configured(fleetOfDriver(driver));
    const counted = driver === 'command' ? undefined : '/usage/completion_tokens';
    expect(ranks.map(({ record }) => record.tokenCountPointer)).toEqual([counted, counted, counted]);
  });

  it('asks for one token in one request', () => {
    expect(JSON.parse(rankOf({}, 0).request)).toEqual({
      model: 'tiny',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 1,
      temperature: 0,
      stream: false,
    });
  });

  it('fills every field', () => {
    const fields = '{rank} {size} {address} {port} {peers} {endpoint} {generation} {context} {sharding} {name} {node}';
    const rank = rankOf({ runtime: { command: ['{runtime}', fields] } }, 2);
    const { port } = rank.record;
    expect(argvOf(rank)[1]).toBe(
      `2 3 10.77.0.14 ${port} 10.77.0.5:${port},10.77.0.2:${port},10.77.0.14:${port} 8080 5 4096 tensor kimi studio-3`,
    );
  });

  it('keeps braces that are not a field', () => {
    const rank = rankOf({ runtime: { command: ['{runtime}', '{"{name}": "{nothing}", "{}"}'] } }, 0);
    expect(argvOf(rank)[1]).toBe('{"kimi": "{nothing}", "{}"}');
  });

  it('puts the root prefix before the program, the folders and the log', () => {
    const service = render(rankOf({}, 0).service, '/nodes/one');
    expect(service).toContain('<string>/nodes/one/opt/meshwright/runtimes/reference/');
    expect(service).toContain('--model=/nodes/one/opt/meshwright/models/tiny/');
    expect(service).toContain('<string>/nodes/one/Library/Application Support/meshwright/log/kimi.log</string>');
    const perl = rankOf({ runtime: { command: ['/usr/bin/perl', '/usr/share/a'] } }, 0);
    expect(argvOf(perl, '/nodes/one')).toEqual(['/nodes/one/usr/bin/perl', '/usr/share/a']);
  });

  it('escapes XML characters', () => {
    const changes = { placement: { env: { B: '1', A: '<&>"' } }, runtime: { command: ['/opt/a&b', 'x < y', ''] } };
    const service = render(rankOf(changes, 0).service);
    expect(service).toContain('<string>/opt/a&amp;b</string>\n\t\t<string>x &lt; y</string>\n\t\t<string></string>');
    expect(service).toContain(
      '<dict>\n\t\t<key>A</key>\n\t\t<string>&lt;&amp;&gt;"</string>\n\t\t<key>B</key>\n\t\t<string>1</string>\n\t</dict>',
    );
  });

  it("uses the node's user, or else the login user", () => {
    const fleet = meshFleet();
    const nodes = fleet.nodes.map((node) => (node.name === 'studio-2' ? { ...node, user: 'ana' } : node));
    const { ranks } = configured({ ...fleet, nodes });
    const userOf = (text: string) => /<key>UserName<\/key>\n\t<string>(.*)<\/string>/.exec(text)?.[1];
    expect(ranks.map(({ service }) => userOf(render(service)))).toEqual(['LOGIN', 'ana', 'LOGIN']);
    expect(ranks.map(({ user }) => user)).toEqual(['', 'ana', '']);
  });

  it('observes joined ranks on the port that the file sets', () => {
    expect(rankOf({ runtime: { joinedListening: '{endpoint}' } }, 1).record.port).toBe(8_080);
  });

  it('lets a single rank listen on loopback', () => {
    const placement = { nodes: [nodeName('studio-4')] };
    expect(argvOf(rankOf({ placement }, 0))[4]).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it('uses a different port for every start', () => {
    const ports = [1, 2, 3].map((generation) => configured(meshFleet(), generation).ranks[0]?.record.port);
    expect(new Set(ports).size).toBe(3);
  });

  it('reports missing parts before a start', () => {
    const fleet = meshFleet();
    const [kimi] = fleet.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    const missing = (changed: DesiredFleet): string => {
      const configuration = configurePlacement(kimi, changed, 1, lastingNames);
      return configuration.kind === 'incomplete' ? configuration.missing : '';
    };
    expect(missing({ ...fleet, runtimes: [] })).toBe('the digest of runtime reference is not known yet');
    expect(missing({ ...fleet, models: fleet.models.map(({ digest: _, ...model }) => model) })).toBe(
      'the files of model tiny are not known yet',
    );
    expect(missing({ ...fleet, thunderbolt: { ...fleet.thunderbolt, networks: {} } })).toBe(
      'a link between neighboring ranks has no address',
    );
  });
});

describe('the digest of a placement', () => {
  const digestFor = (changes: MeshChanges): string => configured(meshFleet(changes)).digest;

  it('is the same for every start', () => {
    expect(configured(meshFleet(), 1).digest).toBe(configured(meshFleet(), 64).digest);
  });

  it.each<[string, MeshChanges]>([
    ['the archive', { runtime: { digest: digestOf('another') } }],
    ['the command', { runtime: { command: ['{runtime}/bin/rank'] } }],
    ['the place of the token', { runtime: { token: { path: '/v1/completions', json: '/choices/0/text' } } }],
    ['the node order', { placement: { nodes: ['studio-2', 'studio-1', 'studio-3'].map(nodeName) } }],
    ['one node fewer', { placement: { nodes: ['studio-1', 'studio-2'].map(nodeName) } }],
    ['the environment', { placement: { env: { A: '1' } } }],
    ['the context', { placement: { contextTokens: 8_192 } }],
    ['the sharding', { placement: { sharding: 'pipeline' } }],
    ['the transport', { placement: { transport: 'rdma' } }],
    ['the endpoint', { placement: { endpointPort: 8_081 } }],
    ['a shorter token deadline', { placement: { firstTokenMs: 10_000 } }],
  ])('changes with %s', (_what, changes) => {
    expect(digestFor(changes)).not.toBe(digestFor({}));
  });

  it('changes with the model, an address or a user', () => {
    const fleet = meshFleet();
    const model = { ...fleet, models: fleet.models.map((one) => ({ ...one, digest: digestOf('another') })) };
    const networks = { ...fleet.thunderbolt.networks, 0: { address: '10.77.0.200', prefixLength: 30 } };
    const address = { ...fleet, thunderbolt: { ...fleet.thunderbolt, networks } };
    const user = { ...fleet, nodes: fleet.nodes.map((node) => ({ ...node, user: 'ana' })) };
    const digests = [fleet, model, address, user].map((one) => configured(one).digest);
    expect(new Set(digests).size).toBe(4);
    const listed = meshFleet({ runtime: { command: ['{runtime}/bin/rank', '{hostfile}'] } });
    const moved = { ...listed, nodes: listed.nodes.map((node) => ({ ...node, host: `new-${node.host}` })) };
    expect(configured(moved).digest).not.toBe(configured(listed).digest);
  });

  it('ignores settings that matter only at the next start or stop', () => {
    const later: MeshChanges = {
      placement: { state: 'stopped', firstTokenMs: 90_000 },
      runtime: { order: 'together', restart: 'node' },
    };
    expect(digestFor(later)).toBe(digestFor({}));
  });

  it("ignores the order of a link's ends", () => {
    const fleet = meshFleet();
    const links = fleet.thunderbolt.links.map(({ index, ends: [a, b] }) => ({ index, ends: [b, a] as const }));
    const turned = { ...fleet, thunderbolt: { ...fleet.thunderbolt, links } };
    expect(configured(turned).digest).toBe(configured(fleet).digest);
  });
});

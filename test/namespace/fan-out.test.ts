import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunReport } from '../../src/apply/open-run.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { ResolvedSecret } from '../../src/secrets/resolve-secret.ts';
import { textOf } from '../architecture/sources.ts';
import { shared } from '../rack/kept-running.ts';
import type { Ran } from '../rack/running.ts';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';
import { leftIn, patience } from '../scenarios/converge-rack.ts';
import { startNamespaceRack } from './rack.ts';

/** A Mac without cables, as the server beyond the uplink. */
const server = 'studio-9';
const port = 8_000;
const sizes = [6_000_000, 3_000_000, 100];

/** A web server for macOS's perl that writes down what it sent. Its files are the same in every run. */
const serverProgram = String.raw`use strict;
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalPort => ${port}, Listen => 64, ReuseAddr => 1) or die "$!\n";
$SIG{CHLD} = 'IGNORE';
while (my $client = $server->accept) {
  next if fork;
  my ($path, $from) = ('', 0);
  while (<$client>) {
    $path = $1 if m{^GET /(\S+)};
    $from = $1 if /^Range: bytes=(\d+)-/i;
    last if /^\r?$/;
  }
  open my $file, '<:raw', "/tmp/shelf/$path" or do { print $client "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"; exit };
  my $left = (-s $file) - $from;
  printf $client "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", $from ? '206 Partial Content' : '200 OK', $left;
  seek $file, $from, 0;
  my $sent = 0;
  while (read $file, my $bytes, 65536) {
    print $client $bytes or last;
    $sent += length $bytes;
  }
  open my $log, '>>', '/tmp/shelf.log';
  syswrite $log, "$path $sent\n";
  exit;
}`;

const allFiles = sizes.map((size, at) => `${at}.bin ${size}`);

const token = { kind: 'resolved' as const, secret: { reveal: () => 'hf_hidden' } } as ResolvedSecret;

const makeFiles = sizes
  .map(
    (size, at) =>
      `perl -e 'my $x = ${at + 1}; for (1 .. ${size} / 4) { $x = ($x * 1103515245 + 12345) % 4294967296; print pack "N", $x }' >/tmp/shelf/${at}.bin`,
  )
  .join('\n');

const file = parse(textOf('test/rack/reference.yaml')) as FileValue;
filePart(file, 'nodes')[server] = { host: `${server}.lan` };
filePart(file, 'placements', 'chat')['state'] = 'stopped';
const rack = shared(() => startNamespaceRack('fan-out', file));
let digests: Ran;
beforeAll(async () => {
  await rack.asRoot(server, `mkdir -p /tmp/shelf\n${makeFiles}`);
  digests = await rack.asRoot(server, 'cd /tmp/shelf && shasum -a 256 *.bin');
  const address = await rack.asRoot(server, 'ifconfig en0 | awk \'$1 == "inet" { print $2 }\'');
  const started = await rack.asRoot(
    server,
    `cat >/tmp/server.pl <<'PROGRAM'\n${serverProgram}\nPROGRAM\nperl /tmp/server.pl </dev/null >/dev/null 2>/tmp/server.err &`,
  );
  expect([digests.code, address.code, started.code]).toEqual([0, 0, 0]);
  filePart(file, 'models')['far'] = {
    source: `http://${address.stdout.trim()}:${port}/`,
    files: Object.fromEntries(
      digests.stdout
        .trim()
        .split('\n')
        .map((line, at) => [`${at}.bin`, { sha256: line.slice(0, 64), size: sizes[at] }]),
    ),
  };
  file['downloads'] = { plainHttp: 'allowed', via: 'studio-2' };
  filePart(file, 'placements', 'chat')['model'] = 'far';
  expect(await rack.declare(file)).toEqual([]);
}, patience);

/** A different model with the same files, which needs a token. */
async function declarePrivate(name: string): Promise<void> {
  filePart(file, 'models')[name] = filePart(file, 'models')['far'];
  filePart(file, 'placements', 'chat')['model'] = name;
  expect(await rack.declare(file)).toEqual([]);
  const source = rack.desired().models.find((one) => one.name === name)?.source;
  Object.assign(source ?? {}, { secret: true });
}

const sentFiles = async (): Promise<readonly string[]> => {
  const log = await rack.asRoot(server, 'cat /tmp/shelf.log; rm /tmp/shelf.log');
  return log.stdout.trim().split('\n').toSorted();
};

const macs = ['studio-1', 'studio-2'];

async function expectNothingLeft(mac: string): Promise<void> {
  const left = await rack.asRoot(
    mac,
    'cat /Users/*/.ssh/authorized_keys; ls /opt/meshwright/peers; ps -axww -o command= | grep -E "[s]sh -F|[t]unnel"',
  );
  expect(left.stdout).toMatch(/^ssh-ed25519 \S+ simulated\n$/);
}

const modelSteps = (report: RunReport | undefined, name: string): readonly string[] => [
  ...new Set(report?.steps.filter(({ step }) => step.id.includes(`model/${name}/fetch`)).map(({ outcome }) => outcome)),
];

describe('a model on Macs that are cabled to each other', { timeout: patience }, () => {
  it('crosses the uplink once', async () => {
    const { report } = await rack.converge();
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(await sentFiles()).toEqual(allFiles);
    expect(leftIn(await rack.plan())).toEqual([]);
  });

  it('is repaired with one chunk and no download if one byte has flipped', async () => {
    const before = await rack.asRoot(server, 'cat /tmp/shelf.log');
    const published = '/opt/meshwright/models/far/*/0.bin';
    const flip = `f=$(echo ${published})
stat -f '%i' "$f"
touch -r "$f" /tmp/times
perl -e 'open my $file, "+<:raw", $ARGV[0] or die; seek $file, 2500000, 0; read $file, my $byte, 1; seek $file, 2500000, 0; print $file chr(ord($byte) ^ 1)' "$f"
touch -r /tmp/times "$f"`;
    const inode = await rack.asRoot('studio-1', flip);
    const { report } = await rack.converge();
    expect(report?.diagnostics.map(({ code, detail }) => [code, plainText(detail)])).toEqual([
      ['step/not-adopted', expect.stringContaining('1 left out: 0.bin has different contents')],
      [
        'step/repaired-model',
        expect.stringMatching(/^studio-1 repaired 1 file of a model: 1 MB came over the cables from studio-\d\.$/),
      ],
    ]);
    const after = await rack.asRoot(server, 'cat /tmp/shelf.log');
    expect(after.stdout).toBe(before.stdout);
    const other = await rack.asRoot('studio-1', `stat -f '%i' ${published}; shasum -a 256 ${published}`);
    expect(other.stdout.split('\n')[0]).not.toBe(inode.stdout.trim());
    expect(other.stdout).toContain(digests.stdout.slice(0, 64));
  });

  it('crosses the cables over SSH if it is private, and leaves no key and no process', async () => {
    await declarePrivate('hidden');
    const { report } = await rack.converge({ token: () => Promise.resolve(token) });
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    expect(await sentFiles()).toEqual(allFiles);
    for (const mac of macs) await expectNothingLeft(mac);
  });

  it('crosses Ethernet in a chain where no cable leads to the other Mac', async () => {
    await rack.fleet().setFault(['cable-missing', 'studio-1:2']);
    await declarePrivate('uncabled');
    const { report } = await rack.apply({ token: () => Promise.resolve(token) });
    expect(modelSteps(report, 'uncabled')).toEqual(['changed']);
    expect(await sentFiles()).toEqual(allFiles);
    for (const mac of macs) await expectNothingLeft(mac);
    await rack.fleet().clearFault(['cable-missing']);
  });
});

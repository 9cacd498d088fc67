import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { textOf } from '../architecture/sources.ts';
import { type FileValue, filePart } from '../scenarios/converge-file.ts';
import { leftIn, patience } from '../scenarios/converge-rack.ts';
import { type NamespaceRack, startNamespaceRack } from './rack.ts';

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
  while (read $file, my $bytes, 65536) { print $client $bytes or last; $sent += length $bytes }
  open my $log, '>>', '/tmp/shelf.log';
  syswrite $log, "$path $sent\n";
  exit;
}`;

const makeFiles = sizes
  .map(
    (size, at) =>
      `perl -e 'my $x = ${at + 1}; for (1 .. ${size} / 4) { $x = ($x * 1103515245 + 12345) % 4294967296; print pack "N", $x }' >/tmp/shelf/${at}.bin`,
  )
  .join('\n');

let rack: NamespaceRack;

beforeAll(async () => {
  const file = parse(textOf('test/rack/reference.yaml')) as FileValue;
  filePart(file, 'nodes')[server] = { host: `${server}.lan` };
  filePart(file, 'placements', 'chat')['state'] = 'stopped';
  rack = await startNamespaceRack('fan-out', file);
  await rack.asRoot(server, `mkdir -p /tmp/shelf\n${makeFiles}`);
  const digests = await rack.asRoot(server, 'cd /tmp/shelf && shasum -a 256 *.bin');
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
afterAll(() => rack?.stop());

describe('a model on Macs that are cabled to each other', { timeout: patience }, () => {
  it('crosses the uplink once', async () => {
    const { report } = await rack.converge();
    expect([report?.diagnostics, report?.refusals]).toEqual([[], []]);
    const log = await rack.asRoot(server, 'cat /tmp/shelf.log');
    expect(log.stdout.trim().split('\n').toSorted()).toEqual(sizes.map((size, at) => `${at}.bin ${size}`));
    expect(leftIn(await rack.plan())).toEqual([]);
  });
});

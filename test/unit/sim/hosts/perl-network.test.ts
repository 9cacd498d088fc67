import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveAsks } from '../../../../src/sim/hosts/control/asks.ts';
import { createPortClaims } from '../../../../src/sim/hosts/link-table.ts';
import { shared } from '../../../rack/kept-running.ts';
import { bareNode } from './bare-node.ts';

const claims = createPortClaims();
const node = shared(bareNode);
let asks: Awaited<ReturnType<typeof serveAsks>>;
/** The addresses that programs have announced. */
const announced: string[] = [];
let table = '';
let listening = 0;
const server = createServer((client) => client.end('said'));

beforeAll(async () => {
  asks = await serveAsks(node.askPath, async ({ tool, args: [word = '', address = ''] }) => {
    announced.push(`${tool} ${word} ${address}`);
    await tableWith(`${table}${address.replace('0.0.0.0', '127.0.0.1')} 127.0.0.1:${await claims.take()}\n`);
    return { stdout: '', stderr: '', exitCode: 0 };
  });
  listening = await claims.take();
  await new Promise<void>((resolve) => server.listen(listening, '127.0.0.1', resolve));
  await node.setState('link-reach', 'own 10.77.0.1\nfar 10.77.0.2\n');
});
afterAll(async () => {
  server.close();
  await asks.close();
  await claims.close();
});

/** This node reaches only a port of the Mac at the far end, and these addresses. */
function tableWith(lines: string): Promise<void> {
  table = lines;
  return node.setState('link-table', `10.77.0.2:52000 127.0.0.1:${listening}\n${lines}`);
}

const perl = (words: readonly string[], input?: string) => node.run(join(node.root, 'usr/bin/perl'), words, input);

/** Opens a socket with these options and prints its names, or the error. */
const opened = (words: string, then: string) =>
  perl([
    '-w',
    '-MIO::Socket::INET',
    '-e',
    `my $s = IO::Socket::INET->new(${words}) or exit print $!{EADDRNOTAVAIL} ? 'not mine' : $!{ECONNREFUSED} ? 'refused' : $!{EHOSTUNREACH} ? 'unreachable' : $!; ${then}`,
  ]);

describe("a perl program's connections on a simulated node", () => {
  beforeEach(() => tableWith(''));

  it('reach an address in the link table, and show that address', async () => {
    const ran = await opened('"10.77.0.2:52000"', 'print <$s>, " ", $s->peerhost, " ", $s->peerport');
    expect(ran).toEqual({ code: 0, out: 'said 10.77.0.2 52000', err: '' });
  });

  it("can come from one of the node's own addresses", async () => {
    expect((await opened('PeerAddr => "10.77.0.2:52000", LocalAddr => "10.77.0.1"', 'print <$s>')).out).toBe('said');
  });

  it.each([
    ['10.77.0.2:52001', 'refused'],
    ['10.77.0.1:52000', 'refused'],
    ['127.0.0.1:52000', 'refused'],
    ['10.77.0.5:52000', 'unreachable'],
    ['192.0.2.1:80', 'unreachable'],
  ])('fail as expected: the connection to %s is %s', async (address, error) => {
    expect(await opened(`PeerAddr => "${address}", Timeout => 1`, 'print "connected"')).toEqual({
      code: 1,
      out: error,
      err: '',
    });
  });

  it('also work with bareword handles, and leave other sockets unchanged', async () => {
    const text = `use Socket; package Mine;
socket FAR, Socket::PF_INET, Socket::SOCK_STREAM, 0;
connect FAR, Socket::pack_sockaddr_in(52000, Socket::inet_aton('10.77.0.2')) or die $!;
print <FAR>;
socket my $udp, Socket::PF_INET, Socket::SOCK_DGRAM, 0;
bind $udp, Socket::pack_sockaddr_in(0, Socket::INADDR_LOOPBACK) or die $!;
socket my $unix, Socket::PF_UNIX, Socket::SOCK_STREAM, 0;
connect $unix, Socket::pack_sockaddr_un('none') or print $!{ENOENT} ? ' none' : $!;`;
    expect(await perl(['-we', text])).toEqual({ code: 0, out: 'said none', err: '' });
  });
});

describe('a perl program that listens on a simulated node', () => {
  const listen = (words: string, then: string) => opened(`${words}, Listen => 1, ReuseAddr => 1`, then);

  it('announces one of its own addresses once, and accepts connections in a child process', async () => {
    await tableWith('');
    announced.splice(0);
    const then = `print $s->sockhost, ':', $s->sockport, ' ';
if (!fork) { my $c = $s->accept; print $c 'from a child'; exit }
print IO::Socket::INET->new('10.77.0.1:51000')->getline; wait`;
    const ran = await listen('LocalAddr => "10.77.0.1:51000"', then);
    expect(ran).toEqual({ code: 0, out: '10.77.0.1:51000 from a child', err: '' });
    expect((await listen('LocalAddr => "10.77.0.1:51000"', 'print "again"')).out).toBe('again');
    expect(announced).toEqual(['note listen 10.77.0.1:51000']);
  });

  it.each(['127.0.0.1', '0.0.0.0'])('announces %s', async (address) => {
    await tableWith('');
    announced.splice(0);
    expect((await listen(`LocalAddr => "${address}:51001"`, 'print "bound"')).out).toBe('bound');
    expect(announced).toEqual([`note listen ${address}:51001`]);
  });

  it('gets a free port on its own address, and can read the addresses and ports of both ends', async () => {
    await tableWith('');
    announced.splice(0);
    const then = `my $far = IO::Socket::INET->new(PeerAddr => $s->sockhost, PeerPort => $s->sockport, LocalAddr => '10.77.0.1')
  or die $!;
my $near = $s->accept;
print join ' ', map { ($_->sockhost, $_->sockport, $_->peerhost, $_->peerport) } $near, $far`;
    const ends = '10.77.0.1 49152 10.77.0.1 49153 10.77.0.1 49153 10.77.0.1 49152';
    expect(await listen('LocalAddr => "10.77.0.1"', then)).toEqual({ code: 0, out: ends, err: '' });
    expect(announced).toEqual(['note listen 10.77.0.1:49152', 'note listen 10.77.0.1:49153']);
  });

  it('cannot use the address of a different Mac', async () => {
    announced.splice(0);
    expect((await listen('LocalAddr => "10.77.0.2:52000"', 'print "bound"')).out).toBe('not mine');
    expect(announced).toEqual([]);
  });
});

describe('perl on a simulated node', () => {
  it('accepts every form of a program, and passes arguments, input and exit code', async () => {
    await writeFile(node.home('f.pl'), 'junk\n#!perl -w\nprint "@ARGV|$0|", __LINE__; exit 3\n__END__\n');
    expect(await perl(['-e', 'print "@ARGV|$0"; print <STDIN>; exit 7', 'a', 'b c'], 'in')).toMatchObject({
      code: 7,
      out: 'a b c|-ein',
    });
    expect(await perl(['-', 'x'], 'print "@ARGV|$0"; print <STDIN>\n__END__\nin')).toMatchObject({ out: 'x|-in' });
    expect(await perl([], 'print "alone"')).toMatchObject({ code: 0, out: 'alone' });
    expect(await perl(['-x', 'f.pl', 'y'])).toEqual({ code: 3, out: 'y|f.pl|2', err: '' });
    expect(await perl(['-wce', '1'])).toEqual({ code: 0, out: '', err: '-e syntax OK\n' });
  });

  it('has its own path, and the usual module folders', async () => {
    const elsewhere = spawnSync('perl', ['-e', 'print "@INC"'], { encoding: 'utf8' }).stdout;
    const ran = await perl(['-e', 'print "$^X|@INC"']);
    expect(ran.out).toBe(`${node.root}/usr/bin/perl|${elsewhere}`);
  });
});

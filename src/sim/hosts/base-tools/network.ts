import { shellQuote } from '../../model/node-files.ts';
import { routesPath } from '../../tools/ifconfig.ts';
import { from } from '../../tools/tool.ts';
import { linkTablePath } from '../launchd-process.ts';
import { linkNamesPath } from '../link-table.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { roomFunctions, type ToolRow, type WrapperContext } from './wrapper.ts';

/**
 * File with the servers on this machine that represent the rest of the network, in lines such as `models.lan:80
 * 127.0.0.1:43211`.
 */
const webPath = '/.sim/web';
const urlsPath = '/.sim/urls';

/**
 * Fills `@listening` with the lines of listening sockets or, with `$whole`, of connections. Listening sockets come
 * first in the kernel's table. The code reads line by line and stops as soon as possible, because the kernel searches
 * hundreds of thousands of slots for connections. `s` returns a line as address, port, state and far end.
 *
 * @see Linux, Documentation/networking/proc_net_tcp.rst
 */
const listening = `my ($part, @listening) = ('');
my %state = ('0A' => 'LISTEN', '01' => 'ESTABLISHED', '08' => 'CLOSE_WAIT');
sub a { my ($address, $port) = split /:/, $_[0]; join(' ', join('.', reverse map hex, $address =~ /../g), hex $port) }
sub s { my @f = split ' ', $_[0]; join ' ', a($f[1]), $state{$f[3]}, $f[3] eq '0A' ? '*.*' : a($f[2]) =~ s/ /./r }
open my $tcp, '<:unix', '/proc/net/tcp' or exit 1;
TABLE: while (sysread $tcp, $part, 150, length $part) {
  while ($part =~ s/^(.*)\\n//) {
    my $line = $1;
    next if $line =~ /local_address/;
    my $state = (split ' ', $line)[3];
    last TABLE if $state ne '0A' && !$whole;
    push @listening, $line if $state =~ ($whole ? '^0[18]' : '^0A');
  }
}
`;

/**
 * Finds the listening sockets of the node's processes in /proc: reads the inodes of all listening sockets, then
 * searches the open files of processes with the node's mark. Loopback ports of this machine are printed under their
 * names on the node.
 */
const listenersOnLinux = `my ($root, $mark, $whole) = @ARGV;
my (%port, %name, %seen);
${listening}for my $line (@listening) {
  my @f = split ' ', $line;
  $port{$f[9]} = &s($line);
}
opendir my $all, '/proc' or exit 1;
# Behind a zero byte, so that the first entry has one before it as well; in room that is made once.
my $text = "\\0";
for my $id (grep /^[0-9]+$/, readdir $all) {
  open my $environ, '<:unix', "/proc/$id/environ" or next;
  sysread $environ, $text, 1 << 20, 1 or next;
  next if index($text, "\\0${markVariable}=$mark\\0") < 0;
  opendir my $files, "/proc/$id/fd" or next;
  for my $link (map readlink("/proc/$id/fd/$_"), readdir $files) {
    $seen{$port{$1}} = 1 if $link && $link =~ /^socket:\\[([0-9]+)\\]$/ && $port{$1};
  }
}
`;

/** The same for a node with its own network, without port 22, because the remote login line is printed separately. */
const listenersAlone = `my ($root, undef, $whole) = @ARGV;
my (%name, %seen);
${listening}for my $line (@listening) {
  my $socket = &s($line);
  $seen{$socket} = 1 if (split ' ', $socket)[1] != 22;
}
`;

/** The same on a Mac, with lsof. */
const listenersOnMac = `my ($root, $mark, $whole) = @ARGV;
my (%name, %seen);
my @pids = map { /^ *([0-9]+) .*\\b${markVariable}=\\Q$mark\\E( |$)/ ? $1 : () } qx(ps -axwwE -o pid=,command=);
push @pids, map { /pid = ([0-9]+)/ ? $1 : () } map { open my $f, '<', $_ or (); <$f> } glob "\\"$root/.sim/launchd/*\\"";
if (@pids) {
  for my $state ($whole ? ('ESTABLISHED', 'CLOSE_WAIT') : 'LISTEN') {
    for (split /\\n/, qx(lsof -nP -a -iTCP -sTCP:$state -Fn -p @{[join ',', @pids]} 2>/dev/null)) {
      next unless /^n([0-9.*]+):([0-9]+)(?:->([0-9.]+):([0-9]+))?$/;
      $seen{join ' ', $1 eq '*' ? '0.0.0.0' : $1, $2, $state, defined $3 ? "$3.$4" : '*.*'} = 1;
    }
  }
}
`;

/**
 * Prints columns with the widths of macOS's `netstat` (inet.c of Apple's network_cmds). Remote login is always listed.
 */
const listenerLines = `if (open my $names, '<', "$root${linkNamesPath}") {
  while (<$names>) { $name{$1} = $2 if /^([0-9]+) (\\S+)/ }
}
my @local = $whole ? () : (['*.22', '*.*', 'LISTEN']);
for my $one (sort keys %seen) {
  my ($address, $number, $state, $far) = split / /, $one;
  my $known = $address eq '127.0.0.1' ? $name{$number} : undef;
  $address = '*' if $address eq '0.0.0.0';
  push @local, [defined $known ? $known =~ s/:/./r : "$address.$number", $far, $state];
}
print 'Active Internet connections', $whole ? '' : ' (including servers)', "\\n";
printf "%-5s %-6s %-6s  %-22s %-22s %-11s\\n", 'Proto', 'Recv-Q', 'Send-Q', 'Local Address', 'Foreign Address', '(state)';
printf "%-5s %6d %6d  %-22s %-22s %-11s\\n", 'tcp4', 0, 0, @$_ for @local;
`;

function listeners({ isBsd, programs }: WrapperContext): string {
  if (programs !== undefined) return listenersAlone;
  return isBsd ? listenersOnMac : listenersOnLinux;
}

const netstatBody = (context: WrapperContext): string => `case $#:$* in
('3:-rn -f inet') exec /bin/cat "$R"${shellQuote(routesPath)} ;;
('5:-an -f inet -p tcp') whole= ;;
('5:-n -f inet -p tcp') whole=1 ;;
(*) refused '' ;;
esac
exec ${shellQuote(context.host)} -e ${shellQuote(listeners(context) + listenerLines)} "$R" "$${markVariable}" "$whole"`;

/** Redirects all other hosts to the port of tcpmux, which is closed everywhere. */
const noOtherHost = 'set -- "$@" --connect-to ::127.0.0.1:1\n';

/** Checks curl's options and their arguments. */
const curlBody = ({ host, programs }: WrapperContext): string => `u= n=$#
while [ "$n" -gt 0 ]; do
  o=$1 v=\${2-}
  shift; n=$((n - 1))
  case $o in
    (-[qfsSLN] | -[qfsSLN][qfsSLN]*) case $o in (*[!qfsSLN-]*) refused "option $o: is unknown" ;; esac; set -- "$@" "$o" ;;
    (-m | --connect-timeout | --speed-limit | --speed-time | --retry | --proto | --proto-redir | -C | -o | -H | --data-binary | -w | -X | --noproxy)
      [ "$n" -gt 0 ] || refused "option $o: requires parameter"
      shift; n=$((n - 1))
      case $o:$v in
        (-m:*[!0-9.]* | --connect-timeout:*[!0-9.]* | --speed-*:*[!0-9]* | --retry:*[!0-9]*) refused "option $o: expected a proper numerical parameter" ;;
        (--proto*:=https | --proto*:=http,https) ;; (--proto*:*) refused "option $o: unsupported protocol list $v" ;;
        (-C:-) ;; (-C: | -C:*[!0-9]*) refused "option $o: expected a proper numerical parameter" ;;
        (-X:GET | -X:POST | -X:DELETE) ;; (-X:*) refused "option $o: unsupported method $v" ;;
        (-o:-) ;; (-o:*) readable "$v" ;;
        (--data-binary:@-) ;; (--data-binary:@*) readable "\${v#@}" ;;
      esac
      set -- "$@" "$o" "$v" ;;
    (http://* | https://*) [ -z "$u" ] || refused 'only one URL is supported'; u=$o; set -- "$@" "$o" ;;
    (*) refused "option $o: is unknown" ;;
  esac
done
[ -n "$u" ] || refused '(2) no URL specified'
printf '%s\\n' "$u" >>"$R${urlsPath}"
for f in ${programs === undefined ? `"$R${linkTablePath}" ` : ''}"$R${webPath}"; do
  [ -e "$f" ] || continue
  while read -r k v; do
    set -- "$@" --connect-to "$k:$v"
    case $k in (127.0.0.1:*) set -- "$@" --connect-to "localhost:\${k#*:}:$v" ;; esac
  done <"$f"
done
${programs === undefined ? noOtherHost : ''}${roomFunctions}limited ${shellQuote(host)} "$@"`;

export const networkTools: readonly ToolRow[] = [
  {
    path: '/usr/sbin/netstat',
    source: from.unconfirmed('netstat -an -f inet -p tcp: the columns of listening sockets on macOS 26'),
    forms: '-an -f inet -p tcp | -n -f inet -p tcp | -rn -f inet',
    host: 'perl',
    usage: 'Usage:\tnetstat [-AaLlnW] [-f address_family | -p protocol]',
    code: 64,
    body: netstatBody,
  },
  {
    path: '/usr/bin/curl',
    forms:
      '[-qfsSLN] [-m s] [--connect-timeout s] [--speed-limit n] [--speed-time s] [--retry n] [--proto =list] [--proto-redir =list] [-C -|n] [-o file] [-H text] [--data-binary @file|@-] [-w format] [-X GET|POST|DELETE] [--noproxy list] URL',
    usage: "curl: try 'curl --help' or 'curl --manual' for more information",
    code: 2,
    body: curlBody,
  },
];
